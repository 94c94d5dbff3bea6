"""The sensitivity of a certificate's tables: one person reaches the priced bound, never more.

Worlds are without noise, and the secret that draws the lots is the same on both sides: what differs
is one person. `docs/explanation/envy.md` has the proof that these tests attain.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.kernel.errors import UnsupportedAuditError
from api.kinds.context import in_process_context
from api.kinds.envy_freeness import EnvyFreeness, tallied
from api.kinds.envy_freeness.algorithms import BatchOutcomes, Terms
from api.kinds.envy_freeness.exploration import explore
from api.kinds.envy_freeness.participants import DrawnLots, draw_lots
from api.kinds.registry import AudienceFacts
from api.platforms.interfaces import Platform
from privacy.plans.envy_freeness import COST_UNIT
from privacy.tables.bounded_table import Bounds, Reach
from privacy.tables.membership import Membership
from tests.exploring import Notebook, Recommendations, asked

KIND = EnvyFreeness()
FACTS = AudienceFacts(("g0",), 1, None, members=400, consented=True)
STEPS, LOTS, ARMS, PEOPLE, SECRET = 250, 60, 5, 480, 5
TERMS = Terms(0.01, 0.3, 1.0, bounds="tight", ceiling=STEPS)
# So few steps hardly decide by these: targets whose arms are alike take all of them.
UNDECIDED = Terms(0.01, 0.3, 1.0, bounds="printed", ceiling=STEPS)
EVERYBODY = np.arange(PEOPLE)
Tables = Mapping[str, Any]


def drawn(people: Any, each: int, arms: int = ARMS) -> DrawnLots:
    return draw_lots(np.sort(people), LOTS, arms, each, SECRET)


def tables(policies: Recommendations, lots: DrawnLots, terms: Terms = TERMS) -> Tables:
    """The tables without noise, of lots that were drawn."""
    everybody = np.arange(len(policies.utilities))
    outcomes = explore(policies, Notebook(), terms, everybody, lambda *_: lots, SECRET)
    return tallied(outcomes, STEPS)


def moved(one: Tables, other: Tables, name: str) -> Reach:
    far = np.abs(one[name] - other[name])
    return Reach(int(far.sum()), int((far**2).sum()), int(far.max()))


def bounds_of(each: int, *, sampled: bool) -> dict[str, Bounds]:
    request = asked(targets=LOTS, arms=ARMS, steps=STEPS, arms_per_person=each)
    plan = KIND.plan(request, replace(FACTS, fixed_slots=sampled))
    return {name: mechanism.bounds for name, mechanism in plan.items()}


def lots_of(person: int, lots: DrawnLots) -> set[int]:
    """The numbers of the lots in which a person takes part."""
    return set(lots.lots[(lots.policies == person).any(axis=1)].tolist())


def crowd(each: int) -> Any:
    """Return just enough people, so lots are hardly larger than necessary."""
    return EVERYBODY[: PEOPLE // each]


def apart(each: int, number: int) -> list[int]:
    """People who are arms of as many lots as they may be, and no two of them in one lot.

    All of their lots run without them as well.
    """
    everybody = crowd(each)
    whole, found, taken = drawn(everybody, each), list[int](), set[int]()
    for person in np.setdiff1d(everybody, whole.targets).tolist():
        lots, without = lots_of(person, whole), drawn(everybody[everybody != person], each)
        if len(lots) == each and not lots & taken and lots <= set(without.lots.tolist()):
            found.append(person)
            taken |= lots
    assert len(found) >= number
    return found[:number]


def opposed(before: DrawnLots, after: DrawnLots) -> Recommendations:
    """A world in which lots whose arms differ end in envy before, and without envy after."""
    utilities = np.where(np.eye(PEOPLE, dtype=bool), 0.5, 0.0)
    rows = {int(lot): row for lot, row in zip(after.lots, after.policies, strict=True)}
    for lot, row in zip(before.lots, before.policies, strict=True):
        utilities[row[0], np.setdiff1d(row, rows[int(lot)])] = 1.0
    return Recommendations(utilities)


def test_one_person_of_thirty_decided_the_verdict_of_all_others() -> None:
    """By the exact criterion one person's presence moved the counts from (0, 29) to (29, 1)."""
    utilities = np.where(np.eye(30, dtype=bool), 0.5, 0.0)
    utilities[:, 7] = 1.0
    people = np.arange(30)
    everybody = np.array([[who, *np.delete(people, who)] for who in people])
    policies, terms = Recommendations(utilities), replace(TERMS, ceiling=1_000)
    found = []
    for there in (everybody, np.array([row[row != 7] for row in np.delete(everybody, 7, 0)])):
        lots = DrawnLots(there, np.arange(len(there)))
        found.append(tables(policies, lots, terms)["counts"].tolist())
    assert found == [[29, 1], [0, 29]]


@pytest.mark.parametrize(
    "changes",
    [
        {"criterion": "exact", "gamma": None, "lam": None, "targets": 30, "arms": 29},
        {"targets": 12, "arms": 17},
    ],
    ids=["everybody", "shared arms"],
)
def test_such_an_audit_is_neither_taken_on_nor_run(changes: dict[str, Any]) -> None:
    """Also where it was charged by an earlier version and waits."""
    request = asked(**changes, arms_per_person=None)
    people: Any = None
    platform = Platform("test", people, policies=Recommendations(np.eye(30)))
    facts = replace(FACTS, members=30)
    with pytest.raises(UnsupportedAuditError):
        KIND.check(request, facts, platform)
    with pytest.raises(UnsupportedAuditError):
        KIND.plan(request, facts)
    context = in_process_context(platform, journal=Notebook())
    with pytest.raises(UnsupportedAuditError):
        KIND.reduce(request, {}, [], Membership((np.arange(30),), 1), context)


