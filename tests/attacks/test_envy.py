"""What a certificate of envy-freeness tells of one person: as a target, and as an arm in lots."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from api.audits import AudienceFacts
from api.audits.envy import Terms
from api.audits.envy_freeness import EnvyFreeness, tallied
from api.audits.exploring import explore
from api.audits.taking_part import draw_lots, draw_shared
from privacy.price import ADD_REMOVE, CHANGE_ONE, Relation
from privacy.table import Table
from privacy.waist import DiscreteLaplace
from tests.attacks.advantage import advantage, allowed, margin
from tests.exploring import Notebook, Recommendations, asked
from tests.privacy_audit.estimate import epsilon_at_least

KIND = EnvyFreeness()
FACTS = AudienceFacts(("g0",), 1, None, members=400, consented=True)
TERMS = Terms(0.01, 0.3, 1.0, bounds="tight", ceiling=250)
RUNS, PEOPLE, SECRET = 2_000, 12, 5
Tables = dict[str, Any]


def tables(utilities: Any, people: Any, draw: Callable[..., Any]) -> Tables:
    policies = Recommendations(utilities)
    outcomes = explore(
        policies, Notebook(), TERMS, people, lambda who, s: draw(who, 3, 2, s), SECRET
    )
    return tallied(outcomes, 250)


def as_a_target() -> tuple[Tables, Tables]:
    """The first target's rewards: their own please them, or others'."""
    people = np.arange(PEOPLE)
    one = np.where(np.eye(PEOPLE, dtype=bool), 1.0, 0.0)
    other, target = one.copy(), draw_shared(people, 3, 2, SECRET).targets[0]
    other[target] = 1 - other[target]
    return tables(one, people, draw_shared), tables(other, people, draw_shared)


def as_an_arm() -> tuple[Tables, Tables]:
    """Somebody is there or not whom the target of their lot envies, and nobody else."""
    people = np.arange(PEOPLE)
    [lot, *_] = draw_lots(people, 3, 2, SECRET).policies
    utilities = np.where(np.eye(PEOPLE, dtype=bool), 0.5, 0.0)
    utilities[lot[0], lot[1]] = 1.0
    gone = people[people != lot[1]]
    return tables(utilities, people, draw_lots), tables(utilities, gone, draw_lots)


CASES = [
    pytest.param(as_a_target, None, CHANGE_ONE, id="rewards of a target"),
    pytest.param(as_an_arm, 1, ADD_REMOVE, id="an arm in a lot"),
]


def statistics(
    made: tuple[Tables, Tables], lots: int | None
) -> tuple[DiscreteLaplace, tuple[Any, Any]]:
    """Noisy counts along the way from the one to the other."""
    question = KIND.question(asked(epsilon="1", steps=250, arms_per_person=lots), FACTS)
    mechanism: Any = question["counts"]
    towards = np.sign(made[1]["counts"] - made[0]["counts"])
    tabled = [Table(mechanism.bounds, each["counts"]) for each in made]
    one, other = (
        np.array([mechanism.release(table) @ towards for _ in range(RUNS)]) for table in tabled
    )
    return mechanism, (one, other)


@pytest.mark.parametrize(("neighbours", "lots", "relation"), CASES)
def test_no_more_is_told_than_epsilon_allows(
    neighbours: Any, lots: int | None, relation: Relation
) -> None:
    mechanism, (one, other) = statistics(neighbours(), lots)
    claimed = float(mechanism.price.of("epsilon", relation))
    # False failure: 1e-7 for each look.
    assert advantage(one, other) <= allowed(claimed) + margin(RUNS)
    assert epsilon_at_least(one, other) <= claimed
    assert epsilon_at_least(other, one) <= claimed


@pytest.mark.parametrize(("neighbours", "lots", "relation"), CASES)
def test_without_noise_it_would_be_told(
    neighbours: Any, lots: int | None, relation: Relation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DiscreteLaplace, "noise", lambda self: np.zeros(self.bounds.shape, int))
    monkeypatch.setattr("tests.attacks.test_envy.RUNS", 50)
    _, (one, other) = statistics(neighbours(), lots)
    assert advantage(one, other) == 1
