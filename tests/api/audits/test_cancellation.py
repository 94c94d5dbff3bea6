"""A charge is given back once, to whom it was taken from, and only while nothing was read."""

from collections.abc import Iterator
from fractions import Fraction

import pytest
from sqlmodel import Session

from api.audits import cancellation
from api.db import AuditRow
from api.identity.caller import Caller
from api.kernel.errors import NotCancellableError, NotFoundError
from tests.api.accounting.accounts import Accounts, at_time
from tests.api.accounting.model import Cost, Mandate

MANDATE = "mandate_" + "0" * 30
COST = Cost(Fraction(1), Fraction(1, 2))
# What `standing.view` reads of a request.
REQUEST = '{"kind": "match-count", "epsilon": "0.5", "audience_id": "audience_' + "0" * 30 + '"}'


@pytest.fixture
def accounts() -> Iterator[Accounts]:
    accounts = Accounts.open(platform_limit=Fraction(2), person_cap=Fraction(1))
    accounts.seal("a", {"g0": {1, 2, 3}}, groups_per_person=1, source="upload", uploaded=3)
    accounts.grant(Mandate(MANDATE, "epsilon", Fraction(100), 0, 9_600, None, 0, None))
    yield accounts
    accounts.close()


def charged(accounts: Accounts, state: str = "charged") -> str:
    with at_time(lambda: 0):
        audit_id = accounts.charge("a", COST, None)
    with accounts.store.write() as session:
        audit = session.get_one(AuditRow, audit_id)
        audit.state, audit.request = state, REQUEST
        session.add(audit)
    return audit_id


def cancel(accounts: Accounts, session: Session, audit_id: str, auditor: str | None = None) -> None:
    caller = Caller("researcher", "Ada", "auditor", auditor or accounts.auditor_id)
    cancellation.cancel(session, caller, audit_id, accounts.settings)


def test_what_waits_is_given_back_once(accounts: Accounts) -> None:
    audit_id = charged(accounts)
    with at_time(lambda: 1), accounts.store.write() as session:
        cancel(accounts, session, audit_id)
    assert accounts.balances() == {}
    assert accounts.mandate(MANDATE, at=1) == (Fraction(0), Fraction(100))
    with at_time(lambda: 1), accounts.store.write() as session, pytest.raises(NotCancellableError):
        cancel(accounts, session, audit_id)
    assert accounts.balances() == {}
    assert accounts.mandate(MANDATE, at=1) == (Fraction(0), Fraction(100))


@pytest.mark.parametrize("state", ["running", "released", "failed"])
def test_what_was_read_stays_charged(accounts: Accounts, state: str) -> None:
    audit_id = charged(accounts, state)
    with at_time(lambda: 1), accounts.store.write() as session, pytest.raises(NotCancellableError):
        cancel(accounts, session, audit_id)
    assert accounts.balances() == dict.fromkeys((1, 2, 3), Fraction(1, 2))
    assert accounts.mandate(MANDATE, at=1) == (Fraction(1), Fraction(99))


def test_nobody_cancels_the_audit_of_another_auditor(accounts: Accounts) -> None:
    audit_id = charged(accounts)
    with at_time(lambda: 1), accounts.store.write() as session, pytest.raises(NotFoundError):
        cancel(accounts, session, audit_id, "auditor_" + "1" * 30)
    assert accounts.balances() == dict.fromkeys((1, 2, 3), Fraction(1, 2))
