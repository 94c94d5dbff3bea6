"""Balances as a kind of audit reads them, on both databases, against what was charged."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from api.accounting import lifetime_caps as persons
from api.accounting.balance_blocks import BLOCK, Blocks
from api.accounting.balances import SpentBalances
from api.accounting.lifetime_caps import LifetimeDebit
from api.audits.pricing import price_plan
from api.db import AudienceRow, Store
from api.kernel.clock import EPOCH
from api.kernel.errors import InvalidBinsError, UnsupportedAuditError
from api.kinds.balance_histogram import BALANCES, BalanceHistogram
from api.kinds.context import in_process_context
from api.kinds.registry import AudienceFacts
from api.operations.reconciliation import inspect
from api.platforms.interfaces import Persons, Platform
from openapi.resources import BalanceHistogramRequest
from privacy.tables.membership import Membership
from privacy.tables.price import ADD_REMOVE, CHANGE_ONE
from privacy.waist import price

CAP = Fraction(10)
KIND = BalanceHistogram()


def group(*numbers: int) -> Membership:
    return Membership((np.array(numbers, np.int64),), 1)


def test_what_is_read_is_what_uploads_took_without_the_audits_own_charge(store: Store) -> None:
    with store.write() as session:
        persons.charge(session, [LifetimeDebit(group(1, 2, 3), Fraction(2))], CAP)
        persons.charge(session, [LifetimeDebit(group(2, 3, 5_000), Fraction(1))], CAP)
        persons.charge(session, [LifetimeDebit(group(3, 4), Fraction(3), drawn=True)], CAP)
        persons.charge(session, [LifetimeDebit(group(1, 5_000), Fraction(4), drawn=True)], CAP)
        persons.refund(session, LifetimeDebit(group(1, 5_000), Fraction(4), drawn=True))
    everyone = np.array([1, 2, 3, 4, 5_000, 9_999_999], np.int64)
    shares = SpentBalances(store, Fraction(0), CAP).shares(everyone)
    assert shares.tolist() == [0.2, 0.3, 0.3, 0.0, 0.1, 0.0]
    # Without one of rho that this audit took itself; never less than nothing.
    own = SpentBalances(store, Fraction(1), CAP).shares(everyone)
    assert own.tolist() == [0.1, 0.2, 0.2, 0.0, 0.0, 0.0]
    assert SpentBalances(store, Fraction(0), CAP).shares(np.empty(0, np.int64)).tolist() == []


@pytest.mark.parametrize(("source", "taken"), [("upload", "spent"), ("sample", "drawn")])
def test_an_audit_leaves_out_its_own_charge_wherever_it_was_written(
    store: Store, source: str, taken: str
) -> None:
    drawn = taken == "drawn"
    person = 8_000 + drawn
    with store.write() as session:
        persons.charge(session, [LifetimeDebit(group(person), Fraction(3))], CAP)
        persons.charge(session, [LifetimeDebit(group(person), Fraction(2), drawn=drawn)], CAP)
    facts = AudienceFacts(("g0",), 1, None, fixed_slots=drawn)
    # Under change-one this epsilon costs 2 of rho.
    shown = price_plan(KIND.plan(request(epsilon="1"), facts), "rho")
    audience = AudienceRow(
        id="a",
        auditor_id="lab",
        researcher_id="ada",
        state="sealed",
        source=source,
        groups_per_person=1,
        created_at=EPOCH,
        expires_at=EPOCH,
    )
    read = SpentBalances.as_of_charge(store, shown, audience, CAP)
    assert read.shares(np.array([person], np.int64)).tolist() == [0.3]


def test_what_samples_took_counts_towards_the_cap(store: Store) -> None:
    with store.write() as session:
        persons.charge(session, [LifetimeDebit(group(70_001), Fraction(9), drawn=True)], CAP)
        [[able]] = persons.charge(session, [LifetimeDebit(group(70_001, 70_002), Fraction(2))], CAP)
        assert able is not None
        assert able.tolist() == [False, True]
        # The carried balance keeps the part that samples debited.
        persons.carry_over(session, group(70_001), [np.array([9 * 10**12])])
        blocks = Blocks.load(session, np.array([70_001 // BLOCK]))
        positions = blocks.locate(np.array([70_001]))
        assert (
            int(blocks["drawn"][positions][0]) == int(blocks["spent"][positions][0]) == 9 * 10**12
        )
    assert inspect(store, CAP).above_cap == 0


def request(**changes: Any) -> BalanceHistogramRequest:
    plain = {
        "kind": "balance-histogram",
        "audience_id": "audience_" + "0" * 30,
        "bins": {"edges": [0, 0.1, 0.3, 0.9]},
        "epsilon": "1",
    }
    return BalanceHistogramRequest.model_validate(plain | changes)


class Tenths:
    """Person n has borne n tenths of the cap."""

    def shares(self, persons: Persons) -> NDArray[np.float64]:
        return np.asarray(persons / 10)


@pytest.mark.parametrize("k", [1, 2])
def test_everybody_is_in_one_cell_of_each_of_their_groups(k: int) -> None:
    membership = Membership.from_groups(
        [np.array([0, 1, 2, 3, 9, 10]), np.array([2, 4, 10, 10])], k
    )
    facts = AudienceFacts(("g0", "g1"), k, None)
    plan = KIND.plan(request(), facts)
    platform = Platform("p", people=None)  # type: ignore[arg-type]
    context = in_process_context(platform, balances=Tenths())
    table = KIND.reduce(request(), plan, [], membership, context)[BALANCES]
    # The last bin is closed: 0.9 is in it, and 1 is outside.
    both = [[1, 2, 2, 1], [0, 1, 1, 1]]
    assert table.cells.tolist() == (both if k == 2 else [both[0], [0, 0, 1, 0]])
    fields = KIND.present(request(), facts, (), {BALANCES: table.cells})
    first = fields["groups"][0]
    assert (first.label, first.counts, first.outside) == ("g0", [1, 2, 2], 1)


def test_the_price_is_epsilon_and_twice_that_when_one_person_changes() -> None:
    facts = AudienceFacts(("g0", "g1"), 1, None)
    cost = price(KIND.plan(request(epsilon="0.5"), facts))
    assert cost.amount("epsilon", ADD_REMOVE) == Fraction(1, 2)
    assert cost.amount("epsilon", CHANGE_ONE) == 1
    drawn = AudienceFacts(("g0", "g1"), 1, (5, 5), fixed_slots=True)
    wide, narrow = (KIND.plan(request(), each)[BALANCES] for each in (drawn, facts))
    assert wide.scale >= 2 * narrow.scale * 0.999
    assert price(KIND.plan(request(), drawn)) == price(KIND.plan(request(), facts))


def test_only_a_worker_has_balances() -> None:
    facts = AudienceFacts(("g0",), 1, None)
    platform = Platform("p", people=None)  # type: ignore[arg-type]
    with pytest.raises(UnsupportedAuditError):
        KIND.reduce(
            request(), KIND.plan(request(), facts), [], group(1), in_process_context(platform)
        )
    with pytest.raises(InvalidBinsError):
        KIND.check(request(bins={"edges": [0.2, 0.1]}), facts, platform)
