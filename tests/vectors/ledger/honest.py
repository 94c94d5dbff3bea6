"""An honest ledger with an entry of every kind, an auditor's own export of it, and a receipt."""

import json
from base64 import b64encode
from dataclasses import dataclass, replace
from datetime import timedelta
from fractions import Fraction
from functools import cached_property
from itertools import count
from typing import Any

from joserfc.jwk import OKPKey

from privacy.content import content_digest
from privacy.ledger import key_possession, statements
from privacy.ledger.merkle import inclusion_path, leaf_hash, root_of
from privacy.ledger.trust import Trust
from privacy.ledger.two_party_runs import is_run_opened
from privacy.plans import PLANS
from privacy.receipts import canonical, digest, sign
from tests.ledgers import (
    AUDIENCE,
    HISTOGRAM,
    OPERATOR,
    ORIGIN,
    PUBLIC,
    REGULATOR,
    Ledger,
    Maker,
    charge_of,
    charge_parts,
    ed25519,
    exploring_parts,
    mandate_body,
    older_parts,
    priced,
    public,
    stated_part,
    trust,
    two_party_parts,
    witnessed,
)

CONTENT = {"kind": "job", "title": "Software engineer", "text": "", "attributes": {}}
FIRST, SECOND = ed25519("ledger"), ed25519("second")
AUDIT = "audit_" + "a" * 30
SHARE = "0.5"
REQUEST = HISTOGRAM | {"bins": {"edges": [0.0, 1.0]}}
MATCHES = {"kind": "match-count", "audience_id": AUDIENCE, "mandate_id": None, "epsilon": "0.1"}
ROWS = {
    "kind": "log-cdf",
    "audience_id": AUDIENCE,
    "mandate_id": None,
    "log": "jobs",
    "column": "score",
    "where": {},
    "rows_per_person": 2,
    "bins": {"edges": [0.0, 0.25, 1.0]},
    "epsilon": "0.1",
}
SAMPLE = replace(PUBLIC, fixed_slots=True, sizes_known=True)


def named(key: OKPKey) -> OKPKey:
    """The key under a `kid`, as receipts name theirs."""
    return OKPKey.import_key({**key.as_dict(private=True), "kid": key.thumbprint()})


RECEIPTS = named(ed25519("receipt"))


def trusted() -> Trust:
    """Return the trusted keys: the first ledger key, but not the second, to which it rotates."""
    return replace(trust(), receipts=(public(RECEIPTS),))


def why(text: str) -> dict[str, str]:
    """A commitment to a text that is long erased."""
    return {"commitment": statements.commit(text, b"sixteen bytes or more")}


@dataclass
class Honest:
    """The ledger, and what its twins need to know of it."""

    ledger: Ledger
    lab: str
    ada: Maker
    mandate: str
    early: str
    places: dict[str, int]

    @classmethod
    def made(cls) -> "Honest":
        return _Writing().all()

    @cached_property
    def receipt(self) -> dict[str, Any]:
        """The file of the release's receipt, proved by the early head."""
        number = self.places["release"]
        size = int(self.early.split("\n")[1])
        hashes = [leaf_hash(line) for line in self.ledger.lines[:size]]
        path = inclusion_path(number, size, lambda start, end: root_of(hashes[start:end]))
        return {
            "format": "platform-auditor/receipt/v1",
            "url": "https://audits.example",
            "receipt": _receipt(),
            "keys": {"keys": [public(RECEIPTS)]},
            "names": {"g0": "men", "g1": "women"},
            "contents": [],
            "proof": {
                "entry": self.ledger.lines[number].decode(),
                "number": number,
                "path": [b64encode(each).decode() for each in path],
                "checkpoint": self.early,
            },
        }


