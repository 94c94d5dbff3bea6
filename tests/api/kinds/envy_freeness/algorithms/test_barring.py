"""Arms that are barred are shown to nobody any more, and decide nothing."""

import numpy as np
import pytest

from api.kinds.envy_freeness.algorithms import BatchOutcomes, Terms, make_fleet
from api.kinds.envy_freeness.algorithms.terms import Bounds

BOTH = pytest.mark.parametrize("bounds", ["printed", "tight"])
TARGETS, ARMS = 3, 4


def asked(
    bounds: Bounds, means: list[float], barred: dict[int, list[int]], steps: int
) -> tuple[BatchOutcomes, set[tuple[int, int]]]:
    """A fleet, of which some arms are barred after 40 steps; which pairs were asked for after."""
    rng = np.random.default_rng(7)
    fleet = make_fleet(Terms(0.05, 0.2, 0.9, bounds=bounds, ceiling=steps), ARMS, TARGETS)
    shown: set[tuple[int, int]] = set()
    while len(fleet.people):
        if fleet.step == 40:
            flags = np.zeros((TARGETS, ARMS), bool)
            for target, gone in barred.items():
                flags[target, np.array(gone) - 1] = True
            fleet.bar(flags[fleet.people])
            assert not (fleet.active & flags[fleet.people]).any()
        if not len(fleet.people):
            break
        arms = fleet.ask(rng.random(len(fleet.people)))
        if fleet.step >= 40:
            shown |= set(zip(fleet.people.tolist(), arms.tolist(), strict=True))
        chances = np.array(means)[np.repeat(arms, fleet.block)]
        fleet.tell(rng.random(len(chances)) < chances)
    return fleet.outcomes, shown


@BOTH
def test_a_barred_arm_is_asked_for_no_more_and_others_are(bounds: Bounds) -> None:
    _, shown = asked(bounds, [0.5] * (ARMS + 1), {1: [2, 3]}, steps=400)
    everything = {(target, arm) for target in range(TARGETS) for arm in range(ARMS + 1)}
    assert shown == everything - {(1, 2), (1, 3)}


@BOTH
def test_who_has_no_arm_left_has_ended(bounds: Bounds) -> None:
    outcomes, shown = asked(bounds, [0.5] * (ARMS + 1), {0: [1, 2, 3, 4]}, steps=400)
    assert outcomes.steps.tolist() == [40, 400, 400]
    assert outcomes.verdicts == ["no-envy", "undecided", "undecided"]
    assert {target for target, _ in shown} == {1, 2}


@BOTH
def test_only_a_barred_arm_was_envied(bounds: Bounds) -> None:
    """With the one arm that is better all targets would have been in envy."""
    outcomes, _ = asked(bounds, [0.2, 0.2, 0.7, 0.2, 0.2], {0: [2]}, steps=6000)
    assert (outcomes.steps > 40).all()
    assert outcomes.verdicts[0] != "envy"
    assert outcomes.verdicts[1:] == ["envy", "envy"]
