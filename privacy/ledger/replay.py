"""Replay of the ledger, entry by entry: keys, grants and spending.

Each entry's statements about balances must follow from the entries before it. A wrong one raises an
`EvidenceError`; `verify` adds its number.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from privacy.errors import EvidenceError
from privacy.ledger.balances import Account, ChargeBalance, MandateBalance
from privacy.ledger.entries import FORMAT, OLDER
from privacy.ledger.entry_schemas import (
    AnswerFacts,
    AudienceEntryFacts,
    AuditFacts,
    AuditorFacts,
    BalanceRepairFacts,
    ChargeBody,
    ChargeFacts,
    DecisionBody,
    DecisionFacts,
    KindEnabledFacts,
    MandateBody,
    MandateChange,
    MandateFacts,
    OfAudience,
    OfMandate,
    OpeningBody,
    RefundFacts,
    RegistrationBody,
    ReleaseFacts,
    SettingsFacts,
    read,
)
from privacy.ledger.exact_amounts import DAY, microseconds, parse_units
from privacy.ledger.export_lines import ExportedEntry, ExportedStatement, signed_payload
from privacy.ledger.key_holders import SIGNED, KeyHolders
from privacy.ledger.parts import Notice, StatedCharge
from privacy.ledger.price_check import check_debit, check_exploration, check_older_debit
from privacy.ledger.requests import read_charged_request
from privacy.ledger.signatures import SignatureClaim, Signatures
from privacy.ledger.statements import check_fresh, parse_header
from privacy.ledger.trust import Trust
from privacy.ledger.two_party_runs import ChargedRuns, IsSigned
from privacy.plans import PLANS, KindPlan, assumptions, assumptions_before, has_fixed_slots
from privacy.plans.assumptions import THIRD_PARTY_BOUNDS

# Time after the first entry of a new format during which entries of the previous format may be
# written.
_UPGRADE = timedelta(days=1)


class Replay:
    """Accounts after the entries so far. `partial`: entries of other auditors are not visible.

    `plans` are those of the kinds of audit that this verifier knows. `notices` counts the claims
    that it accepted as stated.
    """

    def __init__(
        self,
        trust: Trust,
        signatures: Signatures,
        is_signed: IsSigned,
        *,
        partial: bool = False,
        plans: Mapping[str, KindPlan] = PLANS,
    ) -> None:
        self.notices = Counter[Notice]()
        self._plans = plans
        # Kinds that packages added; the ledger names each before its first charge.
        self._enabled: set[str] = set()
        # All audiences that were ever sealed, including erased ones.
        self._sealed_ids: set[tuple[str | None, str]] = set()
        # Time of the first entry in the newest format.
        self._format_since = datetime.max.replace(tzinfo=UTC)
        self._origin = trust.origin
        self._signatures = signatures
        self._partial = partial
        self._people = KeyHolders(trust, partial=partial)
        self._mandates: dict[str, MandateBalance] = {}
        # Keyed by auditor, and by the audience's identifier.
        self._audiences = defaultdict[str | None, dict[str, AudienceEntryFacts]](dict)
        self._charges: dict[str, ChargeBalance] = {}
        # Keyed by mandate: one charge that represents all of its released charges.
        self._over: dict[str, ChargeBalance] = {}
        self._charge_ids: set[str] = set()
        # Keyed by maker: the keys of their statements.
        self._used = defaultdict[str, set[str]](set)
        self._account = Account()
        self._runs = ChargedRuns(is_signed)
        self._latest = datetime.min.replace(tzinfo=UTC)

    def play(self, entry: ExportedEntry, number: int) -> None:
        """Replay the next entry, which has this number."""
        if entry.number != number:
            raise EvidenceError(f"its number is {entry.number}", case="another-number")
        if entry.at < self._latest:
            raise EvidenceError(
                "its time is earlier than that of the previous entry", case="time-goes-back"
            )
        self._latest = entry.at
        kind = KINDS.get(entry.kind)
        if kind is None:
            raise EvidenceError(
                f"there is no kind of entry {entry.kind[:40]!r}", case="unknown-kind-of-entry"
            )
        if entry.statement is not None:
            self._check_statement(entry, entry.statement)
        elif entry.kind in SIGNED and entry.kind != "researcher":
            raise EvidenceError(
                f"a {entry.kind} needs a statement, and has none", case="no-statement"
            )
        kind(self, entry)

    def _check_statement(self, entry: ExportedEntry, statement: ExportedStatement) -> None:
        used = self._used[statement.by]
        if statement.key in used:
            raise EvidenceError(
                f"the statement {statement.key!r} was used before", case="statement-used-before"
            )
        used.add(statement.key)
        signer = self._people.signer(entry.kind, statement)
        made = parse_header(statement.signature)
        check_fresh(made, entry.at.timestamp())
        if signer is not None:
            words = signed_payload(self._origin, entry.kind, statement)
            claimed = SignatureClaim(entry.number, statement.by, signer, statement.signature, words)
            self._signatures.add(claimed, made.after)

    def _settings(self, entry: ExportedEntry) -> None:
        values = read(entry.facts, SettingsFacts).values
        limit, days = values.get("platform_rho"), values.get("platform_window_days")
        if self._partial or limit is None or days is None:
            return
        if not isinstance(days, int) or days < 1:
            raise EvidenceError("platform_window_days is not a number of days", case="window-days")
        self._account.limit, self._account.length = parse_units(str(limit)), days * DAY

    def _decision(self, entry: ExportedEntry) -> None:
        body = read(_body(entry), DecisionBody)
        if body.decision != "approve" or body.mandate is None:
            return
        facts = read(entry.facts, DecisionFacts)
        if entry.auditor is not None:
            _check_auditor(entry, facts)
        self._people.approve(body, facts.auditor_id)
        self._grant(MandateBalance.granted(facts.mandate_id, facts.auditor_id, body.mandate))

    def _mandate(self, entry: ExportedEntry) -> None:
        body = read(_body(entry), MandateBody)
        if body.auditor_id is None or body.auditor_id != entry.auditor:
            raise EvidenceError(
                "the auditor differs from the statement", case="another-auditor-than-stated"
            )
        mandate_id = read(entry.facts, MandateFacts).mandate_id
        self._grant(MandateBalance.granted(mandate_id, body.auditor_id, body))

    def _grant(self, mandate: MandateBalance) -> None:
        if mandate.mandate_id in self._mandates:
            raise EvidenceError(
                f"the mandate {mandate.mandate_id} already exists", case="mandate-entered-before"
            )
        self._mandates[mandate.mandate_id] = mandate
        self._over[mandate.mandate_id] = ChargeBalance(
            "", mandate.mandate_id, 0, 0, 0, state="released"
        )

    def _mandate_change(self, entry: ExportedEntry) -> None:
        self._of_mandate(entry).change(read(_body(entry), MandateChange))

    def _of_mandate(self, entry: ExportedEntry) -> MandateBalance:
        return self._known(read(_body(entry), OfMandate).mandate_id)

    def _known(self, mandate_id: str) -> MandateBalance:
        mandate = self._mandates.get(mandate_id)
        if mandate is None:
            raise EvidenceError(f"there is no mandate {mandate_id}", case="no-such-mandate")
        return mandate

    def _audience(self, entry: ExportedEntry) -> None:
        facts = read(entry.facts, AudienceEntryFacts)
        sealed = self._audiences[entry.auditor]
        name = entry.auditor, facts.audience_id
        if name in self._sealed_ids:
            raise EvidenceError(f"{facts.audience_id} was sealed before", case="sealed-before")
        self._sealed_ids.add(name)
        self._check_format(facts.format, entry.at)
        facts.check()
        sealed[facts.audience_id] = facts

    def _check_format(self, stated: int, at: datetime) -> None:
        """Raise an error if the format is unknown, or older than that of much earlier entries.

        While a service is upgraded, processes of both versions write for a while.
        """
        if stated not in (OLDER, FORMAT):
            raise EvidenceError(
                f"the format {stated} is not known to this verifier", case="unknown-format"
            )
        if stated == FORMAT:
            self._format_since = min(self._format_since, at)
        elif at - self._format_since > _UPGRADE:
            raise EvidenceError(
                f"the ledger is in format {FORMAT} since {self._format_since}", case="older-format"
            )

    def _forget(self, entry: ExportedEntry) -> None:
        """Record the erasure of an audience, which may be unsealed; nothing is charged on it
        afterwards.
        """
        self._audiences[entry.auditor].pop(read(entry.facts, OfAudience).audience_id, None)

    def _charged_on(
        self, entry: ExportedEntry, body: ChargeBody, facts: ChargeFacts
    ) -> AudienceEntryFacts | None:
        """Return the entry of the charge's audience; None if the charge names none."""
        if body.audience_id is None:
            return None
        audience = self._audiences[entry.auditor].get(body.audience_id)
        if audience is None:
            raise EvidenceError(
                f"there is no audience {body.audience_id} of {entry.auditor}",
                case="no-such-audience",
            )
        if audience.commitment != facts.audience_commitment:
            raise EvidenceError(
                "the audience differs from the sealed one", case="another-audience-than-sealed"
            )
        return audience

    def _debited(
        self,
        body: ChargeBody,
        facts: ChargeFacts,
        request: Any,
        audience: AudienceEntryFacts | None,
    ) -> tuple[int, int]:
        """Return the debits of the charge, in units, if its price follows from its request."""
        if facts.format == OLDER:
            self.notices["charge-older", body.kind] += 1
            return check_older_debit(body, facts, audience.sizes if audience else None)
        public, plan = audience.public() if audience else None, self._plans.get(body.kind)
        third_party = body.kind in self._enabled
        known_at_charge = third_party or (plan is not None and not plan.hidden_audiences)
        if audience and audience.source == "hidden" and known_at_charge:
            raise EvidenceError(
                f"a hidden audience cannot be used for {body.kind}", case="hidden-audience"
            )
        older = audience is not None and audience.format == OLDER
        charge = StatedCharge.of(
            body.kind, request, facts.parts, public, plan, older=older, third_party=third_party
        )
        debit, notices = check_debit(charge, facts)
        self.notices.update(notices)
        return debit

    def _charge(self, entry: ExportedEntry) -> None:
        facts = read(entry.facts, ChargeFacts)
        self._check_format(facts.format, entry.at)
        request = stated_body = _body(entry)
        if facts.format != OLDER:
            request = read_charged_request(stated_body, facts.request)
        body = read(request, ChargeBody)
        if facts.audit_id in self._charges or facts.charge_id in self._charge_ids:
            raise EvidenceError(f"{facts.audit_id} was charged before", case="charged-before")
        if body.mandate_id is not None and body.mandate_id != facts.mandate_id:
            raise EvidenceError(
                "the mandate differs from the statement", case="another-mandate-than-stated"
            )
        mandate, by = self._known(facts.mandate_id), self._researcher(entry)
        at = microseconds(entry.at)
        mandate.check(entry.auditor, by, body.kind, at)
        if facts.currency != mandate.currency:
            raise EvidenceError(f"the mandate is in {mandate.currency}", case="another-currency")
        audience = self._charged_on(entry, body, facts)
        debit, rho = self._debited(body, facts, request, audience)
        loss = check_exploration(body, facts)
        charge = ChargeBalance(
            facts.charge_id, mandate.mandate_id, debit, rho, at, exploration=loss
        )
        mandate.debit(charge)
        self._check_assumptions(request, facts, audience)
        if (plan := PLANS.get(body.kind)) and plan.hides_weights:
            self._runs.charge(facts, mandate)
        self._account.debit(rho, at)
        self._charges[facts.audit_id] = charge
        self._charge_ids.add(facts.charge_id)

    def _check_assumptions(
        self, request: Mapping[str, Any], facts: ChargeFacts, audience: AudienceEntryFacts | None
    ) -> None:
        """Raise an error if the charge does not list the assumptions of its guarantee.

        A kind that this verifier does not know may list more assumptions. Charges of the previous
        format list fewer.
        """
        kind, slots = request["kind"], has_fixed_slots(audience.source if audience else "")
        third_party, stated = kind in self._enabled, facts.assumes
        expected = assumptions(request, fixed_slots=slots, third_party=third_party)
        if facts.format == OLDER:
            expected = assumptions_before(kind)
        if third_party:
            # The data that such a kind reads are unknown here, so it may have more assumptions.
            is_stated = set(expected) <= set(stated)
        else:
            is_stated = (stated if kind in self._plans else stated[: len(expected)]) == expected
        if not is_stated:
            raise EvidenceError(
                "it does not state the assumptions of its guarantee", case="no-assumption"
            )
        if THIRD_PARTY_BOUNDS in stated and not third_party:
            raise EvidenceError(
                f"it depends on the bounds of a package, but no package added {kind} before it",
                case="kind-not-enabled",
            )

    def _enable(self, entry: ExportedEntry) -> None:
        """Record that, from this entry on, a kind is charged by the bounds that its package
        states.
        """
        kind = read(entry.facts, KindEnabledFacts).kind
        if kind in PLANS:
            raise EvidenceError(
                f"{kind} is a built-in kind, which no package can add", case="kind-is-built-in"
            )
        self._enabled.add(kind)

    def _registration(self, entry: ExportedEntry) -> None:
        read(_body(entry), RegistrationBody)
        self._researcher(entry)

    def _researcher(self, entry: ExportedEntry) -> str:
        """Return the signer: a researcher of the auditor under which the entry is filed."""
        by = entry.statement.by if entry.statement else ""
        if self._people.auditor_of(by) != entry.auditor:
            raise EvidenceError(
                f"{by} is not a researcher of {entry.auditor}",
                case="not-a-researcher-of-the-auditor",
            )
        return by

    def _refund(self, entry: ExportedEntry) -> None:
        facts = read(entry.facts, RefundFacts)
        charge = self._charged(facts.audit_id, entry)
        mandate = self._mandates[charge.mandate_id]
        # A charge is given back only while nothing was read on it.
        if charge.state != "charged":
            raise EvidenceError(
                f"{facts.audit_id} was {charge.state} before it was refunded",
                case=f"{charge.state}-before",
            )
        self._runs.refuse_answered(facts.audit_id)
        stated = (charge.charge_id, mandate.currency, charge.debit, charge.exploration)
        given = (parse_units(facts.debit), parse_units(facts.exploration_loss))
        if (facts.charge_id, facts.currency, *given) != stated:
            raise EvidenceError(
                "the refund differs from the charge", case="another-refund-than-charged"
            )
        mandate.refund(charge)
        self._account.refund(charge.rho, charge.at)
        charge.state, charge.refunded = "refunded", True

    def _answer(self, entry: ExportedEntry) -> None:
        self._runs.answer(read(entry.facts, AnswerFacts), entry.number)

    def _release(self, entry: ExportedEntry) -> None:
        facts = read(entry.facts, ReleaseFacts)
        self._runs.release(facts)
        charge = self._end(entry, facts.audit_id, "released")
        # No later entry can depend on it: its existence is remembered, but not its content.
        self._charges[facts.audit_id] = self._over[charge.mandate_id]

    def _stop(self, entry: ExportedEntry) -> None:
        self._charged(read(_body(entry), AuditFacts).audit_id, entry).stopped = True

    def _failure(self, entry: ExportedEntry) -> None:
        self._end(entry, read(entry.facts, AuditFacts).audit_id, "failed")

    def _end(self, entry: ExportedEntry, audit_id: str, state: str) -> ChargeBalance:
        charge = self._charged(audit_id, entry)
        if charge.state != "charged":
            raise EvidenceError(
                f"{audit_id} was {charge.state} before it was {state}",
                case=f"{charge.state}-before",
            )
        if charge.stopped and state == "released":
            raise EvidenceError(
                f"{audit_id} was stopped before it was released", case="stopped-before"
            )
        charge.state = state
        return charge

    def _charged(self, audit_id: str, entry: ExportedEntry) -> ChargeBalance:
        charge = self._charges.get(audit_id)
        if charge is None:
            raise EvidenceError(f"{audit_id} was not charged", case="not-charged")
        if self._mandates[charge.mandate_id].auditor != entry.auditor:
            raise EvidenceError(
                f"{audit_id} belongs to another auditor", case="audit-of-another-auditor"
            )
        return charge


