import numpy as np
import pytest

from api.kinds.envy_freeness.algorithms import AuditSize, Terms, audit, exact, probabilistic
from api.kinds.envy_freeness.algorithms.audit_all import sample
from api.kinds.envy_freeness.algorithms.identical_people import group_rewards
from platform_sim.exploration.bandits import arms_of_people

SIZE = AuditSize(targets=5, arms=4, level=0.02)
TERMS = Terms(SIZE.level, 0.1, 0.5, bounds="tight")


def content(people: int) -> np.ndarray:
    return np.full((people, people), 0.2) + 0.6 * np.eye(people)


def test_arms_are_other_people_and_none_twice() -> None:
    targets, arms = sample(AuditSize(20, 19, 0.1), 20, np.random.default_rng(0))
    assert sorted(targets) == list(range(20))
    for target, others in zip(targets, arms, strict=True):
        assert sorted([target, *others]) == list(range(20))


def test_where_everybody_likes_their_own_the_platform_is_envy_free() -> None:
    rng = np.random.default_rng(1)
    found = audit(arms_of_people(content(30), rng), 30, SIZE, TERMS, rng)
    assert found.finding == "envy-free"
    assert found.outcomes.are("no-envy").all()
    assert found.arms.shape == (5, 4)


def test_the_first_envy_ends_the_audit_unless_everybody_is_to_end_alone() -> None:
    worse = 1 - content(30)
    for first_envy_ends in (True, False):
        rng = np.random.default_rng(2)
        found = audit(
            arms_of_people(worse, rng), 30, SIZE, TERMS, rng, first_envy_ends=first_envy_ends
        )
        assert found.finding == "not-envy-free"
        assert found.outcomes.are("running").any() == first_envy_ends


def test_at_the_ceiling_nothing_is_certified() -> None:
    rng = np.random.default_rng(3)
    terms = Terms(SIZE.level, 0.1, 0.5, bounds="tight", ceiling=50)
    found = audit(arms_of_people(np.full((30, 30), 0.5), rng), 30, SIZE, terms, rng)
    assert found.finding == "undecided"


def test_terms_weaker_than_the_size_promises_are_refused() -> None:
    rng = np.random.default_rng(4)
    with pytest.raises(ValueError, match=r"0\.00555"):
        audit(arms_of_people(content(9), rng), 9, exact(9, 0.05), Terms(0.05, 0.1, 0.5), rng)


def test_groups_are_audited_as_if_each_were_one() -> None:
    rng = np.random.default_rng(5)
    taste = np.repeat([0, 1, 2], 10)
    utilities = np.where(taste[:, None] == taste, 0.8, 0.2)
    members = [np.flatnonzero(taste == group) for group in range(3)]
    size = exact(3, 0.05)
    terms = Terms(size.level, 0.1, 0.5, bounds="tight")
    rewards = group_rewards(members, arms_of_people(utilities, rng), rng)
    assert audit(rewards, 3, size, terms, rng).finding == "envy-free"


def test_a_third_of_delta_is_shared_by_the_targets() -> None:
    size = probabilistic(500, 0.05, 0.1, 0.1)
    assert size.level * 3 * size.targets == pytest.approx(0.05)
