"""Synthetic ledgers with deterministic keys: honest ones of any size, to be tampered with."""

import json
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from joserfc.jwk import Key, OKPKey

from privacy.ledger import entries, key_possession, statements
from privacy.ledger.export_header import FORMAT
from privacy.ledger.merkle import consistency_path, inclusion_path, leaf_hash, root_of
from privacy.ledger.notes import Checkpoint, SignatureType, VerifierKey, cosign, sign_checkpoint
from privacy.ledger.signatures import Signer
from privacy.ledger.trust import Trust
from privacy.ledger.verify import Verified, verify
from privacy.plans import PLANS, PlannedTable, PublicAudience, assumptions
from privacy.receipts import canonical, digest
from privacy.tables.declared import declared_numbers
from privacy.tables.mechanism_prices import currency_of, exact_price, exact_scale
from privacy.tables.price import ADD_REMOVE, CHANGE_ONE, FREE, INFINITE, Amount, Currency
from privacy.tables.sensitivity import Sensitivity

ORIGIN = "audits.example/v1/ledger"
BEGIN = datetime(2026, 1, 1, microsecond=123_456, tzinfo=UTC)


def ed25519(name: str) -> OKPKey:
    """A key that anybody can make again from its name."""
    seed = sha256(b"tests/" + name.encode()).digest()
    return OKPKey.import_key(Ed25519PrivateKey.from_private_bytes(seed))


def identifier(noun: str, number: int) -> str:
    return f"{noun}_{number:030x}"


def public(key: Key) -> dict[str, Any]:
    return dict(key.as_dict(private=False))


@dataclass(frozen=True)
class Maker:
    """Somebody who signs statements."""

    id: str
    key: Key
    auditor: str | None = None
    algorithm: str = "Ed25519"

    def state(
        self,
        action: str,
        body: Mapping[str, Any],
        key: str,
        at: datetime,
        before: statements.Statement | None = None,
    ) -> statements.Statement:
        """Signed, and naming what was signed `before`."""
        stated = statements.payload(ORIGIN, action, self.id, key, body)
        after = statements.digest_statement(before.signature, _payload(before)) if before else None
        signature = statements.sign(
            stated, self.key, self.algorithm, at=at.timestamp(), after=after
        )
        return statements.Statement(action, self.id, key, body, signature)


def _payload(statement: statements.Statement) -> bytes:
    return statements.payload(ORIGIN, statement.action, statement.by, statement.key, statement.body)


AUDIENCE = identifier("audience", 1)
# What the entry of an audience states since format 3, and the same as plans take it.
SEALED: dict[str, Any] = {"format": 3, "groups": 2, "groups_per_person": 1, "candidates": None}
PUBLIC = PublicAudience(groups=2, groups_per_person=1)
HISTOGRAM: dict[str, Any] = {
    "kind": "score-histogram",
    "audience_id": AUDIENCE,
    "mandate_id": None,
    "content_id": identifier("content", 1),
    "bins": {"edges": [0.0, 0.25, 1.0]},
    "context": {},
    "mechanism": "discrete-laplace",
    "epsilon": "0.1",
    "size_epsilon": "0.025",
    "rho": None,
    "size_rho": None,
}
ENVY: dict[str, Any] = {
    "kind": "envy-freeness",
    "audience_id": AUDIENCE,
    "mandate_id": None,
    "criterion": "probabilistic",
    "bounds": "tight",
    "alpha": "0.2",
    "tolerance": "0.05",
    "delta": "0.05",
    "gamma": "0.2",
    "lam": "0.2",
    "targets": 4,
    "arms": 3,
    "steps": 50,
    "arms_per_person": 1,
    "epsilon": "0.1",
    "duration_epsilon": None,
    "cost_epsilon": "0.05",
}
TWO_PARTY: dict[str, Any] = {
    "kind": "two-party",
    "audience_id": AUDIENCE,
    "mandate_id": None,
    "metric": {
        "name": "score-histogram",
        "content_id": identifier("content", 1),
        "bins": {"edges": [0.0, 0.25, 1.0]},
        "context": {},
    },
    "hidden_groups": 2,
    "weight_scale": 1000,
    "epsilon": "0.1",
}
REGULATOR = Maker(identifier("researcher", 0), ed25519("regulator"))
OPERATOR = Maker(identifier("researcher", 1), ed25519("operator"))
WITNESS = ed25519("witness")


