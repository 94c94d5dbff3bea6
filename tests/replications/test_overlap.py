import math

import numpy as np
import pytest
from scipy import special, stats

from auditor_client import InputError
from replications.paper_5 import overlap
from tests.refusals import refuses


def test_two_groups_err_far_less_often_than_five_percent() -> None:
    z = 1.959963985
    # |θ̂₁ - θ̂₂| > 2zs, the difference having the standard deviation √2·s
    expected = 2 * special.ndtr(-2 * z / math.sqrt(2))
    assert overlap.error_rate([1.0, 1.0]) == pytest.approx(expected, rel=1e-6)
    assert expected == pytest.approx(0.005575, abs=1e-6)


@pytest.mark.parametrize("groups", [3, 6])
def test_groups_of_equal_precision_follow_the_studentised_range(groups: int) -> None:
    expected = stats.studentized_range.sf(2 * 1.959963985, groups, 1e8)
    assert overlap.error_rate([2.5] * groups) == pytest.approx(expected, rel=1e-5)


def test_groups_of_unequal_precision_agree_with_simulation() -> None:
    errors = [1.0, 0.02, 0.5, 3.0]
    simulated = overlap.dependent_error_rate(np.diag(np.square(errors)))
    # A binomial share of 100,000: 5.5 of its standard deviations
    exact = overlap.error_rate(errors)
    assert abs(simulated - exact) < 5.5 * math.sqrt(exact / 100_000)
    assert exact > overlap.error_rate([1.0, 1.0, 1.0, 1.0])


def test_the_paper_s_96_percent() -> None:
    assert overlap.error_rate([1.0] * 6, 0.96) < overlap.error_rate([1.0] * 6, 0.95)


def test_the_rule() -> None:
    together = overlap.overlap([0.1, 0.2, 0.25], [0.3, 0.4, 0.5])
    assert (together.overlap, together.apart, together.severity) == (True, 0.0, "low")
    apart = overlap.overlap([0.1, 0.2, 0.35], [0.3, 0.4, 0.5])
    assert not apart.overlap
    assert apart.apart == pytest.approx(0.05)
    assert apart.severity == "high"
    assert 0 < apart.error_rate < 0.05


def test_intervals_must_be_intervals() -> None:
    with refuses(InputError, "few-groups"):
        overlap.overlap([0.1], [0.2])
    with refuses(InputError, "few-groups"):
        overlap.overlap([0.3, 0.1], [0.2, 0.2])
    with pytest.raises(InputError, match="confidence"):
        overlap.error_rate([1.0, 1.0], 1.0)