@pytest.mark.parametrize("each", [1, 2, 4])
@pytest.mark.parametrize(
    ("sampled", "relation", "left", "came"),
    [
        (False, "added", 1, 0),
        (False, "changed", 1, 1),
        (True, "added", 1, 1),
        (True, "changed", 2, 2),
    ],
    ids=["one removed", "one replaced", "one displaced", "one replaced in a sample of two groups"],
)
def test_one_person_moves_counts_as_far_as_is_priced(
    each: int, sampled: bool, relation: str, left: int, came: int
) -> None:
    """In a sample one who goes lets another in; one who changes groups does so in both."""
    people = apart(each, left + came)
    before = drawn(np.setdiff1d(crowd(each), people[left:]), each)
    after = drawn(np.setdiff1d(crowd(each), people[:left]), each)
    world = opposed(before, after)
    far = moved(tables(world, before), tables(world, after), "counts")
    assert far == getattr(bounds_of(each, sampled=sampled)["counts"], relation)


@pytest.mark.parametrize("each", [1, 2, 4])
def test_one_person_moves_the_sum_of_steps_as_far_as_is_priced(each: int) -> None:
    """Without them none of their lots has people enough to run."""
    [person] = apart(each, 1)
    kept = crowd(each)
    for other in kept[kept != person].tolist():
        fewer = kept[kept != other]
        if len(lots_of(person, drawn(fewer, each))) == each:
            kept = fewer
    alike = Recommendations(np.full((PEOPLE, PEOPLE), 0.5))
    one, other = drawn(kept, each), drawn(kept[kept != person], each)
    far = moved(tables(alike, one, UNDECIDED), tables(alike, other, UNDECIDED), "duration")
    assert far == bounds_of(each, sampled=False)["duration"].added
    assert far.l1 == each * STEPS


def test_one_person_moves_the_cost_almost_as_far_as_is_priced() -> None:
    """A target who loses by all that they are shown goes, and the next one gains by all of it."""
    arms = 30
    whole = draw_lots(EVERYBODY, 4, arms, 1, SECRET)
    person = int(whole.targets[0])
    other = draw_lots(EVERYBODY[person != EVERYBODY], 4, arms, 1, SECRET)
    utilities = np.full((PEOPLE, PEOPLE), 0.5)
    for target, own in ((person, 1.0), (int(other.targets[0]), 0.0)):
        utilities[target] = 1 - own
        utilities[target, target] = own
    world, terms = Recommendations(utilities), replace(UNDECIDED, delta=0.1, epsilon=0.4)
    far = moved(tables(world, whole, terms), tables(world, other, terms), "cost")
    priced = bounds_of(1, sampled=False)["cost"].added
    assert priced.l1 == 2 * COST_UNIT * STEPS
    # Own recommendations are pulled as often as one arm of thirty.
    assert 0.9 * priced.l1 <= far.l1 <= priced.l1


def test_the_cost_of_one_lot_is_clipped_to_what_is_priced() -> None:
    """Whatever an adapter says, in a lot that one person turns round."""
    gain, loss = (
        BatchOutcomes(
            np.zeros(1, np.int8),
            np.array([STEPS]),
            np.array([[1, 10 * STEPS]]),
            np.array([[own, 10.0 * STEPS * (1 - own)]]),
            np.zeros(1, np.int64),
        )
        for own in (0.0, 1.0)
    )
    far = moved(tallied(gain, STEPS), tallied(loss, STEPS), "cost")
    assert far == bounds_of(1, sampled=False)["cost"].added


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_one_person_never_moves_tables_further_than_is_priced(data: st.DataObject) -> None:
    """Removed, replaced, with other data, or withdrawn meanwhile; with lots that hardly run."""
    each = data.draw(st.integers(1, 6))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    people = rng.choice(PEOPLE, data.draw(st.integers(2, 90)), replace=False)
    person, stranger = int(people[0]), int(np.setdiff1d(EVERYBODY, people)[0])
    world = Recommendations(rng.choice([0.02, 0.5, 0.98], (PEOPLE, PEOPLE)))
    lots = draw_lots(np.sort(people), 6, ARMS, each, SECRET)
    before = tables(world, lots)
    what = data.draw(st.sampled_from(["removed", "displaced", "changed", "withdrawn"]))
    sampled, after = what == "displaced", lots
    if what in ("removed", "displaced"):
        others = np.append(people[1:], stranger) if sampled else people[1:]
        after = draw_lots(np.sort(others), 6, ARMS, each, SECRET)
    elif what == "changed":
        world = Recommendations(world.utilities)
        world.utilities[person] = 1 - world.utilities[person]
        world.utilities[:, person] = 1 - world.utilities[:, person]
    else:
        world = Leaving(world.utilities, person, data.draw(st.integers(1, 4)))
    with patch("api.kinds.envy_freeness.exploration.BATCH_STEPS", 50):
        found = tables(world, after)
    for name, bounds in bounds_of(each, sampled=sampled).items():
        far = moved(before, found, name)
        assert far.l1 <= bounds.added.l1
        assert far.l2_squared <= bounds.added.l2_squared
        assert far.linf <= bounds.added.linf


class Leaving(Recommendations):
    """One person withdraws before a batch, the first one being number 1."""

    def __init__(self, utilities: Any, person: int, batch: int) -> None:
        super().__init__(utilities)
        self.person, self.batch, self.asked = person, batch, 0

    def consenting(self, persons: Any) -> Any:
        self.asked += 1
        return (persons != self.person) | (self.asked < self.batch)
