"""Exploration loss in the ledger: charged, limited, refunded, and replayed."""

import json
from typing import Any

import pytest

from api.accounting.prices import stated_parts
from api.audits.pricing import price_plan
from api.kinds.registry import KINDS, AudienceFacts
from privacy.errors import EvidenceError, InvalidLedgerError
from privacy.ledger import entry_schemas
from privacy.ledger.parts import StatedCharge
from privacy.ledger.price_check import check_debit, check_exploration
from privacy.ledger.statements import condense_request
from privacy.ledger.verify import verify
from privacy.plans import PLANS
from privacy.receipts import canonical, digest
from tests.exploring import asked
from tests.ledgers import (
    ENVY,
    OPERATOR,
    REGULATOR,
    Ledger,
    Maker,
    charge_of,
    exploring_parts,
    relied,
    trust,
)
from tests.refusals import refuses

KINDS_GRANTED = ["envy-freeness", "score-histogram"]


@pytest.fixture
def ledger() -> Ledger:
    return Ledger.begun()


@pytest.fixture
def ada(ledger: Ledger) -> Maker:
    return ledger.researcher(ledger.auditor())


@pytest.fixture
def mandate(ledger: Ledger, ada: Maker) -> str:
    """People may lose 100 by it."""
    return ledger.mandate(ada.auditor or "", kinds=KINDS_GRANTED, exploration_limit="100")


def charge(ledger: Ledger, ada: Maker, mandate: str, loss: str = "40", **changes: Any) -> int:
    """An audit of envy by which people may lose 40, of alpha · steps · targets."""
    if ada.auditor not in ledger.sealed:
        ledger.seal(ada.auditor)
        ledger.sealed.add(ada.auditor)
    ids = ledger.new("charge"), ledger.new("audit"), mandate
    body, facts = exploring_parts(*ids, **changes)
    return ledger.stated(ada, "charge", body, facts | {"exploration_loss": loss}, ada.auditor)


def last_is_wrong(ledger: Ledger, case: str) -> None:
    """The last entry alone is wrong: without it the ledger is honest."""
    verify(*relied(ledger.lines[:-1]), trust())
    with refuses(InvalidLedgerError, case) as found:
        verify(*relied(ledger.lines), trust())
    assert found.value.number == len(ledger.lines) - 1


def test_people_lose_no_more_than_the_mandate_allows(
    ledger: Ledger, ada: Maker, mandate: str
) -> None:
    charge(ledger, ada, mandate)
    charge(ledger, ada, mandate)
    charge(ledger, ada, mandate)
    last_is_wrong(ledger, "exploration-overspent")


def test_a_mandate_that_says_nothing_allows_none(ledger: Ledger, ada: Maker) -> None:
    silent = ledger.mandate(ada.auditor or "", kinds=KINDS_GRANTED)
    charge(ledger, ada, silent)
    last_is_wrong(ledger, "exploration-overspent")


def test_the_limit_may_be_changed(ledger: Ledger, ada: Maker, mandate: str) -> None:
    changes = {"exploration_limit": "39.9"}
    ledger.of_mandate("mandate-change", mandate, ada.auditor or "", **changes)
    charge(ledger, ada, mandate)
    last_is_wrong(ledger, "exploration-overspent")


def test_a_refund_exceeds_the_debit(ledger: Ledger, ada: Maker, mandate: str) -> None:
    first = charge(ledger, ada, mandate)
    charge(ledger, ada, mandate)
    ledger.refund(first, exploration_loss="40")
    charge(ledger, ada, mandate)
    ledger.verified()
    again = charge(ledger, ada, mandate)
    last_is_wrong(ledger, "exploration-overspent")
    ledger.lines.pop()
    assert again == len(ledger.lines)


def test_a_refund_of_less_or_more(ledger: Ledger, ada: Maker, mandate: str) -> None:
    first = charge(ledger, ada, mandate)
    ledger.refund(first)
    last_is_wrong(ledger, "another-refund-than-charged")


