"""Registrations of studies, played again: one that its maker did not sign is named."""

import json

import pytest

from privacy.errors import InvalidLedgerError
from privacy.ledger.verify import verify
from privacy.receipts import canonical, digest
from tests.ledgers import OPERATOR, REGULATOR, Ledger, Maker, relied, trust
from tests.refusals import refuses


@pytest.fixture
def ledger() -> Ledger:
    return Ledger.begun()


@pytest.fixture
def ada(ledger: Ledger) -> Maker:
    return ledger.researcher(ledger.auditor())


def last_is_wrong(ledger: Ledger, case: str) -> None:
    verify(*relied(ledger.lines[:-1]), trust())
    with refuses(InvalidLedgerError, case) as found:
        verify(*relied(ledger.lines), trust())
    assert found.value.number == len(ledger.lines) - 1


def test_a_registration_is_verified_whole_and_in_part(ledger: Ledger, ada: Maker) -> None:
    ledger.registration(ada)
    ledger.registration(ada, "another study")
    assert ledger.verified().counts["registration"] == 2
    assert ada.auditor is not None
    found = verify(*ledger.partial(ada.auditor), trust())
    assert found.counts["registration"] == 2


def test_a_registration_without_a_statement(ledger: Ledger, ada: Maker) -> None:
    ledger.write("registration", {"digest": digest(b"study")}, ada.auditor)
    last_is_wrong(ledger, "no-statement")


def test_a_registration_of_another_digest_than_was_signed(ledger: Ledger, ada: Maker) -> None:
    number = ledger.registration(ada)
    entry = json.loads(ledger.lines[number])
    entry["statement"]["body"]["digest"] = digest(b"what turned out to be convenient")
    ledger.lines[number] = canonical(entry)
    last_is_wrong(ledger, "wrong-signature")


def test_a_registration_with_a_time_long_after_it_was_signed(ledger: Ledger, ada: Maker) -> None:
    number = ledger.registration(ada)
    entry = json.loads(ledger.lines[number])
    ledger.lines[number] = canonical(entry | {"at": "2026-01-02T00:00:00.000000Z"})
    last_is_wrong(ledger, "clocks")


@pytest.mark.parametrize("maker", [REGULATOR, OPERATOR])
def test_only_researchers_register(ledger: Ledger, maker: Maker) -> None:
    ledger.registration(maker)
    last_is_wrong(ledger, "not-theirs-to-sign")


def test_a_registration_filed_under_another_auditor(ledger: Ledger, ada: Maker) -> None:
    other = ledger.auditor()
    body = {"digest": digest(b"study")}
    ledger.stated(ada, "registration", body, {}, other)
    last_is_wrong(ledger, "not-a-researcher-of-the-auditor")


def test_a_registration_of_nothing(ledger: Ledger, ada: Maker) -> None:
    ledger.stated(ada, "registration", {}, {}, ada.auditor)
    last_is_wrong(ledger, "malformed-RegistrationBody")