def trust(*regulators: Key, ledger: Sequence[OKPKey] = ()) -> Trust:
    """The keys of a verifier who knows the first ledger key, the regulator and a witness."""
    signers = [Signer.of(public(key)) for key in regulators or [REGULATOR.key]]
    return Trust(
        origin=ORIGIN,
        ledger=tuple(VerifierKey.of(ORIGIN, key) for key in ledger or [ed25519("ledger")]),
        receipts=(public(ed25519("receipt")),),
        regulators={signer.thumbprint: signer for signer in signers},
        witnesses=(VerifierKey.of(REGULATOR.id, WITNESS, SignatureType.COSIGNATURE_V1),),
    )


def price(*epsilons: str) -> dict[str, Any]:
    """Return the total price of tables with Laplace noise, in the form of a charge's facts."""
    parts = [Decimal(epsilon) for epsilon in epsilons]
    added = sum(parts, Decimal(0))
    squares = sum((part * part for part in parts), Decimal(0))
    return {
        "epsilon": {"add_remove": plain(added), "change_one": plain(2 * added)},
        "rho": {"add_remove": plain(squares / 2), "change_one": plain(2 * squares)},
    }


def plain(amount: Decimal) -> str:
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


# The limits that a verifier counts with, and the paces that it takes as they are.
LIMITS = {
    "platform_rho": "1000000",
    "platform_window_days": 30,
    "identifiers_per_day": 100_000_000,
    "match_seconds": "0.02",
    "match_rate": 1_000_000,
    "audit_seconds": "0",
    "audit_rate": 1_000_000,
}


