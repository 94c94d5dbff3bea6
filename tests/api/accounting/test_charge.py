"""The debits of a bill by person, and bills that are refused before anything is debited."""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

import pytest
from sqlmodel import Session, col, select

from api.accounting import charge
from api.accounting.charge import ChargeOrder, refuse_above_lifetime_cap
from api.db import AudienceRow, ChargeRow, MandateRow
from api.kernel.errors import AboveLifetimeCapError, BudgetExhaustedError, ExplorationExhaustedError
from api.ledger import entries
from api.mandates import budgets
from openapi.kinds.registry import CONTRACTS
from openapi.resources import REQUEST, Price
from privacy.errors import BoundsError
from tests.api.accounting.accounts import Accounts, at_time, instant
from tests.api.accounting.model import Cost, Mandate
from tests.statements import Maker

MAKER = Maker("researcher_" + "0" * 30)


@pytest.fixture
def accounts() -> Iterator[Accounts]:
    accounts = Accounts.open(platform_limit=Fraction(2), person_cap=Fraction(1))
    accounts.seal("a", {"g0": {1, 2, 3}}, groups_per_person=1)
    accounts.grant(Mandate("m", "epsilon", Fraction(100), 0, 9_600, None, 0, None))
    yield accounts
    accounts.close()


def price_of(rho: tuple[str, str], epsilon: tuple[str, str] = ("1", "2"), loss: str = "0") -> Price:
    def both(amounts: tuple[str, str]) -> dict[str, str]:
        return dict(zip(("add_remove", "change_one"), amounts, strict=True))

    fields = {"epsilon": both(epsilon), "rho": both(rho), "currency": "epsilon", "debit": "0"}
    return Price.model_validate({**fields, "exploration_loss": loss, "parts": []})


def bill(
    accounts: Accounts, session: Session, at: datetime, price: Price, mandate_id: str = "m"
) -> ChargeOrder:
    """A bill whose audit is written, as `charging.charge` expects it."""
    mandate = session.get_one(MandateRow, mandate_id)
    audit = accounts._audit(mandate, "a", price, at)
    session.add(audit)
    session.flush()
    states = MAKER.states("charge", {"kind": audit.kind, "audience_id": "a"})
    return ChargeOrder(audit, mandate, session.get_one(AudienceRow, "a"), [], price, states)


@pytest.mark.parametrize("rho", [("0.5", "0.999999999999"), ("0.5", "0.5"), ("0.4", "0.6")])
def test_a_change_that_costs_less_than_twice_the_rho_is_charged_to_nobody(
    accounts: Accounts, rho: tuple[str, str]
) -> None:
    """Without it the lifetime cap fails under change-one: docs/explanation/guarantee.md."""
    with at_time(lambda: 0), accounts.store.write() as session:
        at = entries.lock(session)
        wrong = bill(accounts, session, at, price_of(rho))
        with pytest.raises(BoundsError):
            charge.charge(session, at, [wrong], accounts.settings)
        assert session.exec(select(ChargeRow)).first() is None
    assert accounts.balances() == {}


def test_a_bill_is_paid_at_the_change_one_price_by_everybody(accounts: Accounts) -> None:
    with at_time(lambda: 0), accounts.store.write() as session:
        at = entries.lock(session)
        asked = bill(accounts, session, at, price_of(("0.25", "0.5"), ("0.7", "1.4")))
        assert (asked.debit, asked.rho) == (Fraction(14, 10), Fraction(1, 2))
        charge.charge(session, at, [asked], accounts.settings)
    assert accounts.mandate("m", at=0) == (Fraction(14, 10), 100 - Fraction(14, 10))
    assert accounts.platform()[1] == Fraction(1, 2)
    assert accounts.balances() == dict.fromkeys((1, 2, 3), Fraction(1, 2))


@pytest.mark.parametrize(
    ("rho", "refused"),
    [(("0.4", "1"), False), (("0.4", "1.000000000001"), True), (("2", "4"), True)],
)
def test_an_audit_above_every_cap_is_refused_by_its_change_one_price(
    accounts: Accounts, rho: tuple[str, str], refused: bool
) -> None:
    assert accounts.settings.person_lifetime_rho == Decimal(1)
    if not refused:
        refuse_above_lifetime_cap(price_of(rho), accounts.settings)
        return
    with pytest.raises(AboveLifetimeCapError):
        refuse_above_lifetime_cap(price_of(rho), accounts.settings)


@pytest.mark.parametrize(
    ("kind", "amounts", "passes"),
    [
        ("match-count", {"epsilon": "9"}, "about 4.5"),
        ("score-histogram", {"epsilon": None, "size_epsilon": None, "rho": "2"}, "about 0.5"),
    ],
)
def test_a_refusal_by_the_cap_names_what_would_pass(
    accounts: Accounts, kind: str, amounts: dict[str, str], passes: str
) -> None:
    """A cap of 1 is a quarter of this ρ: half of the ε, a quarter of the ρ."""
    more = {"mechanism": "discrete-gaussian"} if "rho" in amounts else {}
    request = REQUEST.validate_python(CONTRACTS[kind].example | amounts | more)
    with pytest.raises(AboveLifetimeCapError, match=passes):
        refuse_above_lifetime_cap(price_of(("2", "4")), accounts.settings, request)


