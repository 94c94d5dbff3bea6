import math

import numpy as np
import pytest

from api.kinds.envy_freeness.algorithms.reward_validation import (
    replace_invalid_reward,
    replace_invalid_rewards,
)

CASES = [(0.0, 0.0), (1.0, 1.0), (0.3, 0.3), (-2.0, 0.0), (7.0, 1.0), (math.inf, 1.0)]


@pytest.mark.parametrize(("came", "counts"), [*CASES, (-math.inf, 0.0), (math.nan, 0.0)])
def test_rewards_are_cut_and_what_is_no_number_counts_as_nothing(
    came: float, counts: float
) -> None:
    found, bad = replace_invalid_rewards([came])
    assert found == [counts] == [replace_invalid_reward(came)]
    assert bad == [not 0 <= came <= 1]


def test_good_rewards_stay_as_they_are() -> None:
    rewards = np.linspace(0, 1, 11)
    found, bad = replace_invalid_rewards(rewards)
    assert found is rewards
    assert not bad.any()