@dataclass
class Ledger:
    """The platform's side: it writes entries, and signs heads with the key it has now."""

    lines: list[bytes] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    key: OKPKey = field(default_factory=lambda: ed25519("ledger"))
    at: datetime = BEGIN
    made: int = 100
    sealed: set[str | None] = field(default_factory=set)

    @classmethod
    def begun(cls) -> "Ledger":
        """Settings, a regulator and an operator at set-up."""
        ledger = cls()
        ledger.write("settings", {"values": LIMITS})
        for maker, role in ((REGULATOR, "regulator"), (OPERATOR, "operator")):
            ledger.write("researcher", {**_registered(maker.id, role, maker.key), "by": "init"})
        return ledger

    def new(self, noun: str) -> str:
        self.made += 1
        return identifier(noun, self.made)

    def write(
        self,
        kind: str,
        facts: Mapping[str, Any],
        auditor: str | None = None,
        statement: statements.Statement | None = None,
    ) -> int:
        """The number of the new entry; every entry is a second later than the one before."""
        self.at += timedelta(seconds=1)
        number = len(self.lines)
        self.lines.append(entries.encode(number, self.at, kind, auditor, facts, statement))
        return number

    def stated(
        self,
        maker: Maker,
        kind: str,
        body: Mapping[str, Any],
        facts: Mapping[str, Any],
        auditor: str | None = None,
    ) -> int:
        statement = maker.state(kind, body, f"key-{len(self.lines)}", self.at)
        return self.write(kind, facts, auditor, statement)

    def sign(self, *keys: OKPKey) -> str:
        """A new head, by the key of now or by these."""
        note = head(self.lines, *(keys or [self.key]))
        self.notes.append(note)
        return note

    def rotate(self, new: OKPKey, *, bridge: bool = True) -> None:
        """A new ledger key; with a bridge, the old one signs the head that covers it too."""
        kid = new.thumbprint()
        facts = {"purpose": "ledger", "kid": kid, "jwk": public(new), "by": OPERATOR.id}
        self.write("signing-key", facts)
        old, self.key = self.key, new
        self.sign(*([old, new] if bridge else [new]))

    def auditor(self) -> str:
        lab = self.new("auditor")
        self.stated(REGULATOR, "auditor", {"name": "Lab"}, {"auditor_id": lab}, lab)
        return lab

    def researcher(self, lab: str, name: str = "ada", by: Maker = REGULATOR) -> Maker:
        maker = Maker(self.new("researcher"), ed25519(name), lab)
        self.register(maker, by)
        return maker

    def register(self, maker: Maker, by: Maker = REGULATOR) -> int:
        body = {
            "name": {"commitment": digest(b"name")},
            "role": "auditor",
            "auditor_id": maker.auditor,
            "jwk": public(maker.key),
            "outside_subject": None,
        }
        facts = _registered(maker.id, "auditor", maker.key)
        return self.stated(by, "researcher", body, facts, maker.auditor)

    def mandate(self, lab: str, by: Maker = REGULATOR, **changes: Any) -> str:
        granted = self.new("mandate")
        body = mandate_body(**changes) | {"auditor_id": lab}
        self.stated(by, "mandate", body, {"mandate_id": granted}, lab)
        return granted

    def of_mandate(self, kind: str, mandate: str, lab: str, **changes: Any) -> int:
        """A suspension, a resumption, a termination or a change."""
        body = {"mandate_id": mandate, **(changes or {"reason": {"commitment": digest(b"why")}})}
        return self.stated(REGULATOR, kind, body, {}, lab)

    def renew(self, maker: Maker, key: OKPKey, **changes: Any) -> Maker:
        """The researcher with a new key, which proves that it is held."""
        proved = key_possession.key_change_bytes(ORIGIN, maker.id, public(key))
        proof = statements.sign(proved, key, at=self.at.timestamp())
        body = {"jwk": public(key), "proof": proof} | changes
        facts = {"researcher_id": maker.id, "key_thumbprint": key.thumbprint()}
        self.stated(maker, "researcher-key", body, facts, maker.auditor)
        return Maker(maker.id, key, maker.auditor)

    def seal(
        self, auditor: str | None, audience: str = AUDIENCE, sizes: str = "noisy", **changes: Any
    ) -> str:
        """Seal an audience of the auditor (default: the one that `charge_parts` names)."""
        facts = {"audience_id": audience, "source": "upload", "commitment": digest(b"people")}
        facts |= {"sizes": sizes, "by": REGULATOR.id}
        self.write("audience", facts | SEALED | changes, auditor)
        return audience

    def seal_older(
        self,
        auditor: str | None,
        audience: str = AUDIENCE,
        sizes: str = "noisy",
        source: str = "upload",
    ) -> str:
        """Seal an audience by an entry of the format before."""
        facts = {"audience_id": audience, "source": source, "commitment": digest(b"people")}
        self.write("audience", {**facts, "sizes": sizes, "by": REGULATOR.id}, auditor)
        return audience

    def charge(self, maker: Maker, mandate: str, **changes: Any) -> str:
        """Charge an audit; `changes` are of the request or the facts, whichever has them."""
        if "audience_id" not in changes and maker.auditor not in self.sealed:
            self.seal(maker.auditor)
            self.sealed.add(maker.auditor)
        asked = {name: changes.pop(name) for name in list(changes) if name in HISTOGRAM}
        ids = self.new("charge"), self.new("audit"), mandate
        body, facts = charge_of(HISTOGRAM | asked, *ids)
        facts |= changes
        self.stated(maker, "charge", body, facts, maker.auditor)
        audit: str = facts["audit_id"]
        return audit

    def registration(self, maker: Maker, study: str = "study") -> int:
        body = {"digest": digest(study.encode())}
        return self.stated(maker, "registration", body, {}, maker.auditor)

    def release(self, audit: str, lab: str | None) -> int:
        digests = {"digest": digest(audit.encode()), "model_digest": digest(b"model")}
        return self.write("release", {"audit_id": audit, **digests}, lab)

    def failure(self, audit: str, lab: str | None) -> int:
        return self.write("failure", {"audit_id": audit, "reason": "internal"}, lab)

    def refund(self, charged: int, **changes: Any) -> int:
        """Give back the charge of that entry."""
        entry = json.loads(self.lines[charged])
        names = ("charge_id", "audit_id", "debit", "currency")
        facts = {name: entry["facts"][name] for name in names}
        return self.write("refund", facts | changes, entry["auditor"])

    def audit(self, maker: Maker, mandate: str) -> str:
        """Content, audience, charge and release."""
        content = {"content_id": self.new("content"), "digest": digest(b"content")}
        content["by"] = maker.id
        self.write("content", content, maker.auditor)
        audience = self.seal(maker.auditor, self.new("audience"))
        audit = self.charge(maker, mandate, audience_id=audience)
        self.release(audit, maker.auditor)
        return audit

    def export(self) -> tuple[bytes, list[bytes]]:
        if not self.notes or f"\n{len(self.lines)}\n" not in self.notes[-1]:
            self.sign()
        return header(len(self.lines), self.notes), list(self.lines)

    def partial(self, lab: str, seen: Iterable[int] = ()) -> tuple[bytes, list[bytes]]:
        """Return one auditor's export: its own entries and the platform's, with proofs."""
        self.sign()
        size = len(self.lines)
        shown = [n for n, line in enumerate(self.lines) if _is_for(lab, line)]
        heads = {int(note.split("\n")[1]) for note in self.notes} | set(seen)
        paths = {str(old): continued(self.lines, old) for old in sorted(heads) if 0 < old < size}
        first = header(size, self.notes, auditor=lab, consistency=paths)
        return first, [proven(self.lines, n) for n in shown]

    def verified(self, trusted: Trust | None = None, seen: Iterable[str] = ()) -> Verified:
        return verify(*self.export(), trusted or trust(), seen=seen)