class _Writing:
    """The ledger as it is written, step by step."""

    def __init__(self) -> None:
        self.ledger = Ledger.begun()
        self.places: dict[str, int] = {}
        self.lab, self.ada, self.mandate, self.older_sample = "", REGULATOR, "", ""

    def all(self) -> Honest:
        self.begin()
        self.begin_in_the_format_before()
        self.release()
        self.known_sizes()
        self.give_back()
        early = witnessed(self.ledger.sign())
        self.ledger.notes = [early]
        self.apply()
        self.count_in_the_format_before()
        self.rotate()
        self.intervene()
        self.explore()
        self.open_run()
        self.draw_run()
        self.end()
        self.ledger.sign()
        return Honest(self.ledger, self.lab, self.ada, self.mandate, early, self.places)

    def place(self, name: str) -> None:
        """Remember the last entry under this name."""
        self.places[name] = len(self.ledger.lines) - 1

    def begin(self) -> None:
        ledger = self.ledger
        ledger.write("model", {"digest": digest(b"model")})
        jwk = public(RECEIPTS)
        facts = {"purpose": "receipt", "kid": jwk["kid"], "jwk": jwk, "by": "init"}
        ledger.write("signing-key", facts)
        self.lab = ledger.auditor()
        self.ada = ledger.researcher(self.lab)
        self.mandate = ledger.mandate(self.lab, epsilon_limit="2")
        self.place("mandate")
        study = {"digest": digest(b"a study, fixed before the first audit")}
        ledger.stated(self.ada, "registration", study, {}, self.lab)
        content = {"content_id": ledger.new("content"), "digest": content_digest(CONTENT)}
        ledger.write("content", {**content, "by": self.ada.id}, self.lab)
        self.place("content")

    def begin_in_the_format_before(self) -> None:
        """Two audiences and a charge of format 2. The charge is given back."""
        ledger = self.ledger
        audience = ledger.seal_older(self.lab, ledger.new("audience"))
        body, facts = older_parts(ledger.new("charge"), ledger.new("audit"), self.mandate)
        body |= {"audience_id": audience}
        number = ledger.stated(self.ada, "charge", body, facts, self.lab)
        self.place("older charge")
        ledger.refund(number)
        self.place("older refund")
        sample = ledger.new("audience")
        self.older_sample = ledger.seal_older(self.lab, sample, "known", "sample")
        self.place("older sample")

    def release(self) -> None:
        ledger = self.ledger
        ledger.seal(self.lab)
        self.place("audience")
        about = {"audience_id": AUDIENCE, "content_digests": _digests(), "bins": REQUEST["bins"]}
        ledger.charge(self.ada, self.mandate, audit_id=AUDIT, **about)
        self.place("charge")
        released = digest(canonical(statement() | {"receipt": _receipt()}))
        facts = {"audit_id": AUDIT, "digest": released, "model_digest": digest(b"model")}
        ledger.write("release", facts, self.lab)
        self.place("release")

    def known_sizes(self) -> None:
        """A sample: sizes are known, and cost nothing to learn. It fails."""
        ledger = self.ledger
        sample = ledger.seal(self.lab, ledger.new("audience"), sizes="known", source="sample")
        self.place("sample")
        request = HISTOGRAM | {"audience_id": sample}
        ids = ledger.new("charge"), ledger.new("audit"), self.mandate
        body, facts = charge_of(request, *ids, SAMPLE)
        ledger.stated(self.ada, "charge", body, facts, self.lab)
        ledger.failure(facts["audit_id"], self.lab)

    def give_back(self) -> None:
        """Two charges in one go, the second naming the first; both are given back."""
        ledger, before = self.ledger, None
        numbers = []
        for _ in range(2):
            body, facts = charge_parts(ledger.new("charge"), ledger.new("audit"), self.mandate)
            key = f"key-{len(ledger.lines)}"
            before = self.ada.state("charge", body, key, ledger.at, before)
            numbers.append(ledger.write("charge", facts, self.lab, before))
        self.place("chained")
        for number in numbers:
            ledger.refund(number)
        self.place("refund")
        refused = {"by": self.ada.id, "code": "budget-exhausted", "audit_kind": "score-histogram"}
        ledger.write("refusal", {**refused, "request": digest(b"a request")}, self.lab)

    def apply(self) -> None:
        """Two individuals apply and are approved; the platform objects in vain."""
        ledger = self.ledger
        keys = [ed25519("grace"), ed25519("emmy")]
        body = application(keys, ledger)
        listed = [
            {"researcher_id": ledger.new("researcher"), "key_thumbprint": key.thumbprint()}
            for key in keys
        ]
        known = {"application_id": "application_1", "version": 1}
        applicant = Maker(f"applicant:{keys[0].thumbprint()}", keys[0])
        facts = {**known, "individuals": listed, "state": "submitted", "due": None}
        ledger.stated(applicant, "application", body, facts)
        self.place("application")
        decided = {**known, "decision": "approve", "reasons": why("good"), "until": None}
        decided |= {"application_digest": digest(canonical(body)), "mandate": mandate_body()}
        lab = ledger.new("auditor")
        facts = {"application_id": "application_1", "state": "approved", "due": None}
        facts |= {"auditor_id": lab, "mandate_id": ledger.new("mandate"), "individuals": listed}
        ledger.stated(REGULATOR, "decision", decided, facts, lab)
        self.place("decision")
        asked: dict[str, Any] = {"application_id": "application_1", "ground": "vulnerability"}
        asked |= {"reasons": why("too fine"), "proposal": why("fewer bins")}
        facts = {"application_id": "application_1", "state": "amendment-requested", "due": None}
        ledger.stated(OPERATOR, "amendment", asked, facts, lab)
        step = {"application_id": "application_1", "outcome": "requested", "text": why("no")}
        facts |= {"state": "mediation-requested"}
        ledger.stated(OPERATOR, "mediation", step | {"days": None}, facts, lab)
        gone = {"researcher_id": listed[1]["researcher_id"], "reason": why("left")}
        ledger.stated(REGULATOR, "researcher-removal", gone, {}, lab)

    def count_in_the_format_before(self) -> None:
        """Count the matches of the sample of format 2: nobody displaces anybody in these counts."""
        ledger = self.ledger
        mandate = ledger.mandate(self.lab, kinds=["match-count", "log-cdf"])
        self.place("counting mandate")
        request = MATCHES | {"audience_id": self.older_sample}
        ids = ledger.new("charge"), ledger.new("audit"), mandate
        body, facts = charge_of(request, *ids, SAMPLE)
        ledger.stated(self.ada, "charge", body, facts, self.lab)
        self.place("older matches")
        ledger.release(facts["audit_id"], self.lab)
        self.read_rows(mandate)

    def read_rows(self, mandate: str) -> None:
        """Read rows of a log, which may be about others: the charge says so. It fails."""
        ledger = self.ledger
        body, facts = charge_of(ROWS, ledger.new("charge"), ledger.new("audit"), mandate)
        ledger.stated(self.ada, "charge", body, facts, self.lab)
        self.place("charge on rows")
        ledger.failure(facts["audit_id"], self.lab)

    def rotate(self) -> None:
        self.ledger.rotate(SECOND)
        self.place("signing-key")
        self.ada = self.ledger.renew(self.ada, ed25519("ada, later"))
        self.place("researcher-key")

    def intervene(self) -> None:
        ledger = self.ledger
        limits = {"epsilon_limit": "1", "rho_limit": None, "lifetime_limit": None, "kinds": None}
        changes = {**limits, "valid_until": None, "reason": why("less will do")}
        ledger.of_mandate("mandate-change", self.mandate, self.lab, **changes)
        ledger.of_mandate("suspension", self.mandate, self.lab)
        self.place("suspension")
        ledger.of_mandate("resumption", self.mandate, self.lab)
        ledger.at += timedelta(hours=3)
        audit = ledger.charge(self.ada, self.mandate, audience_id=AUDIENCE)
        self.place("last charge")
        ledger.release(audit, self.lab)

    def explore(self) -> None:
        """People are shown something else, until the platform stops it: nothing is released."""
        ledger, kinds = self.ledger, ["envy-freeness"]
        mandate = ledger.mandate(self.lab, kinds=kinds, exploration_limit="60")
        self.place("exploring mandate")
        body, facts = exploring_parts(ledger.new("charge"), ledger.new("audit"), mandate)
        ledger.stated(self.ada, "charge", body, facts, self.lab)
        self.place("exploring charge")
        stopped = {"audit_id": facts["audit_id"], "reason": why("people complain")}
        ledger.stated(OPERATOR, "stop", stopped, {}, self.lab)
        self.place("stop")
        ledger.write("failure", {"audit_id": facts["audit_id"], "reason": "stopped"}, self.lab)

    def open_run(self) -> None:
        """A run between two parties: answered, opened by the regulator, and then delivered."""
        ledger = self.ledger
        mandate = ledger.mandate(self.lab, kinds=["two-party"])
        body, facts = two_party_parts(ledger.new("charge"), ledger.new("audit"), mandate)
        ledger.stated(self.ada, "charge", body, facts, self.lab)
        self.place("two-party charge")
        run = {"audit_id": facts["audit_id"], "transcript": digest(b"all messages")}
        ledger.write("answer", run, self.lab)
        self.place("answer")
        ledger.stated(REGULATOR, "opening", {**run, "findings": []}, {}, self.lab)
        digests = {"digest": digest(b"sums"), "model_digest": digest(b"model"), "draw": None}
        ledger.write("release", {**run, **digests}, self.lab)

    def draw_run(self) -> None:
        """A run of which the head after its answer says that nobody need open it."""
        ledger = self.ledger
        mandate = ledger.mandate(self.lab, kinds=["two-party"], opened_share=SHARE)
        body, facts = two_party_parts(ledger.new("charge"), ledger.new("audit"), mandate)
        ledger.stated(self.ada, "charge", body, facts, self.lab)
        self.place("drawn charge")
        deliver_drawn(ledger, self.lab, opened=False)
        self.places["drawn answer"] = len(ledger.lines) - 2
        self.place("drawn release")

    def end(self) -> None:
        ledger = self.ledger
        ledger.write("audience-erasure", {"audience_id": AUDIENCE}, self.lab)
        self.place("audience-erasure")
        ledger.write("balance-repair", {"reason": "a balance was below zero", "by": "migration"})
        enabled = {"kind": "exposure", "package": "exposure-audit", "version": "1.0"}
        ledger.write("kind-enabled", {**enabled, "digest": digest(b"wheel"), "by": OPERATOR.id})
        erased = {"commitments": [why("Grace")["commitment"], why("Emmy")["commitment"]]}
        ledger.stated(REGULATOR, "erasure", {"subject_id": "application_1"}, erased)
        ledger.of_mandate("termination", self.mandate, self.lab)


