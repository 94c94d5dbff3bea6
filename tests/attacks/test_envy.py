"""The information of an envy certificate about one person, as a target and as an arm."""

from typing import Any

import numpy as np
import pytest

from api.kinds.envy_freeness import EnvyFreeness, tallied
from api.kinds.envy_freeness.algorithms import Terms
from api.kinds.envy_freeness.exploration import explore
from api.kinds.envy_freeness.participants import DrawnLots, draw_lots
from api.kinds.registry import AudienceFacts
from privacy.tables.bounded_table import Table
from privacy.tables.price import ADD_REMOVE, CHANGE_ONE, Relation
from privacy.waist import DiscreteLaplace
from tests.attacks.advantage import advantage, allowed, margin
from tests.exploring import Notebook, Recommendations, asked
from tests.privacy_audit.estimate import epsilon_at_least

KIND = EnvyFreeness()
FACTS = AudienceFacts(("g0",), 1, None, members=400, consented=True)
TERMS = Terms(0.01, 0.3, 1.0, bounds="tight", ceiling=250)
RUNS, PEOPLE, SECRET = 2_000, 12, 5
Tables = dict[str, Any]


def lots(people: Any, each: int) -> DrawnLots:
    return draw_lots(people, 3, 2, each, SECRET)


def tables(utilities: Any, people: Any, each: int) -> Tables:
    policies = Recommendations(utilities)
    outcomes = explore(policies, Notebook(), TERMS, people, lambda who, _: lots(who, each), SECRET)
    return tallied(outcomes, 250)


def as_a_target(each: int) -> tuple[Tables, Tables]:
    """The first target's rewards: their own please them, or others'."""
    people = np.arange(PEOPLE)
    one = np.where(np.eye(PEOPLE, dtype=bool), 1.0, 0.0)
    other, target = one.copy(), lots(people, each).targets[0]
    other[target] = 1 - other[target]
    return tables(one, people, each), tables(other, people, each)


def as_an_arm(each: int) -> tuple[Tables, Tables]:
    """Somebody is there or not whom all targets envy whose arm they are, and nobody else."""
    people = np.arange(PEOPLE)
    drawn = lots(people, each)
    arms, times = np.unique(drawn.policies[:, 1:], return_counts=True)
    often = arms[(times == each) & ~np.isin(arms, drawn.targets)]
    utilities = np.where(np.eye(PEOPLE, dtype=bool), 0.5, 0.0)
    utilities[:, often[0]] = 1.0
    gone = people[people != often[0]]
    return tables(utilities, people, each), tables(utilities, gone, each)


CASES = [
    pytest.param(as_a_target, 1, CHANGE_ONE, id="rewards of a target"),
    pytest.param(as_an_arm, 1, ADD_REMOVE, id="an arm of one target"),
    pytest.param(as_an_arm, 2, ADD_REMOVE, id="an arm of two targets"),
]


def statistics(made: tuple[Tables, Tables], each: int) -> tuple[DiscreteLaplace, tuple[Any, Any]]:
    """Noisy counts along the way from the one to the other."""
    plan = KIND.plan(asked(epsilon="1", steps=250, arms_per_person=each), FACTS)
    mechanism: Any = plan["counts"]
    towards = np.sign(made[1]["counts"] - made[0]["counts"])
    tabled = [Table(mechanism.bounds, each["counts"]) for each in made]
    one, other = (
        np.array([mechanism.release(table) @ towards for _ in range(RUNS)]) for table in tabled
    )
    return mechanism, (one, other)


@pytest.mark.parametrize(("neighbours", "each", "relation"), CASES)
def test_no_more_is_revealed_than_epsilon_allows(
    neighbours: Any, each: int, relation: Relation
) -> None:
    mechanism, (one, other) = statistics(neighbours(each), each)
    claimed = float(mechanism.price.amount("epsilon", relation))
    # False failure: 1e-7 for each look.
    assert advantage(one, other) <= allowed(claimed) + margin(RUNS)
    assert epsilon_at_least(one, other) <= claimed
    assert epsilon_at_least(other, one) <= claimed


@pytest.mark.parametrize(("neighbours", "each", "relation"), CASES)
def test_without_noise_it_would_be_revealed(
    neighbours: Any, each: int, relation: Relation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DiscreteLaplace, "noise", lambda self: np.zeros(self.bounds.shape, int))
    monkeypatch.setattr("tests.attacks.test_envy.RUNS", 50)
    _, (one, other) = statistics(neighbours(each), each)
    assert advantage(one, other) == 1