def head(lines: Sequence[bytes], *keys: OKPKey) -> str:
    root = root_of([leaf_hash(line) for line in lines])
    checkpoint = Checkpoint(ORIGIN, len(lines), root)
    return sign_checkpoint(checkpoint, [(ORIGIN, key) for key in keys])


def witnessed(note: str) -> str:
    return cosign(note, REGULATOR.id, WITNESS, 1_800_000_000)


def header(size: int, notes: Sequence[str], **more: Any) -> bytes:
    members = {"format": FORMAT, "origin": ORIGIN, "size": size, "checkpoints": list(notes)}
    return json.dumps(members | more).encode()


def relied(lines: Sequence[bytes], *keys: OKPKey) -> tuple[bytes, list[bytes]]:
    """Return a dishonest platform's export: any lines, under a newly signed checkpoint."""
    note = head(lines, *(keys or [ed25519("ledger")]))
    return header(len(lines), [note]), list(lines)


def proven(lines: Sequence[bytes], number: int) -> bytes:
    hashes = [leaf_hash(line) for line in lines]
    path = inclusion_path(number, len(hashes), lambda start, end: root_of(hashes[start:end]))
    members = {"entry": lines[number].decode(), "path": [b64encode(one).decode() for one in path]}
    return json.dumps(members).encode()


def continued(lines: Sequence[bytes], old: int) -> list[str]:
    """The path from a head of that size to one over all lines."""
    hashes = [leaf_hash(line) for line in lines]
    path = consistency_path(old, len(hashes), lambda start, end: root_of(hashes[start:end]))
    return [b64encode(one).decode() for one in path]


def renumbered(lines: Iterable[bytes]) -> list[bytes]:
    """The lines as if they had always been in this order."""
    return [canonical(json.loads(line) | {"number": n}) for n, line in enumerate(lines)]


def mandate_body(**changes: Any) -> dict[str, Any]:
    return {
        "purpose": "risks of discrimination",
        "kinds": ["score-histogram"],
        "researcher_ids": None,
        "epsilon_limit": "10",
        "rho_limit": None,
        "delta": None,
        "renewal": None,
        "lifetime_limit": None,
        "valid_from": "2026-01-01T00:00:00Z",
        "valid_until": "2027-01-01T00:00:00Z",
    } | changes