def deliver_drawn(ledger: Ledger, lab: str, *, opened: bool, **draw: Any) -> None:
    """Answer what was charged last, so that it has to be opened or not; sign, and deliver."""
    before, at = list(ledger.lines), ledger.at
    audit = json.loads(before[-1])["facts"]["audit_id"]
    for number in count():
        run = {"audit_id": audit, "transcript": digest(f"messages {number}".encode())}
        ledger.write("answer", run, lab)
        root = root_of([leaf_hash(line) for line in ledger.lines])
        if is_run_opened(Fraction(SHARE), root, audit) == opened:
            break
        ledger.lines, ledger.at = list(before), at
    ledger.sign()
    facts = {"draw": {"size": len(ledger.lines), "root": root.hex()} | draw, **run}
    ledger.write("release", {"digest": digest(b"sums"), "model_digest": None, **facts}, lab)


def application(keys: list[OKPKey], ledger: Ledger, **changes: Any) -> dict[str, Any]:
    """Return the first person's statement; the others prove that they hold their keys."""
    people = [
        {"name": why(name), "contact": None, "affiliation": None, "jwk": public(key), "proof": None}
        for name, key in zip(("Grace", "Emmy"), keys, strict=True)
    ]
    roles = ("principal", "other")
    body: dict[str, Any] = {
        "organisation": "Open Audit Lab",
        "individuals": [
            {**person, "role": role} for person, role in zip(people, roles, strict=True)
        ],
        "kinds": ["score-histogram"],
        "research": why("what for"),
    }
    for person, key in zip(body["individuals"][1:], keys[1:], strict=True):
        proved = key_possession.application_bytes(ORIGIN, body, public(key))
        person["proof"] = statements.sign(proved, key, at=ledger.at.timestamp())
    return body | changes