@pytest.mark.parametrize(
    ("loss", "changes"),
    [("39", {}), ("0", {}), ("40", {"alpha": "0.3"}), ("40", {"steps": 51}), ("41", {})],
)
def test_the_loss_follows_from_what_was_asked_for(
    ledger: Ledger, ada: Maker, mandate: str, loss: str, changes: dict[str, Any]
) -> None:
    charge(ledger, ada, mandate, loss, **changes)
    last_is_wrong(ledger, "another-loss-than-asked")


def test_what_shows_nobody_anything_has_none(ledger: Ledger, ada: Maker, mandate: str) -> None:
    ledger.charge(ada, mandate, exploration_loss="0")
    ledger.verified()
    ledger.charge(ada, mandate, exploration_loss="1")
    last_is_wrong(ledger, "another-loss-than-asked")


def test_each_part_has_its_own_epsilon(ledger: Ledger, ada: Maker, mandate: str) -> None:
    charge(ledger, ada, mandate, cost_epsilon="0")
    ledger.verified()
    free, _ = charge_of(ENVY | {"cost_epsilon": "0"}, "", "", "")
    _, facts = exploring_parts("charge_1", "audit_1", mandate)
    facts |= {"request": canonical(ENVY | {"cost_epsilon": "0"}).decode()}
    ledger.stated(ada, "charge", free, facts, ada.auditor)
    last_is_wrong(ledger, "other-parts-than-asked")


def test_a_stop_is_signed_by_who_may(ledger: Ledger, ada: Maker, mandate: str) -> None:
    audit = json.loads(ledger.lines[charge(ledger, ada, mandate)])["facts"]["audit_id"]
    body = {"audit_id": audit, "reason": {"commitment": digest(b"why")}}
    for maker in (REGULATOR, OPERATOR):
        ledger.stated(maker, "stop", body, {}, ada.auditor)
    ledger.write("failure", {"audit_id": audit, "reason": "stopped"}, ada.auditor)
    ledger.verified()
    ledger.stated(ada, "stop", body, {}, ada.auditor)
    last_is_wrong(ledger, "not-theirs-to-sign")


def test_what_was_stopped_is_not_released(ledger: Ledger, ada: Maker, mandate: str) -> None:
    audit = json.loads(ledger.lines[charge(ledger, ada, mandate)])["facts"]["audit_id"]
    body = {"audit_id": audit, "reason": {"commitment": digest(b"why")}}
    ledger.stated(REGULATOR, "stop", body, {}, ada.auditor)
    ledger.release(audit, ada.auditor)
    last_is_wrong(ledger, "stopped-before")


@pytest.mark.parametrize("each", [1, 7])
@pytest.mark.parametrize("slots", [False, True])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"epsilon": "0.000001"},
        {"duration_epsilon": "0", "cost_epsilon": "0.333333"},
        {"alpha": "0.333333", "steps": 999, "targets": 13},
    ],
)
def test_what_the_service_charges_is_right(changes: dict[str, Any], slots: bool, each: int) -> None:
    request = asked(**changes, arms_per_person=each)
    facts = AudienceFacts(("g0",), 1, None, fixed_slots=slots, members=400, consented=True)
    release_plan = KINDS[request.kind].plan(request, facts)
    shown = price_plan(release_plan, "epsilon", request.exploration_loss)
    names = {"epsilon", "rho", "currency", "debit", "exploration_loss"}
    charged = dict.fromkeys(("charge_id", "audit_id", "mandate_id", "audience_commitment"), "")
    charged |= shown.model_dump(mode="json", include=names)
    asked_for = request.model_dump(mode="json")
    body = entry_schemas.read(condense_request(asked_for), entry_schemas.ChargeBody)
    paid = entry_schemas.read(charged, entry_schemas.ChargeFacts)
    parts, plan = stated_parts(shown), PLANS[request.kind]
    check_debit(StatedCharge.of(body.kind, asked_for, parts, facts.public, plan), paid)
    assert check_exploration(body, paid) == request.exploration_loss * 10**13


def test_a_loss_that_is_no_amount() -> None:
    asked_for, facts = exploring_parts("charge_1", "audit_1", "mandate_1")
    body = entry_schemas.read(asked_for, entry_schemas.ChargeBody)
    with refuses(EvidenceError, "not-an-amount"):
        check_exploration(
            body, entry_schemas.read(facts | {"exploration_loss": "-40"}, entry_schemas.ChargeFacts)
        )
