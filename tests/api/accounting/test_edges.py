"""The edges of limits, to the hour and to the last unit."""

from collections.abc import Iterator
from fractions import Fraction

import pytest
from sqlmodel import select

from api.db import PlatformAccountRow
from api.kernel.errors import BudgetExhaustedError, PlatformExhaustedError
from tests.api.accounting.accounts import Accounts, at_time
from tests.api.accounting.model import FIRST_WINDOW_ENDS, Cost, Mandate

ONE = Cost(Fraction(1), Fraction(1, 2))
PEOPLE = {"g0": {1, 2, 3}, "g1": {1024, 5000}}
EVERYBODY = {1, 2, 3, 1024, 5000}


@pytest.fixture
def accounts() -> Iterator[Accounts]:
    accounts = Accounts.open(platform_limit=Fraction(2), person_cap=Fraction(1))
    for name in ("a0", "a1"):
        accounts.seal(name, PEOPLE, groups_per_person=1)
    yield accounts
    accounts.close()


def charge(accounts: Accounts, at: int, audience: str = "a0", cost: Cost = ONE) -> str:
    with at_time(lambda: at):
        return accounts.charge(audience, cost, None)


def refund(accounts: Accounts, at: int, audit_id: str) -> None:
    with at_time(lambda: at):
        accounts.refund(audit_id)


def grant(accounts: Accounts, renewal: str | None, limit: int = 1, lifetime: int = 10) -> None:
    lasting = Fraction(lifetime) if renewal else None
    days = 2 if renewal else 0
    accounts.grant(Mandate("m", "epsilon", Fraction(limit), 0, 9_600, renewal, days, lasting))


def test_a_rolling_limit_is_back_when_the_stretch_is_over_and_no_hour_before(
    accounts: Accounts,
) -> None:
    grant(accounts, "rolling")
    charge(accounts, at=5)
    with pytest.raises(BudgetExhaustedError):
        charge(accounts, at=5 + 47)
    charge(accounts, at=5 + 48)


def test_a_fixed_limit_is_back_when_the_next_period_begins(accounts: Accounts) -> None:
    grant(accounts, "fixed")
    charge(accounts, at=47)
    with pytest.raises(BudgetExhaustedError):
        charge(accounts, at=47)
    charge(accounts, at=48)
    # Twice the limit within an hour: across a boundary of periods, and nowhere else.
    with pytest.raises(BudgetExhaustedError):
        charge(accounts, at=49)


@pytest.mark.parametrize("renewal", ["fixed", "rolling"])
def test_no_window_opens_again_when_the_clock_is_turned_back(
    accounts: Accounts, renewal: str
) -> None:
    grant(accounts, renewal)
    charge(accounts, at=100)
    for clock in (99, 40, 0):
        with pytest.raises(BudgetExhaustedError):
            charge(accounts, at=clock)


def test_a_lifetime_limit_never_comes_back(accounts: Accounts) -> None:
    grant(accounts, "rolling", lifetime=2)
    charge(accounts, at=0)
    charge(accounts, at=100)
    with pytest.raises(BudgetExhaustedError):
        charge(accounts, at=5_000)


def test_a_refund_of_an_old_period_gives_nothing_to_the_new_one(accounts: Accounts) -> None:
    grant(accounts, "fixed")
    old = charge(accounts, at=0)
    charge(accounts, at=50)
    refund(accounts, 51, old)
    assert accounts.mandate("m", at=51) == (Fraction(1), Fraction(0))


def test_a_refund_in_its_own_period_is_there_to_be_spent(accounts: Accounts) -> None:
    grant(accounts, "fixed")
    refund(accounts, 1, charge(accounts, at=0))
    assert accounts.mandate("m", at=1) == (Fraction(0), Fraction(1))
    charge(accounts, at=2)


def test_the_platform_pays_its_limit_to_the_last_unit_and_again_in_the_next_window(
    accounts: Accounts,
) -> None:
    grant(accounts, None, limit=100)
    for _ in range(4):
        charge(accounts, at=0)
    with pytest.raises(PlatformExhaustedError):
        charge(
            accounts, at=FIRST_WINDOW_ENDS - 1, cost=Cost(Fraction(2, 10**6), Fraction(2, 10**12))
        )
    charge(accounts, at=FIRST_WINDOW_ENDS)
    assert accounts.platform() == (0, Fraction(1, 2), FIRST_WINDOW_ENDS)


def test_a_refund_of_an_old_window_gives_nothing_to_the_new_one(accounts: Accounts) -> None:
    grant(accounts, None, limit=100)
    old = charge(accounts, at=0)
    charge(accounts, at=FIRST_WINDOW_ENDS)
    refund(accounts, FIRST_WINDOW_ENDS, old)
    assert accounts.platform()[1] == Fraction(1, 2)


def test_a_platform_account_ahead_of_the_clock_stays_there(accounts: Accounts) -> None:
    """As after a restore in parts: what is charged meanwhile counts in the later window."""
    grant(accounts, None, limit=100)
    charge(accounts, at=0)
    with accounts.store.write() as session:
        account = session.exec(select(PlatformAccountRow)).one()
        account.window += 1
        session.add(account)
        ahead = account.window
    for _ in range(3):
        charge(accounts, at=0)
    with pytest.raises(PlatformExhaustedError):
        charge(accounts, at=FIRST_WINDOW_ENDS)
    with accounts.store.read() as session:
        assert session.exec(select(PlatformAccountRow.window)).one() == ahead


def test_a_person_is_debited_up_to_the_cap_exactly(accounts: Accounts) -> None:
    grant(accounts, None, limit=100)
    assert accounts.bearers(charge(accounts, at=0)) == EVERYBODY
    assert accounts.bearers(charge(accounts, at=0, audience="a1")) == EVERYBODY
    tiny = Cost(Fraction(2, 10**6), Fraction(2, 10**12))
    assert accounts.bearers(charge(accounts, at=0, cost=tiny)) == set()
    assert accounts.balances() == dict.fromkeys(EVERYBODY, Fraction(1))
    assert accounts.sound()


def test_a_refund_credits_exactly_the_people_who_were_debited(accounts: Accounts) -> None:
    grant(accounts, None, limit=100)
    accounts.seal("a2", {"g0": {1, 7}}, groups_per_person=1)
    charge(accounts, at=0)
    charge(accounts, at=0)
    partly = charge(accounts, at=0, audience="a2")
    assert accounts.bearers(partly) == {7}
    refund(accounts, 1, partly)
    assert accounts.balances() == dict.fromkeys(EVERYBODY, Fraction(1))