def _digests() -> list[str]:
    return [content_digest(CONTENT)]


def _receipt() -> str:
    return sign(statement(), RECEIPTS)


def statement() -> dict[str, Any]:
    """The release: two groups, one bin, noisy sizes."""
    planned = PLANS["score-histogram"](REQUEST, PUBLIC)
    paid = priced(planned)
    errors = {"bins": (14.1, 30), "sizes": (56.6, 120)}
    parts = [
        {
            **stated_part(part),
            **priced([part]),
            "standard_deviation": errors[part.name][0],
            "error_95": errors[part.name][1],
        }
        for part in planned
    ]
    groups = [
        {"label": "g0", "counts": [412], "outside": -3, "size": {"kind": "noisy", "value": 431}},
        {"label": "g1", "counts": [377], "outside": 12, "size": {"kind": "noisy", "value": 350}},
    ]
    return {
        "audit_id": AUDIT,
        "kind": "score-histogram",
        "content_digests": _digests(),
        "audience_commitment": digest(b"people"),
        "model_digest": digest(b"model"),
        "price": {**paid, "currency": "epsilon", "debit": "0.25", "parts": parts},
        "rules": ["Several identifiers of one person count as that one person."],
        "released_at": "2026-01-01T00:00:15Z",
        "bins": REQUEST["bins"],
        "groups": groups,
    }