def _let_be(_replay: Replay, _entry: ExportedEntry) -> None:
    """Accept an entry that has no consequences."""


def _shaped(entry: ExportedEntry, shape: type[msgspec.Struct]) -> None:
    """Check the facts of an entry that has no consequences."""
    read(entry.facts, shape)


def _body(entry: ExportedEntry) -> dict[str, Any]:
    if entry.statement is None:
        raise EvidenceError(f"a {entry.kind} needs a statement, and has none", case="no-statement")
    return entry.statement.body


def _check_auditor(entry: ExportedEntry, facts: AuditorFacts | DecisionFacts) -> None:
    if facts.auditor_id != entry.auditor:
        raise EvidenceError(
            "the entry is filed under another auditor", case="filed-under-another-auditor"
        )


# Consequences of an entry of each kind.
KINDS: dict[str, Callable[[Replay, ExportedEntry], None]] = {
    "settings": Replay._settings,
    "model": _let_be,
    "signing-key": _let_be,
    "auditor": lambda _, entry: _check_auditor(entry, read(entry.facts, AuditorFacts)),
    "researcher": lambda replay, entry: replay._people.register(entry),
    "researcher-key": lambda replay, entry: replay._people.renew(entry),
    "researcher-removal": lambda replay, entry: replay._people.remove(entry),
    "application": lambda replay, entry: replay._people.apply(entry),
    "decision": Replay._decision,
    "amendment": _let_be,
    "mediation": _let_be,
    "mandate": Replay._mandate,
    "mandate-change": Replay._mandate_change,
    "suspension": lambda replay, entry: replay._of_mandate(entry).set_state("suspended"),
    "resumption": lambda replay, entry: replay._of_mandate(entry).set_state("in force"),
    "termination": lambda replay, entry: replay._of_mandate(entry).set_state("terminated"),
    "content": _let_be,
    "audience": Replay._audience,
    "audience-erasure": Replay._forget,
    "charge": Replay._charge,
    "refund": Replay._refund,
    "stop": Replay._stop,
    "registration": Replay._registration,
    "answer": Replay._answer,
    "opening": lambda replay, entry: replay._runs.open(read(_body(entry), OpeningBody)),
    "release": Replay._release,
    "failure": Replay._failure,
    "refusal": _let_be,
    "erasure": _let_be,
    "kind-enabled": Replay._enable,
    "balance-repair": lambda _, entry: _shaped(entry, BalanceRepairFacts),
}
