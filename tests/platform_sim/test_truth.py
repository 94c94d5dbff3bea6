import numpy as np
import pytest

from platform_sim import SOFTWARE_JOB, Bias, SimulatedPlatform, true_gap
from platform_sim.truth import true_shares


def test_shares_of_a_group_sum_to_one(fair: SimulatedPlatform) -> None:
    edges = np.linspace(0, 1, 8)
    shares = true_shares(fair, SOFTWARE_JOB, "race", ("white", "black", "api"), edges)
    assert shares.shape == (3, 7)
    assert np.allclose(shares.sum(axis=1), 1)


def test_gap_is_one_when_groups_never_meet(fair: SimulatedPlatform) -> None:
    apart = SimulatedPlatform(fair.world, Bias("gender", {"woman": -1.0, "man": 1.0}))
    edges = [0, 0.5, 1]
    assert true_gap(apart, SOFTWARE_JOB, "gender", ("woman", "man"), edges) == 1
    assert true_gap(apart, SOFTWARE_JOB, "gender", ("woman", "woman"), edges) == 0


def test_political_content_reaches_its_side(fair: SimulatedPlatform) -> None:
    content = {"kind": "political", "title": "Vote for union rights", "text": "", "image": None}
    edges = np.linspace(0, 1, 6)
    assert true_gap(fair, content, "politics", ("left", "right"), edges) > 0.2


def test_a_group_of_nobody_has_no_gap(fair: SimulatedPlatform) -> None:
    nobody = np.zeros(fair.world.people, bool)
    with pytest.raises(ValueError, match=r"\bgender\b.*\bwoman\b"):
        true_gap(fair, SOFTWARE_JOB, "gender", ("woman", "man"), [0, 1], nobody)