def charge_of(
    request: Mapping[str, Any],
    charge: str,
    audit: str,
    mandate: str,
    audience: PublicAudience = PUBLIC,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return body and facts of the charge of a request, priced by the plan of its kind."""
    planned = PLANS[request["kind"]](request, audience)
    paid = priced(planned)
    currency = "rho" if paid["epsilon"] is None else "epsilon"
    facts = {
        "format": entries.FORMAT,
        "charge_id": charge,
        "audit_id": audit,
        "mandate_id": mandate,
        "audience_commitment": digest(b"people"),
        "content_digests": [digest(b"content")],
        **paid,
        "currency": currency,
        "debit": paid[currency]["change_one"],
        "parts": [stated_part(part) for part in planned],
        "request": canonical(request).decode(),
    }
    if assumes := assumptions(request, fixed_slots=audience.fixed_slots):
        facts["assumes"] = assumes
    return statements.condense_request(request), facts


def priced(planned: Iterable[PlannedTable]) -> dict[str, Any]:
    """Return the price of a plan, as facts of a charge have it."""
    total = sum(
        (
            exact_price(
                part.mechanism, Sensitivity(part.bounds.added, part.bounds.changed), part.parameter
            )
            for part in planned
        ),
        FREE,
    )
    currencies: tuple[Currency, Currency] = ("epsilon", "rho")
    amounts = {
        currency: [total.amount(currency, relation) for relation in (ADD_REMOVE, CHANGE_ONE)]
        for currency in currencies
    }
    return {
        currency: None
        if INFINITE in pair
        else dict(zip(("add_remove", "change_one"), map(_exactly, pair), strict=True))
        for currency, pair in amounts.items()
    }


def stated_part(part: PlannedTable) -> dict[str, Any]:
    """Return a part as a charge states it."""
    bounds, rule = part.bounds, part.bounds.rule
    norms = [
        {name: str(getattr(reach, name)) for name in ("l1", "l2_squared", "linf")}
        for reach in (bounds.added, bounds.changed)
    ]
    declared = declared_numbers(rule)
    return {
        "name": part.name,
        "mechanism": part.mechanism,
        "bounds": {"rule": rule.name, "shape": list(bounds.shape), "declared": declared},
        "sensitivity": {"add_remove": norms[0], "change_one": norms[1]},
        "scale": exact_scale(part.mechanism, bounds.shape, bounds.added, part.parameter),
        "parameter": {
            "currency": currency_of(part.mechanism),
            "amount": _exactly(part.parameter),
        },
    }


def _exactly(value: Amount) -> str:
    units = Fraction(value) * 10**13
    assert units.denominator == 1
    return plain(Decimal(units.numerator).scaleb(-13))


def charge_parts(
    charge: str, audit: str, mandate: str, epsilon: str = "0.1", size: str = "0.025"
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return body and facts of a score histogram's charge."""
    asked = {"epsilon": epsilon, "size_epsilon": size}
    return charge_of(HISTOGRAM | asked, charge, audit, mandate)


def exploring_parts(
    charge: str, audit: str, mandate: str, **changes: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return body and facts of an audit of envy, by which people may lose 40."""
    body, facts = charge_of(ENVY | changes, charge, audit, mandate)
    return body, facts | {"exploration_loss": "40"}


def two_party_parts(charge: str, audit: str, mandate: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return body and facts of a two-party audit."""
    return charge_of(TWO_PARTY, charge, audit, mandate)


def older_parts(
    charge: str, audit: str, mandate: str, epsilon: str = "0.1", size: str = "0.025"
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return body and facts of a score histogram's charge, in the format before."""
    asked = HISTOGRAM | {"epsilon": epsilon, "size_epsilon": size}
    text = {name: value for name, value in asked.items() if value is None or type(value) is str}
    paid = price(epsilon, size)
    facts = {
        "charge_id": charge,
        "audit_id": audit,
        "mandate_id": mandate,
        "audience_commitment": digest(b"people"),
        "content_digests": [digest(b"content")],
        **paid,
        "currency": "epsilon",
        "debit": paid["epsilon"]["change_one"],
    }
    return text | {"request": digest(audit.encode())}, facts


def _is_for(lab: str, line: bytes) -> bool:
    entry = json.loads(line)
    return entry["auditor"] == lab or entry["kind"] in (
        "settings",
        "model",
        "signing-key",
        "kind-enabled",
    )


def _registered(researcher_id: str, role: str, key: Key) -> dict[str, Any]:
    return {
        "researcher_id": researcher_id,
        "role": role,
        "jwk": public(key),
        "key_thumbprint": key.thumbprint(),
    }
