"""Bootstrap and partitions against the delta method, away from zero."""

import pytest

from auditor_client import reo
from auditor_client.errors import InputError
from replications.paper_4 import resampling
from tests.refusals import refuses

N = 150_000
ONE = ({"a": 0.3 * N, "b": 0.3 * N}, {"a": 0.2 * N, "b": 0.25 * N}, N, N)
BOTH = ({"a": 0.33 * N, "b": 0.3 * N}, *ONE[:2], N, N, N)


@pytest.mark.parametrize("method", ["standard", "bca"])
@pytest.mark.parametrize("groups", [2, 3])
def test_bootstrap_intervals_are_as_wide_as_ours(method: resampling.Method, groups: int) -> None:
    shown = {name: share * N for name, share in zip("abc"[:groups], (0.2, 0.2, 0.1), strict=False)}
    probed = {
        name: share * N for name, share in zip("abc"[:groups], (0.12, 0.18, 0.1), strict=False)
    }
    ours = reo.penalty(shown, probed, N, N)
    theirs = resampling.bootstrap(shown, probed, N, N, repetitions=20_000, method=method, seed=1)
    assert theirs.value == pytest.approx(ours.penalty)
    # The quantiles of 20,000 repetitions are off by about 1 %.
    assert ours.high - ours.low == pytest.approx(theirs.high - theirs.low, rel=0.05)
    assert theirs.se == pytest.approx(ours.se, rel=0.05)
    assert abs(theirs.bias) < 0.1 * ours.se


def test_the_bootstrap_of_a_difference_carries_the_shared_traffic() -> None:
    ours = reo.difference(*BOTH)
    theirs = resampling.bootstrap_difference(*BOTH, repetitions=20_000, seed=2)
    assert theirs.value == pytest.approx(ours.difference)
    assert theirs.high - theirs.low == pytest.approx(ours.high - ours.low, rel=0.05)


def test_partitions_count_the_shared_traffic_twice() -> None:
    """Algorithm 3 draws its own parts of random traffic for each strategy."""
    found = [resampling.partitions(*BOTH, folds=(50, 50), seed=seed) for seed in range(20)]
    mean = sum(one.se for one in found) / len(found)
    apart = sum(reo.penalty(one, BOTH[2]).se ** 2 for one in BOTH[:2]) ** 0.5
    assert mean == pytest.approx(apart, rel=0.05)
    assert sum(one.value for one in found) / len(found) == pytest.approx(
        reo.difference(*BOTH).difference, abs=0.004
    )


def test_near_zero_the_bootstrap_is_biased_and_ours_is_not_fooled() -> None:
    fair = ({"a": 1000, "b": 1000}, {"a": 1000, "b": 1000})
    theirs = resampling.bootstrap(*fair, 10_000, 10_000, repetitions=2_000)
    assert theirs.bias > 0.01
    assert theirs.low < 0
    assert reo.penalty(*fair).low == 0


def test_what_cannot_be_resampled_is_refused() -> None:
    with refuses(InputError, "few-folds"):
        resampling.partitions(*BOTH, folds=(1, 2))
    with refuses(InputError, "group-without-positives"):
        resampling.partitions({"a": 9, "b": 9}, {"a": 9, "b": 9}, {"a": 2, "b": 2}, 90, 90, 90)
