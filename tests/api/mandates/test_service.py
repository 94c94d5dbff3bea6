"""Which mandate pays, and how much of it: exactly, and never more than there is."""

from collections.abc import Iterator
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlmodel import Session

from api.db import AuditorRow, ChargeRow, MandateRow, ResearcherRow, Store
from api.kernel.clock import now
from api.kernel.errors import (
    BudgetExhaustedError,
    EpsilonAboveMandateError,
    InvalidRequestError,
    MandateExpiredError,
    MandateNotYetValidError,
    NoMandateError,
    NotFoundError,
)
from api.kernel.ids import new_id
from api.mandates import budgets
from api.mandates import service as mandates
from api.mandates.budgets import Debit
from openapi.resources import MandateDraft
from privacy.tables.price import ExactPrice
from tests.mandates import mandate_of
from tests.statements import Maker

PRICE = ExactPrice.epsilon(add_remove=Fraction(1, 4), change_one=Fraction(1, 2))
KIND = "score-histogram"
DAY = timedelta(days=1)


@pytest.fixture
def session(store: Store) -> Iterator[Session]:
    """A transaction that is never committed."""
    with Session(store.engine) as session:
        yield session


@pytest.fixture
def regulator(session: Session) -> Maker:
    maker = Maker(new_id("researcher"))
    row = ResearcherRow(
        id=maker.by,
        name="R",
        role="regulator",
        jwk=maker.key.as_dict(private=False),
        key_thumbprint=maker.key.thumbprint(),
        created_at=now(),
    )
    session.add(row)
    session.flush()
    return maker


@pytest.fixture
def auditor(session: Session) -> str:
    row = AuditorRow(id=new_id("auditor"), name="Lab", created_at=now())
    session.add(row)
    session.flush()
    return row.id


def draft(auditor_id: str, **changes: Any) -> MandateDraft:
    fields = {
        "auditor_id": auditor_id,
        "purpose": "test",
        "epsilon_limit": "10",
        "valid_from": now() - DAY,
        "valid_until": now() + DAY,
    }
    return MandateDraft.model_validate(fields | changes)


def grant(session: Session, regulator: Maker, wanted: MandateDraft) -> str:
    return mandates.grant(session, wanted, regulator.states("mandate", wanted)).id


def granted(session: Session, regulator: Maker, auditor_id: str, **changes: Any) -> str:
    found = grant(session, regulator, draft(auditor_id, **changes))
    session.flush()
    return found


def chosen(
    session: Session,
    auditor: str,
    kind: str,
    price: ExactPrice,
    name: str | None,
    *,
    lock: bool = False,
) -> MandateRow:
    found = mandates.load_for_auditors(session, [auditor], lock=lock)[auditor]
    return mandates.select_payer(session, found, kind, price, name, now())


def test_the_mandate_in_force_that_ends_first_pays(
    session: Session, regulator: Maker, auditor: str
) -> None:
    granted(session, regulator, auditor, valid_until=now() + 3 * DAY)
    first = granted(session, regulator, auditor, valid_until=now() + 2 * DAY)
    granted(session, regulator, auditor, valid_from=now() - 3 * DAY, valid_until=now() - DAY)
    granted(session, regulator, auditor, valid_from=now() + DAY / 2, valid_until=now() + DAY)
    for lock in (False, True):
        assert chosen(session, auditor, KIND, PRICE, None, lock=lock).id == first


def test_a_mandate_can_be_named(session: Session, regulator: Maker, auditor: str) -> None:
    granted(session, regulator, auditor)
    later = granted(session, regulator, auditor, valid_until=now() + 9 * DAY)
    assert chosen(session, auditor, KIND, PRICE, later).id == later


def test_reasons_why_no_mandate_pays_have_different_codes(
    session: Session, regulator: Maker, auditor: str
) -> None:
    with pytest.raises(NoMandateError):
        chosen(session, auditor, KIND, PRICE, None)
    granted(session, regulator, auditor, valid_from=now() - 3 * DAY, valid_until=now() - DAY)
    with pytest.raises(MandateExpiredError):
        chosen(session, auditor, KIND, PRICE, None)
    granted(session, regulator, auditor, valid_from=now() + DAY, valid_until=now() + 2 * DAY)
    with pytest.raises(MandateNotYetValidError):
        chosen(session, auditor, KIND, PRICE, None)
    with pytest.raises(NoMandateError):
        chosen(session, auditor, "outcome-test", PRICE, None)


