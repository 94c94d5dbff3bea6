"""Entries older than format 3: they still verify by their own rule, and none follows a new one."""

from datetime import timedelta
from typing import Any

import pytest

from privacy.errors import EvidenceError, InvalidLedgerError
from privacy.ledger import entry_schemas
from privacy.ledger.price_check import check_older_debit
from privacy.ledger.verify import verify
from tests.ledgers import AUDIENCE, Ledger, Maker, older_parts, price, relied, trust
from tests.refusals import refuses


@pytest.fixture
def ledger() -> Ledger:
    return Ledger.begun()


@pytest.fixture
def ada(ledger: Ledger) -> Maker:
    return ledger.researcher(ledger.auditor())


def charge(ledger: Ledger, ada: Maker, mandate: str, **changes: Any) -> None:
    body, facts = older_parts(ledger.new("charge"), ledger.new("audit"), mandate)
    ledger.stated(ada, "charge", body, facts | changes, ada.auditor)


def last_is_wrong(ledger: Ledger, case: str) -> None:
    verify(*relied(ledger.lines[:-1]), trust())
    with refuses(InvalidLedgerError, case) as found:
        verify(*relied(ledger.lines), trust())
    assert found.value.number == len(ledger.lines) - 1


@pytest.mark.parametrize(
    ("changes", "case"),
    [
        ({"debit": "0.125"}, "not-the-change-one-price"),
        ({"currency": "rho"}, "another-currency"),
        (price("0.05", "0.025") | {"debit": "0.15"}, "underpriced"),
        (price("0.2", "0.025") | {"debit": "0.45"}, "overpriced"),
        (
            {"epsilon": {"add_remove": "0.25", "change_one": "0.125"}, "debit": "0.125"},
            "change-one-below-add-remove-epsilon",
        ),
        ({"rho": {"add_remove": "0.02", "change_one": "0.02"}}, "change-one-below-add-remove-rho"),
        ({"rho": {"add_remove": "0.02", "change_one": "0.2"}}, "rho-above-epsilon"),
        ({"epsilon": None}, "overpriced"),
        ({"debit": 1}, "malformed-ChargeFacts"),
        ({"debit": "0.2500000000000001"}, "not-the-change-one-price"),
    ],
)
def test_a_wrong_price(ledger: Ledger, ada: Maker, changes: dict[str, Any], case: str) -> None:
    ledger.seal_older(ada.auditor)
    charge(ledger, ada, ledger.mandate(ada.auditor or ""), **changes)
    last_is_wrong(ledger, case)


@pytest.mark.parametrize(
    ("sizes", "paid", "case"),
    [
        ("known", price("0.1"), None),
        ("noisy", price("0.1", "0.025"), None),
        ("known", price("0.1", "0.025"), "overpriced"),
        ("noisy", price("0.1"), "underpriced"),
    ],
)
def test_there_is_one_price(
    ledger: Ledger, ada: Maker, sizes: str, paid: dict[str, Any], case: str | None
) -> None:
    """Sizes that are known cost nothing to learn, others do: the audience's entry says which."""
    ledger.seal_older(ada.auditor, sizes=sizes)
    mandate = ledger.mandate(ada.auditor or "")
    charge(ledger, ada, mandate, **paid, debit=paid["epsilon"]["change_one"])
    if case is None:
        assert ledger.verified().notices == {("charge-older", "score-histogram"): 1}
    else:
        last_is_wrong(ledger, case)


@pytest.mark.parametrize(
    ("epsilon", "rho", "debit", "case"),
    [
        (("1", "2"), ("0.5", "2"), "2", None),
        (("1", "1"), ("0.5", "1"), "1", "rho-above-epsilon"),
        (("1", "1.5"), ("0.5", "1.125"), "1.5", "underpriced"),
        (("3", "6"), ("4.5", "18"), "6", "overpriced"),
    ],
)
def test_all_kinds_had_one_rule(
    epsilon: tuple[str, str], rho: tuple[str, str], debit: str, case: str | None
) -> None:
    body, facts = older_parts("charge_1", "audit_1", "mandate_1", "1", "0")
    body |= {"kind": "of-another-version", "size_epsilon": None}
    both = [dict(zip(("add_remove", "change_one"), each, strict=True)) for each in (epsilon, rho)]
    facts |= {"epsilon": both[0], "rho": both[1], "debit": debit}
    asked, paid = (
        entry_schemas.read(body, entry_schemas.ChargeBody),
        entry_schemas.read(facts, entry_schemas.ChargeFacts),
    )
    if case is None:
        assert check_older_debit(asked, paid, None) == (2 * 10**13, 2 * 10**13)
    else:
        with refuses(EvidenceError, case):
            check_older_debit(asked, paid, None)


def test_a_ledger_continues_in_the_new_format(ledger: Ledger, ada: Maker) -> None:
    """An audience that was sealed before states too little: the verifier says so."""
    mandate = ledger.mandate(ada.auditor or "")
    ledger.seal_older(ada.auditor)
    charge(ledger, ada, mandate)
    ledger.charge(ada, mandate, audience_id=AUDIENCE)
    ledger.charge(ada, mandate, audience_id=ledger.seal(ada.auditor, "audience_new"))
    found = ledger.verified()
    assert found.notices == {
        ("charge-older", "score-histogram"): 1,
        ("audience-older", "score-histogram"): 1,
    }


def test_processes_of_both_versions_write_for_a_day(ledger: Ledger, ada: Maker) -> None:
    mandate = ledger.mandate(ada.auditor or "")
    ledger.charge(ada, mandate)
    ledger.seal_older(ada.auditor, "audience_older")
    ledger.at += timedelta(hours=23)
    charge(ledger, ada, mandate)
    ledger.verified()


def test_no_charge_goes_back_to_an_older_format(ledger: Ledger, ada: Maker) -> None:
    mandate = ledger.mandate(ada.auditor or "")
    ledger.charge(ada, mandate)
    ledger.at += timedelta(days=1)
    charge(ledger, ada, mandate)
    last_is_wrong(ledger, "older-format")


def test_no_audience_goes_back_to_an_older_format(ledger: Ledger, ada: Maker) -> None:
    ledger.seal(ada.auditor)
    ledger.at += timedelta(days=1)
    ledger.seal_older(ada.auditor, "audience_older")
    last_is_wrong(ledger, "older-format")


@pytest.mark.parametrize("stated", [1, 4])
def test_a_format_that_is_not_known(ledger: Ledger, ada: Maker, stated: int) -> None:
    ledger.seal(ada.auditor, format=stated)
    last_is_wrong(ledger, "unknown-format")
