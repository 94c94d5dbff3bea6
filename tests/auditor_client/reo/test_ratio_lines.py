"""The four-fifths rule as lines for the penalty."""

import numpy as np
import pytest

from auditor_client import reo
from auditor_client.errors import InputError


def test_for_two_groups_there_is_one_line_at_a_ninth() -> None:
    found = reo.four_fifths(2)
    assert found.holds == pytest.approx(1 / 9)
    assert found.broken == pytest.approx(1 / 9)


@pytest.mark.parametrize("groups", [3, 4, 7])
def test_for_more_groups_utilities_between_the_lines_go_either_way(groups: int) -> None:
    found = reo.four_fifths(groups)
    rng = np.random.default_rng(groups)
    u = np.hstack([rng.uniform(0.7, 1, (200_000, groups - 1)), np.ones((200_000, 1))])
    penalty, keeps = u.std(axis=1) / u.mean(axis=1), u.min(axis=1) >= 0.8
    assert found.holds < found.broken
    assert penalty[~keeps].min() >= found.holds
    assert penalty[keeps].max() <= found.broken
    # The lines are no further apart than they must be.
    rest = (1 + 0.64) / 1.8
    closest = np.array([0.8, 1.0, *[rest] * (groups - 2)])
    assert closest.std() / closest.mean() == pytest.approx(found.holds)
    corners = [np.array([0.8] * j + [1.0] * (groups - j)) for j in range(1, groups)]
    assert max(one.std() / one.mean() for one in corners) == pytest.approx(found.broken)


def test_nonsense_is_refused() -> None:
    for groups, ratio in ((1, 0.8), (2, 1.0), (2, 0.0)):
        with pytest.raises(InputError):
            reo.four_fifths(groups, ratio)