def test_another_auditors_mandate_does_not_pay(
    session: Session, regulator: Maker, auditor: str
) -> None:
    stranger = AuditorRow(id=new_id("auditor"), name="Other", created_at=now())
    session.add(stranger)
    session.flush()
    theirs = granted(session, regulator, stranger.id)
    with pytest.raises(NoMandateError):
        chosen(session, auditor, KIND, PRICE, theirs)


def test_the_last_millionth_is_paid_and_one_more_is_refused(
    session: Session, regulator: Maker, auditor: str
) -> None:
    granted(session, regulator, auditor, epsilon_limit="1")
    mandate = chosen(session, auditor, KIND, PRICE, None, lock=True)
    for _ in range(10):
        budgets.debit(session, [Debit(mandate, Fraction(1, 10))], now())
    assert mandate.spent == 1
    with pytest.raises(BudgetExhaustedError) as refused:
        budgets.debit(session, [Debit(mandate, Fraction(1, 1_000_000))], now())
    shown = refused.value.members
    assert (shown["limit"], shown["spent"]) == ("1", "1")
    assert (shown["asked"], shown["remaining"]) == ("0.000001", "0")
    assert mandate.spent == 1


def test_more_than_the_whole_mandate_is_another_refusal(
    session: Session, regulator: Maker, auditor: str
) -> None:
    granted(session, regulator, auditor, epsilon_limit="1")
    mandate = chosen(session, auditor, KIND, PRICE, None, lock=True)
    with pytest.raises(EpsilonAboveMandateError):
        budgets.debit(session, [Debit(mandate, Fraction(1_000_001, 1_000_000))], now())
    assert mandate.spent == 0


def test_a_debit_and_its_refund_leave_what_was_there(
    session: Session, regulator: Maker, auditor: str
) -> None:
    name = granted(session, regulator, auditor, epsilon_limit="3")
    mandate = chosen(session, auditor, KIND, PRICE, None, lock=True)
    budgets.debit(session, [Debit(mandate, Fraction(5, 2))], now())
    session.flush()
    session.expire_all()
    assert session.get_one(MandateRow, name).spent == Fraction(5, 2)
    taken: dict[str, Any] = {"mandate_id": name, "debit": Fraction(5, 2), "period": 0}
    charge = ChargeRow(**taken)
    budgets.refund(session, charge)
    session.flush()
    session.expire_all()
    assert session.get_one(MandateRow, name).spent == 0


@given(st.integers(1, 50), st.lists(st.integers(1, 30)))
def test_debits_against_an_obvious_account(limit: int, amounts: list[int]) -> None:
    left = limit
    with mandate_of(Fraction(limit)) as (session, mandate):
        for amount in amounts:
            if amount <= left:
                budgets.debit(session, [Debit(mandate, Fraction(amount))], now())
                left -= amount
            else:
                with pytest.raises((BudgetExhaustedError, EpsilonAboveMandateError)):
                    budgets.debit(session, [Debit(mandate, Fraction(amount))], now())
            assert mandate.limit - mandate.spent == left


@pytest.mark.parametrize(
    "changes",
    [
        {"valid_from": "2030-01-01T00:00:00"},
        {"valid_until": "2030-01-01T00:00:00"},
        {"valid_from": "2030-01-02T00:00:00Z", "valid_until": "2030-01-02T00:00:00Z"},
        {"valid_from": "2030-01-02T00:00:00Z", "valid_until": "2030-01-01T00:00:00Z"},
    ],
)
def test_a_window_that_is_none_is_refused(
    session: Session, regulator: Maker, auditor: str, changes: dict[str, str]
) -> None:
    with pytest.raises(InvalidRequestError):
        grant(session, regulator, draft(auditor, **changes))


def test_nobody_is_granted_anything_who_is_not_registered(
    session: Session, regulator: Maker
) -> None:
    with pytest.raises(NotFoundError):
        grant(session, regulator, draft(new_id("auditor")))
