import numpy as np

from api.kinds.envy_freeness.algorithms import TermsError
from api.kinds.envy_freeness.algorithms.batch import Ints
from api.kinds.envy_freeness.algorithms.identical_people import group_rewards
from tests.refusals import refuses


def test_a_member_is_drawn_on_either_side() -> None:
    asked: list[tuple[Ints, Ints]] = []

    def rewards(people: Ints, policies: Ints) -> list[float]:
        asked.append((people, policies))
        return [0.5] * len(people)

    members = [np.array([3, 7]), np.array([5]), np.array([1, 2, 4])]
    of = group_rewards(members, rewards, np.random.default_rng(0))
    assert of(np.repeat([0, 1, 2], 200), np.repeat([1, 2, 0], 200)) == [0.5] * 600
    ((people, policies),) = asked
    # A member is missed in 200 draws with probability at most 3 (2/3)^200 < 1e-34.
    assert set(people[:200]) == {3, 7} == set(policies[400:])
    assert set(people[400:]) == {1, 2, 4} == set(policies[200:400])
    assert set(people[200:400]) == {5} == set(policies[:200])


def test_a_group_of_nobody_is_refused() -> None:
    with refuses(TermsError, "no-members"):
        group_rewards([np.array([1]), np.array([], int)], lambda a, b: a, np.random.default_rng(0))
