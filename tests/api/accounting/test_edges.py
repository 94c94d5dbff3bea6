"""The edges of limits, to the hour and to the last unit."""

from collections.abc import Iterator
from fractions import Fraction

import pytest
from sqlmodel import select

from api.db import PlatformAccountRow
from api.kernel.errors import BudgetExhaustedError, PlatformExhaustedError
from tests.api.accounting.books import Books, at_time
from tests.api.accounting.model import FIRST_WINDOW_ENDS, Cost, Mandate

ONE = Cost(Fraction(1), Fraction(1, 2))
PEOPLE = {"g0": {1, 2, 3}, "g1": {1024, 5000}}
EVERYBODY = {1, 2, 3, 1024, 5000}


@pytest.fixture
def books() -> Iterator[Books]:
    books = Books.open(platform_limit=Fraction(2), person_cap=Fraction(1))
    for name in ("a0", "a1"):
        books.seal(name, PEOPLE, groups_per_person=1)
    yield books
    books.close()


def charge(books: Books, at: int, audience: str = "a0", cost: Cost = ONE) -> str:
    with at_time(lambda: at):
        return books.charge(audience, cost, None)


def refund(books: Books, at: int, audit_id: str) -> None:
    with at_time(lambda: at):
        books.refund(audit_id)


def grant(books: Books, renewal: str | None, limit: int = 1, lifetime: int = 10) -> None:
    lasting = Fraction(lifetime) if renewal else None
    days = 2 if renewal else 0
    books.grant(Mandate("m", "epsilon", Fraction(limit), 0, 9_600, renewal, days, lasting))


def test_a_rolling_limit_is_back_when_the_stretch_is_over_and_no_hour_before(books: Books) -> None:
    grant(books, "rolling")
    charge(books, at=5)
    with pytest.raises(BudgetExhaustedError):
        charge(books, at=5 + 47)
    charge(books, at=5 + 48)


def test_a_fixed_limit_is_back_when_the_next_period_begins(books: Books) -> None:
    grant(books, "fixed")
    charge(books, at=47)
    with pytest.raises(BudgetExhaustedError):
        charge(books, at=47)
    charge(books, at=48)
    # Twice the limit within an hour: across a boundary of periods, and nowhere else.
    with pytest.raises(BudgetExhaustedError):
        charge(books, at=49)


@pytest.mark.parametrize("renewal", ["fixed", "rolling"])
def test_no_window_opens_again_when_the_clock_is_turned_back(books: Books, renewal: str) -> None:
    grant(books, renewal)
    charge(books, at=100)
    for clock in (99, 40, 0):
        with pytest.raises(BudgetExhaustedError):
            charge(books, at=clock)


def test_a_lifetime_limit_never_comes_back(books: Books) -> None:
    grant(books, "rolling", lifetime=2)
    charge(books, at=0)
    charge(books, at=100)
    with pytest.raises(BudgetExhaustedError):
        charge(books, at=5_000)


def test_a_refund_of_an_old_period_gives_nothing_to_the_new_one(books: Books) -> None:
    grant(books, "fixed")
    old = charge(books, at=0)
    charge(books, at=50)
    refund(books, 51, old)
    assert books.mandate("m", at=51) == (Fraction(1), Fraction(0))


def test_a_refund_in_its_own_period_is_there_to_be_spent(books: Books) -> None:
    grant(books, "fixed")
    refund(books, 1, charge(books, at=0))
    assert books.mandate("m", at=1) == (Fraction(0), Fraction(1))
    charge(books, at=2)


def test_the_platform_pays_its_limit_to_the_last_unit_and_again_in_the_next_window(
    books: Books,
) -> None:
    grant(books, None, limit=100)
    for _ in range(4):
        charge(books, at=0)
    with pytest.raises(PlatformExhaustedError):
        charge(books, at=FIRST_WINDOW_ENDS - 1, cost=Cost(Fraction(2, 10**6), Fraction(2, 10**12)))
    charge(books, at=FIRST_WINDOW_ENDS)
    assert books.platform() == (0, Fraction(1, 2), FIRST_WINDOW_ENDS)


def test_a_refund_of_an_old_window_gives_nothing_to_the_new_one(books: Books) -> None:
    grant(books, None, limit=100)
    old = charge(books, at=0)
    charge(books, at=FIRST_WINDOW_ENDS)
    refund(books, FIRST_WINDOW_ENDS, old)
    assert books.platform()[1] == Fraction(1, 2)


def test_a_platform_account_ahead_of_the_clock_stays_there(books: Books) -> None:
    """As after a restore in parts: what is charged meanwhile counts in the later window."""
    grant(books, None, limit=100)
    charge(books, at=0)
    with books.store.write() as session:
        account = session.exec(select(PlatformAccountRow)).one()
        account.window += 1
        session.add(account)
        ahead = account.window
    for _ in range(3):
        charge(books, at=0)
    with pytest.raises(PlatformExhaustedError):
        charge(books, at=FIRST_WINDOW_ENDS)
    with books.store.read() as session:
        assert session.exec(select(PlatformAccountRow.window)).one() == ahead


def test_a_person_is_debited_up_to_the_cap_exactly(books: Books) -> None:
    grant(books, None, limit=100)
    assert books.bearers(charge(books, at=0)) == EVERYBODY
    assert books.bearers(charge(books, at=0, audience="a1")) == EVERYBODY
    tiny = Cost(Fraction(2, 10**6), Fraction(2, 10**12))
    assert books.bearers(charge(books, at=0, cost=tiny)) == set()
    assert books.balances() == dict.fromkeys(EVERYBODY, Fraction(1))
    assert books.sound()


def test_a_refund_credits_exactly_the_people_who_were_debited(books: Books) -> None:
    grant(books, None, limit=100)
    books.seal("a2", {"g0": {1, 7}}, groups_per_person=1)
    charge(books, at=0)
    charge(books, at=0)
    partly = charge(books, at=0, audience="a2")
    assert books.bearers(partly) == {7}
    refund(books, 1, partly)
    assert books.balances() == dict.fromkeys(EVERYBODY, Fraction(1))
