"""Lots: who is drawn, and that one person changes no more lots than they may take part in."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom

from api.kinds.envy_freeness.participants import DrawnLots, draw_lots, spare_arms

SECRET = 99
# People's numbers are added to a secret, so that neighbouring secrets would draw alike.
SECRETS = np.random.default_rng(7).integers(2**62, size=600).tolist()


def rows(drawn: DrawnLots) -> dict[int, tuple[int, ...]]:
    """The people of each lot that runs, by its number."""
    return {
        int(lot): tuple(people)
        for lot, people in zip(drawn.lots, drawn.policies.tolist(), strict=True)
    }


def changed_lots(one: DrawnLots, other: DrawnLots) -> set[int]:
    before, after = rows(one), rows(other)
    return {lot for lot in {*before, *after} if before.get(lot) != after.get(lot)}


@pytest.mark.parametrize("each", [1, 2, 5, 10])
def test_a_person_is_a_target_once_and_takes_part_no_more_often_than_allowed(each: int) -> None:
    people = np.sort(np.random.default_rng(1).choice(10**9, 400, replace=False))
    drawn = draw_lots(people, 10, 20, each, SECRET)
    assert drawn.policies.shape == (10, 21)
    assert len(set(drawn.targets.tolist())) == 10
    assert all(len(set(row)) == 21 for row in drawn.policies.tolist())
    _, times = np.unique(drawn.policies, return_counts=True)
    assert times.max() <= each
    assert each == 1 or times.max() > 1


@given(
    numbers=st.sets(st.integers(0, 2**62), min_size=1, max_size=40),
    targets=st.integers(1, 8),
    arms=st.integers(1, 4),
    each=st.integers(1, 8),
    secret=st.integers(0, 2**63 - 1),
    data=st.data(),
)
def test_one_person_changes_no_more_lots_than_they_may_take_part_in(
    numbers: set[int], targets: int, arms: int, each: int, secret: int, data: st.DataObject
) -> None:
    each = min(each, targets)
    people = np.array(sorted(numbers))
    person = data.draw(st.sampled_from(sorted(numbers)))
    whole = draw_lots(people, targets, arms, each, secret)
    without = draw_lots(people[people != person], targets, arms, each, secret)
    assert len(changed_lots(whole, without)) <= each
    assert set(whole.targets.tolist()) <= numbers
    assert (np.bincount(whole.lots, minlength=1) <= 1).all()


def test_the_number_of_lots_that_one_person_changes_is_attained() -> None:
    people = np.arange(60)
    for each in (1, 3, 7):
        arms = 4 * each - 1
        whole = draw_lots(people, 12, arms, each, SECRET)
        most = max(
            len(changed_lots(whole, draw_lots(people[people != who], 12, arms, each, SECRET)))
            for who in people
        )
        assert most == each


def test_nobody_is_the_target_of_two_lots() -> None:
    """Few people in many lots, each of them in all: somebody would lead two but for the homes."""
    people = np.arange(12)
    for secret in SECRETS[:20]:
        targets = draw_lots(people, 8, 3, 8, secret).targets.tolist()
        assert len(set(targets)) == len(targets) > 0


def test_targets_are_uniform_and_short_lots_do_not_run() -> None:
    people = np.arange(6_000)
    for each in (1, 4):
        drawn = [draw_lots(people, 60, 5, each, secret).targets for secret in SECRETS[:40]]
        # 2,400 targets: each third of the people has 800 but for chance, 5.5 standard errors.
        thirds = np.bincount(np.concatenate(drawn) // 2_000, minlength=3)
        assert np.abs(thirds - 800).max() < 5.5 * np.sqrt(2_400 * 2 / 9)
    assert len(draw_lots(np.arange(30), 10, 5, 1, SECRET).targets) < 5
    assert draw_lots(np.empty(0, np.int64), 10, 5, 3, SECRET).policies.shape == (0, 6)


@pytest.mark.parametrize("each", [1, 2, 6])
def test_arms_are_uniform_among_the_others_of_each_target(each: int) -> None:
    """Also for people who are targets of other lots, whom nothing sets apart as arms."""
    people, arms = np.arange(40), 3
    served: Any = np.zeros((40, 40))
    for secret in SECRETS:
        drawn = draw_lots(people, 6, arms, each, secret)
        np.add.at(served, (drawn.targets[:, None], drawn.policies[:, 1:]), 1)
    assert (np.diagonal(served) == 0).all()
    # All pairs of a target and somebody else are equally likely.
    blocks = served.reshape(8, 5, 8, 5).sum(axis=(1, 3))
    pairs = np.where(np.eye(8, dtype=bool), 20, 25)
    expected = served.sum() * pairs / pairs.sum()
    # 64 blocks, each within 6.5 standard errors: fails by chance with a probability below 1e-8.
    assert (np.abs(blocks - expected) < 6.5 * np.sqrt(expected)).all()


@pytest.mark.parametrize("each", [1, 4, 20])
def test_the_envious_are_missed_no_more_often_than_the_rule_assumes(each: int) -> None:
    """Uncertified are envious targets, and lots without people: no fewer than by the binomial."""
    people, targets, share = np.arange(220), 20, 0.3
    envious = people < share * len(people)
    uncertified = []
    for secret in SECRETS:
        drawn = draw_lots(people, targets, 8, each, secret)
        uncertified.append(targets - len(drawn.lots) + int(envious[drawn.targets].sum()))
    # Up to mλ - 1, six standard errors: fails by chance with a probability below 1e-8.
    for count in range(int(targets * share)):
        allowed = binom.cdf(count, targets, share)
        found = np.mean(np.array(uncertified) <= count)
        assert found <= allowed + 6 * np.sqrt(max(allowed, 1e-3) / len(SECRETS))


def test_arms_to_spare_leave_the_promise_as_it_is() -> None:
    """However many of the others are envied, if they are more than gamma, by brute force."""
    for others, gamma in product((9, 20, 60), (0.1, 0.3, 0.6)):
        for arms, level in product(range(1, others), (0.1, 0.01)):
            spare = spare_arms(arms, gamma, level)
            envied = math.floor(gamma * others) + 1
            missed = hypergeom.cdf(spare, others, envied, arms)
            assert missed <= max(level, (1 - gamma) ** arms) + 1e-12
    assert spare_arms(75, 0.1, 0.05 / 123) == 0
    assert spare_arms(120, 0.1, 0.05 / 123) == 2
