"""Thresholds: a smooth bias is found whatever the bins, and fair needs the top of the scores."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from auditor_client.fairness.gap import FairnessGap, certain_gap, fairness_gap, measured_groups
from auditor_client.fairness.thresholds import (
    certify_beyond,
    certify_within,
    edge_levels,
    lower_limit,
    upper_limit,
)
from auditor_client.planning.power_simulation import AuditDesign, SizeKind, simulate_release
from auditor_client.stats.noise import Laplace, NoNoise

Floats = NDArray[np.float64]


def smooth(bins: int, gap: float) -> list[Floats]:
    """Two linear densities whose tails differ by `gap` at one half (for even numbers of bins)."""
    middle = (np.arange(bins) + 0.5) / bins - 0.5
    return [(1 + sign * 4 * gap * middle) / bins for sign in (1, -1)]


def release(
    generator: np.random.Generator, people: tuple[int, ...], shares: list[Floats], sizes: str
) -> dict[str, Any]:
    """Arguments for `fairness_gap` as an audit at epsilon 1 would give them."""
    names = [f"g{number}" for number in range(len(shares))]
    counts = {
        name: (generator.multinomial(n, p) + Laplace(1.0).simulated(generator, len(p))).tolist()
        for name, n, p in zip(names, people, shares, strict=True)
    }
    given: dict[str, Any] = {"counts": counts, "epsilon": 1}
    if sizes == "known":
        given["sizes"] = dict(zip(names, people, strict=True))
    if sizes == "noisy":
        noises = Laplace(0.25).simulated(generator, len(names))
        given["noisy_sizes"] = {
            name: n + int(z) for name, n, z in zip(names, people, noises, strict=True)
        }
        given["size_epsilon"] = 0.25
    return given


@pytest.mark.parametrize("sizes", ["known", "noisy", "estimated"])
def test_a_smooth_bias_is_unfair_in_the_tails_and_fair_in_every_bin(sizes: str) -> None:
    given = release(np.random.default_rng(1), (900, 900), smooth(20, 0.4), sizes)
    gap = fairness_gap(**given)
    assert gap.verdict(0.2) == "unfair"
    assert fairness_gap(**given, criterion="bins").verdict(0.2) == "fair"
    assert gap.threshold is not None
    assert gap.threshold.low <= 0.4 <= gap.threshold.high
    assert gap.efg < 0.2 < gap.threshold.estimate
    assert (gap.low, gap.high) == fairness_gap_limits(given)


def fairness_gap_limits(given: dict[str, Any]) -> tuple[float, float]:
    bins = fairness_gap(**given, criterion="bins")
    return bins.low, bins.high


def test_two_equal_groups_are_fair() -> None:
    counts = {"a": [200] * 10, "b": [200] * 10}
    gap = fairness_gap(counts, dict.fromkeys(counts, 2000), epsilon=1)
    assert gap.verdict(0.1) == "fair"
    assert gap.reason(0.1) is None


def test_fair_needs_an_edge_in_the_upper_part_of_the_scores() -> None:
    counts = {"a": [1000, 1000], "b": [1000, 1000]}
    gap = fairness_gap(counts, dict.fromkeys(counts, 2000), epsilon=1)
    assert gap.largest_at_most < 0.2 < gap.top_at_most
    assert gap.verdict(0.2) == "inconclusive"
    assert "no edge lies in the upper part" in (gap.reason(0.2) or "")
    assert "no edge lies in the upper part" in gap.explain(0.2)
    assert fairness_gap(counts, dict.fromkeys(counts, 2000), top_share=0.6).verdict(0.2) == "fair"
    assert fairness_gap(counts, {"a": 2000, "b": 2000}, criterion="bins").verdict(0.2) == "fair"


def test_people_in_no_bin_may_be_above_the_highest_edge() -> None:
    counts = {name: [300, 300, 100, 100] for name in "ab"}
    gap = fairness_gap(counts, {"a": 1000, "b": 1000}, 1.0)
    assert gap.top_at_most >= 0.3
    assert not gap.covers_top


def test_counts_that_contradict_the_sizes_give_no_limit_of_thresholds() -> None:
    gap = fairness_gap({"a": [50] * 20, "b": [250] * 20}, {"a": 1000, "b": 1000}, 1.0)
    assert gap.threshold is not None
    assert gap.threshold.at_most == 1.0


def test_the_edge_below_outside_is_none_of_the_upper_part() -> None:
    counts = {"a": [1000, 1000, 0], "b": [1000, 1000, 0]}
    sizes = dict.fromkeys(counts, 2000)
    assert fairness_gap(counts, sizes).verdict(0.2) == "fair"
    assert fairness_gap(counts, sizes, outside=True).verdict(0.2) == "inconclusive"


def test_an_unknown_criterion_is_refused() -> None:
    with pytest.raises(ValueError, match="criterion"):
        fairness_gap({"a": [1, 2], "b": [1, 2]}, criterion="tails")  # type: ignore[arg-type]


@pytest.mark.parametrize("edges", [1, 5, 12, 40, 499])
def test_the_levels_of_edges_add_up_to_one(edges: int) -> None:
    parts = edge_levels(edges)
    assert len(parts) == edges
    assert parts.sum() == pytest.approx(1)
    assert parts.min() > 0


def test_four_fifths_judges_by_the_worst_ratio() -> None:
    fair = {"a": [900, 300, 300, 500], "b": [880, 310, 300, 510]}
    unfair = {"a": [1500, 250, 150, 100], "b": [1000, 400, 300, 300]}
    for counts, verdict in ((fair, "fair"), (unfair, "unfair")):
        many = {name: [3 * count for count in row] for name, row in counts.items()}
        sizes = {name: sum(row) for name, row in many.items()}
        gap = fairness_gap(many, sizes, epsilon=1, criterion="four-fifths")
        assert gap.verdict(0.2) == verdict
        assert gap.impact is not None
        assert gap.impact.low <= gap.impact.at_least <= gap.impact.at_most <= gap.impact.high
        assert "four-fifths" in gap.explain(0.2)


def test_ratios_of_small_shares_do_not_count() -> None:
    # Above the last edge the shares are 1 % and 3 %: a ratio of a third, of next to nobody.
    counts = {"a": [1000, 980, 20], "b": [1000, 940, 60]}
    gap = fairness_gap(counts, dict.fromkeys(counts, 2000), criterion="four-fifths")
    assert gap.impact is not None
    assert gap.impact.edge == 1
    assert gap.verdict(0.2) == "fair"


@pytest.mark.long
@pytest.mark.parametrize("sizes", ["known", "noisy", "estimated"])
@pytest.mark.parametrize(
    ("people", "bins", "gap"), [((60, 60), 6, 0.3), ((200, 80), 20, 0.2), ((120, 120), 60, 0.0)]
)
def test_lower_limits_miss_no_more_often_than_delta_says(
    people: tuple[int, int], bins: int, gap: float, sizes: str
) -> None:
    runs, delta, generator = 40, 0.3, np.random.default_rng(17)
    missed = certain = 0
    for _ in range(runs):
        given = release(generator, people, smooth(bins, gap), sizes)
        size_noise = Laplace(0.25) if sizes == "noisy" else NoNoise()
        groups = list(
            measured_groups(
                given["counts"],
                Laplace(1.0),
                given.get("sizes", {}),
                given.get("noisy_sizes", {}),
                size_noise,
            ).values()
        )
        missed += lower_limit(groups, delta) > gap + 1e-9
        certain += certain_gap(groups, delta) > gap + 1e-9
    # 9 cases, 2 counts, each by a binomial test at 1e-8: fails falsely in less than 2e-7.
    assert missed <= stats.binom.ppf(1 - 1e-8, runs, delta / 2)
    assert certain <= stats.binom.ppf(1 - 1e-8, runs, delta)


@pytest.mark.parametrize("sizes", ["known", "noisy", "estimated"])
@pytest.mark.parametrize("bins", [3, 16])
def test_quick_answers_agree_with_the_limits(bins: int, sizes: SizeKind) -> None:
    design = AuditDesign(0.2, 0.05, 2, bins, 1.0, sizes, 0.25, criterion="distribution")
    for seed in range(2):
        groups = simulate_release(design, 200, 0.3, seed)
        low, high = lower_limit(groups, 0.1), upper_limit(groups, 0.1)
        for alpha in (0.0, 0.1, 0.2, low, high):
            assert certify_beyond(groups, 0.1, alpha) == (low > alpha)
            assert certify_within(groups, 0.1, alpha) == (high <= alpha)


@pytest.mark.long
@pytest.mark.parametrize("sizes", ["noisy", "estimated"])
@pytest.mark.parametrize(("people", "bins"), [((60, 60), 2), ((150, 50), 6)])
def test_upper_limits_miss_no_more_often_than_delta_says(
    people: tuple[int, int], bins: int, sizes: str
) -> None:
    """A right limit misses at most 15 %: 22 of 40 and more has a probability below 1e-6."""
    gap, delta, generator = 0.3, 0.3, np.random.default_rng(23)
    missed = 0
    for _ in range(40):
        given = release(generator, people, smooth(bins, gap), sizes)
        size_noise = Laplace(0.25) if sizes == "noisy" else NoNoise()
        noisy = given.get("noisy_sizes", {})
        groups = measured_groups(given["counts"], Laplace(1.0), {}, noisy, size_noise)
        missed += certify_within(list(groups.values()), delta, gap - 1e-9)
    assert missed < 22


def test_private_sizes_hardly_widen_the_limits_of_thresholds() -> None:
    """The width with bought numbers is within 1.15 of that with exact ones, over five releases."""
    generator = np.random.default_rng(31)
    private, known = [], []
    for _ in range(5):
        given = release(generator, (400, 400), smooth(12, 0.0), "noisy")
        groups = measured_groups(
            given["counts"], Laplace(1.0), {}, given["noisy_sizes"], Laplace(0.25)
        )
        exact = measured_groups(
            given["counts"], Laplace(1.0), dict.fromkeys(given["counts"], 400), {}, NoNoise()
        )
        private.append(upper_limit(list(groups.values()), 0.1))
        known.append(upper_limit(list(exact.values()), 0.1))
    assert np.mean(private) <= 1.15 * np.mean(known)


def test_a_gap_of_bins_alone_has_no_threshold() -> None:
    gap = FairnessGap(0.1, 0.0, 0.2, ("a", "b"), 0, 0.05, 0.0, 0.19)
    assert gap.threshold is None
    assert gap.verdict(0.2) == "fair"