def test_each_charge_of_several_is_debited_from_the_platform(accounts: Accounts) -> None:
    """Two bills of one transaction, of two mandates, cost the platform the sum of both."""
    accounts.grant(Mandate("n", "epsilon", Fraction(100), 0, 9_600, None, 0, None))
    price = price_of(("0.25", "0.5"))
    with at_time(lambda: 0), accounts.store.write() as session:
        at = entries.lock(session)
        bills = [bill(accounts, session, at, price, name) for name in ("m", "n")]
        charge.charge(session, at, bills, accounts.settings)
    assert accounts.platform()[1] == 1
    assert accounts.balances() == dict.fromkeys((1, 2, 3), Fraction(1))


@pytest.mark.parametrize("source", ["upload", "sample"])
def test_what_a_charge_takes_its_refund_gives_back_once(accounts: Accounts, source: str) -> None:
    accounts.seal("b", {"g0": {1, 7}, "g1": {1, 9}}, groups_per_person=2, source=source, uploaded=4)
    with at_time(lambda: 0):
        audit = accounts.charge("b", Cost(Fraction(1), Fraction(1, 2)), None)
        # Somebody in two groups bears it once.
        assert accounts.balances() == dict.fromkeys((1, 7, 9), Fraction(1, 2))
        accounts.refund(audit)
    assert accounts.balances() == {}
    assert accounts.platform()[1] == 0
    assert accounts.mandate("m", at=0) == (Fraction(0), Fraction(100))
    assert accounts.sound()


def test_a_mandate_pays_what_is_left_and_no_more(accounts: Accounts) -> None:
    """Something is left, and less than is asked for."""
    accounts.grant(Mandate("small", "epsilon", Fraction(1), 0, 9_500, None, 0, None))
    most, tiny = Cost(Fraction(6, 10), Fraction(1, 10)), Cost(Fraction(1, 10), Fraction(1, 100))
    with at_time(lambda: 0):
        accounts.charge("a", most, "small")
        with pytest.raises(BudgetExhaustedError):
            accounts.charge("a", most, "small")
        accounts.charge("a", tiny, "small")
    assert accounts.mandate("small", at=0) == (Fraction(7, 10), Fraction(3, 10))


def test_a_period_that_was_left_never_comes_back(accounts: Accounts) -> None:
    """Whatever the clock says: two days are a period, and the mandate is in its sixth."""
    accounts.grant(Mandate("renewed", "epsilon", Fraction(1), 0, 9_500, "fixed", 2, Fraction(10)))
    with accounts.store.read() as session:
        mandate = session.get_one(MandateRow, "renewed")
        mandate.period = 5
        for hours, period in ((0, 5), (48, 5), (5 * 48, 5), (6 * 48 - 1, 5), (6 * 48, 6)):
            assert budgets.period_of(mandate, instant(hours)) == period


def test_what_people_may_lose_is_debited_limited_and_given_back(accounts: Accounts) -> None:
    price = price_of(("0.05", "0.1"), loss="3")
    with accounts.store.write() as session:
        mandate = session.get_one(MandateRow, "m")
        mandate.exploration_limit = Fraction(8)
        session.add(mandate)
    for spent in (3, 6):
        with at_time(lambda: 0), accounts.store.write() as session:
            at = entries.lock(session)
            charge.charge(session, at, [bill(accounts, session, at, price)], accounts.settings)
            assert session.get_one(MandateRow, "m").exploration_spent == spent
    with at_time(lambda: 0), accounts.store.write() as session:
        at = entries.lock(session)
        with pytest.raises(ExplorationExhaustedError):
            charge.charge(session, at, [bill(accounts, session, at, price)], accounts.settings)
        session.rollback()
    for spent in (3, 0):
        with at_time(lambda: 0), accounts.store.write() as session:
            at = entries.lock(session)
            query = select(ChargeRow).where(col(ChargeRow.refunded_at).is_(None))
            row = session.exec(query.limit(1)).one()
            assert row.exploration_loss == 3
            charge.refund(session, at, row, accounts.settings)
            assert session.get_one(MandateRow, "m").exploration_spent == spent


@pytest.mark.parametrize("renewal", ["fixed", "rolling"])
def test_charges_of_one_period_add_up(accounts: Accounts, renewal: str) -> None:
    """Three times two fifths are more than the limit, though each two of them are less."""
    lasting = Mandate("renewed", "epsilon", Fraction(1), 0, 9_500, renewal, 2, Fraction(10))
    accounts.grant(lasting)
    part = Cost(Fraction(4, 10), Fraction(1, 100))
    for hour in (0, 1):
        with at_time(lambda hour=hour: hour):  # type: ignore[misc]
            accounts.charge("a", part, "renewed")
    with at_time(lambda: 2), pytest.raises(BudgetExhaustedError):
        accounts.charge("a", part, "renewed")
    assert accounts.mandate("renewed", at=2) == (Fraction(8, 10), Fraction(2, 10))


def test_one_mandate_is_not_debited_twice_from_what_it_has_now(accounts: Accounts) -> None:
    with at_time(lambda: 0), accounts.store.write() as session:
        at = entries.lock(session)
        mandate = session.get_one(MandateRow, "m")
        twice = [budgets.Debit(mandate, Fraction(60))] * 2
        with pytest.raises(ValueError, match=r": m, m$"):
            budgets.debit(session, twice, at)
    assert accounts.mandate("m", at=0) == (Fraction(0), Fraction(100))
