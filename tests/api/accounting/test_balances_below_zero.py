"""No balance falls below zero: the code refuses to write one, and so does the database."""

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest
from sqlalchemy.exc import IntegrityError
from sqlmodel import col, select, update

from api.accounting import lifetime_caps
from api.accounting.balance_blocks import BLOCK, COLUMNS, Blocks, NegativeBalanceError, pack
from api.accounting.lifetime_caps import LifetimeDebit
from api.db import PersonBlockRow, Store
from api.operations.reconciliation import inspect
from privacy.tables.membership import Membership
from tests.databases import prepare

CAP = Fraction(10)
SOMEBODY = Membership((np.array([3]),), 1)
EVERYBODY = Membership((np.arange(BLOCK),), 1)


@pytest.fixture
def store(new_database: Callable[[], str]) -> Iterator[Store]:
    made = Store(new_database())
    prepare(made)
    yield made
    made.close()


def lowest(store: Store) -> list[int]:
    with store.read() as session:
        rows = session.exec(select(PersonBlockRow)).all()
    return [row.lowest for row in sorted(rows, key=lambda row: row.number)]


def refund(store: Store, membership: Membership, cost: Fraction, **burden: bool) -> None:
    with store.write() as session:
        lifetime_caps.refund(session, LifetimeDebit(membership, cost, **burden))


def charge(store: Store, membership: Membership, cost: Fraction, uploaded: int = 0) -> None:
    with store.write() as session:
        lifetime_caps.charge(session, [LifetimeDebit(membership, cost, uploaded)], CAP)


def test_a_refund_of_more_than_was_spent_is_refused_before_anything_is_written(
    store: Store,
) -> None:
    charge(store, SOMEBODY, Fraction(9))
    with pytest.raises(NegativeBalanceError):
        refund(store, SOMEBODY, Fraction("9.68"))
    with store.read() as session:
        assert Blocks.load(session, np.array([0]))["spent"][3] == 9 * 10**12
    refund(store, SOMEBODY, Fraction(9))
    assert lowest(store) == [0]


def test_what_displaced_people_spent_cannot_fall_below_zero_either(store: Store) -> None:
    charge(store, SOMEBODY, Fraction(9))
    with pytest.raises(NegativeBalanceError):
        refund(store, SOMEBODY, Fraction(1), drawn=True)


@pytest.mark.parametrize("column", COLUMNS)
def test_no_column_is_written_with_a_balance_below_zero(store: Store, column: str) -> None:
    charge(store, SOMEBODY, Fraction(1))
    with store.write() as session:
        blocks = Blocks.load(session, np.array([0]))
        blocks[column][3] = -1
        with pytest.raises(NegativeBalanceError):
            blocks.save(session)


def full(store: Store, **amounts: int) -> None:
    """Everybody of the first block has these amounts in its columns, and 9 in the others."""
    columns = dict.fromkeys(COLUMNS, 9) | amounts
    charge(store, EVERYBODY, Fraction(1))
    whole = {name: np.full(BLOCK, each * 10**12) for name, each in columns.items()}
    _falsify(store, **{name: pack(balances)[0] for name, balances in whole.items()})


@pytest.mark.parametrize("drawn", [False, True])
@pytest.mark.parametrize("column", COLUMNS)
def test_every_rewrite_writes_the_minimum_of_the_block(
    store: Store, column: str, drawn: bool
) -> None:
    """It is the least of all columns, also of those that a charge does not change."""
    full(store, **{column: 2})
    refund(store, SOMEBODY, Fraction(1), drawn=drawn)
    changed = column == "spent" or (drawn and column == "drawn")
    assert lowest(store) == [10**12 if changed else 2 * 10**12]
    charge(store, SOMEBODY, Fraction(1))
    # Somebody else's charge, among whose blocks this one is rewritten as it was.
    _falsify(store, lowest=1)
    elsewhere = Membership((np.array([5 * BLOCK]),), 1)
    charge(store, elsewhere, Fraction(1), uploaded=100)
    assert lowest(store) == [(1 if drawn and column == "drawn" else 2) * 10**12, 0]


def test_a_column_that_was_never_written_is_one_of_zeros(store: Store) -> None:
    charge(store, EVERYBODY, Fraction(2))
    assert lowest(store) == [0]
    full(store)
    _falsify(store, carried_drawn=None)
    charge(store, EVERYBODY, Fraction(1))
    assert lowest(store) == [0]


def test_an_inspection_compares_the_minimum_with_the_balances(store: Store) -> None:
    charge(store, SOMEBODY, Fraction(1))
    assert inspect(store, CAP).misstated == 0
    _falsify(store, lowest=1)
    found = inspect(store, CAP)
    assert (found.misstated, found.sound) == (1, False)
    charge(store, Membership((np.array([5 * BLOCK]),), 1), Fraction(1))
    assert inspect(store, CAP).misstated == 1
    charge(store, SOMEBODY, Fraction(1))
    assert inspect(store, CAP).misstated == 0


def test_the_database_refuses_a_block_whose_minimum_is_below_zero(store: Store) -> None:
    charge(store, SOMEBODY, Fraction(1))
    with pytest.raises(IntegrityError):
        _falsify(store, lowest=-1)
    with pytest.raises(IntegrityError), store.write() as session:
        session.add(PersonBlockRow(number=7, spent=pack(np.zeros(BLOCK, np.int64))[0], lowest=-1))


def test_an_inspection_counts_balances_below_zero(store: Store) -> None:
    charge(store, SOMEBODY, Fraction(1))
    assert inspect(store, CAP).negative == 0
    balances = np.zeros(BLOCK, np.int64)
    balances[3] = -1
    _falsify(store, spent=pack(balances)[0])
    found = inspect(store, CAP)
    assert (found.negative, found.sound) == (1, False)


def _falsify(store: Store, **values: object) -> None:
    with store.write() as session:
        session.connection().execute(
            update(PersonBlockRow).where(col(PersonBlockRow.number) == 0).values(values)
        )
