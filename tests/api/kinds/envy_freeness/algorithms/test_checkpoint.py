"""A fleet that is written down and taken up goes on as if nothing had happened."""

from typing import Any

import numpy as np
import pytest

from api.kinds.envy_freeness.algorithms import Fleet, Terms, make_fleet
from api.kinds.envy_freeness.algorithms.checkpoint import (
    arrays_of,
    pack_state,
    restore_state,
    unpack_state,
)
from platform_sim.exploration.bandits import PROBLEMS


def play(fleet: Fleet[Any], until: int) -> None:
    """Rewards and draws depend on step and target alone, not on other running targets."""
    while fleet.step < until and len(fleet.people):
        rng = np.random.default_rng([7, fleet.step])
        arms = fleet.ask(rng.random(9)[fleet.people])
        chance = rng.random((9, fleet.block))[fleet.people]
        fleet.tell(chance < PROBLEMS[4][arms][:, None])


# Beyond 1,024 steps the printed widths are computed anew.
@pytest.mark.parametrize(
    ("bounds", "pause", "ceiling"), [("printed", 1100, 1200), ("tight", 80, 300)]
)
def test_nothing_is_lost_between_two_blocks(bounds: Any, pause: int, ceiling: int) -> None:
    terms = Terms(0.1, 0.4, 0.5, bounds=bounds, ceiling=ceiling)
    through, begun, taken_up = (make_fleet(terms, 9, 9) for _ in range(3))
    play(through, ceiling)
    play(begun, pause)
    assert len(begun.people)
    restore_state(taken_up, unpack_state(pack_state(arrays_of(begun))))
    play(taken_up, ceiling)
    whole, found = arrays_of(through), arrays_of(taken_up)
    assert whole.keys() == found.keys()
    assert all(np.array_equal(whole[name], found[name]) for name in whole)


def test_no_object_is_written_or_read() -> None:
    with pytest.raises(ValueError, match="pickle"):
        pack_state({"anything": np.array([object()])})
