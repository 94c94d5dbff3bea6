"""Fairness gap of a release: estimate, interval, verdict.

    FG = max over pairs of groups and bins of |p_a,y - p_b,y|        [IKH23, def. 5.2]

`fairness_gap` returns limits with P(FG < low) <= delta/2 and P(FG > high) <= delta/2, for any
number of people and any shares. They account for sampling, noise and an unknown number of scored
people (proof: docs/explanation/intervals.md). A verdict at an alpha that was fixed beforehand
depends on one limit at a time. Only a platform with a gap > alpha can wrongly be called fair, and
only one with a gap <= alpha wrongly unfair. So each limit may use all of delta (`at_least`,
`at_most`). The `criterion` defines what a verdict covers:

    distribution   every bin, and every threshold (`thresholds`, eq. 5), both with the same alpha
    bins           the gap of single bins alone, which a smooth bias over many bins escapes
    four-fifths    the worst impact ratio over thresholds (`worst_impact`), at 4/5 and no alpha

`fair` by distribution is an intersection-union test: each part uses all of delta. It also needs an
edge in the upper part of the scores: with confidence 1 - delta, at most `top_share` of the people
score above it. Coarse bins hide the top. `unfair` is a union: the parts share delta.

[IKH23] Imana, Korolova, Heidemann, CSCW 2023, §5.1.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from auditor_client.fairness import gap_bounds, thresholds
from auditor_client.fairness.bin_tests import GroupCounts
from auditor_client.fairness.thresholds import ThresholdGap
from auditor_client.fairness.worst_impact import FOUR_FIFTHS, LEAST_SHARE, ImpactRatio, worst_impact
from auditor_client.stats.group_size import GroupSizeEstimate
from auditor_client.stats.noise import Epsilon, Noise, NoNoise, as_rate, distribution

if TYPE_CHECKING:
    from auditor_client.charts.chart import Chart

Verdict = Literal["fair", "unfair", "inconclusive"]
Criterion = Literal["distribution", "bins", "four-fifths"]
CRITERIA: tuple[Criterion, ...] = ("distribution", "bins", "four-fifths")

# Some edge must have at most this share of people above it, or a verdict does not cover the top.
TOP_SHARE = 0.2
# Part of the level of `unfair` for single bins; the rest is for thresholds.
BINS_PART = 0.15


@dataclass(frozen=True, slots=True)
class FairnessGap:
    """Measured gap, its limits at confidence 1 - delta, and the cell that drives it.

    `groups` names the pair with the largest measured gap, the group with the larger share of `bin`
    first. `efg` is the raw estimate: noise may take it above `high`, or above 1, while `high` uses
    that shares lie between 0 and 1. `at_least` and `at_most` are limits at confidence 1 - delta
    each, taken alone. They lie inside `low` and `high`, which hold together. All of these concern
    single bins; `threshold` concerns all edges, with its own limits.

    `certain` is a lower limit, at confidence 1 - delta, of the largest gap of bins and thresholds.
    `top_at_most` limits the share of all people above the highest edge.
    """

    efg: float
    low: float
    high: float
    groups: tuple[str, str]
    bin: int
    delta: float
    at_least: float
    at_most: float
    criterion: Criterion = "bins"
    threshold: ThresholdGap | None = None
    impact: ImpactRatio | None = None
    certain: float = 0.0
    top_at_most: float = 1.0
    top_share: float = TOP_SHARE

    def verdict(self, alpha: float) -> Verdict:
        """Return `fair` within alpha, `unfair` beyond it, or `inconclusive`; wrong with probability
        at most delta.

        This holds for an alpha fixed before the audit. Verdicts at many alphas, chosen afterwards,
        are all right at once with probability 1 - 2·delta; `low` and `high` cover all of them with
        probability 1 - delta. By four-fifths, alpha has no effect: `fair` if no ratio is below 4/5,
        `unfair` if one is.
        """
        _check_alpha(alpha)
        if self.criterion == "four-fifths":
            return self._by_ratio()
        if self.criterion == "bins":
            least, most = self.at_least, self.at_most
        else:
            least, most = self.certain, self.largest_at_most
        if least > alpha:
            return "unfair"
        return "fair" if most <= alpha and self.covers_top else "inconclusive"

    @property
    def largest_at_most(self) -> float:
        """Return the upper limit, at 1 - delta, of the gaps of all bins and thresholds."""
        return max(self.at_most, self.threshold.at_most if self.threshold else 0.0)

    @property
    def covers_top(self) -> bool:
        """Whether an edge lies in the upper part of the scores; only `distribution` requires it."""
        return self.criterion != "distribution" or self.top_at_most <= self.top_share

    def reason(self, alpha: float) -> str | None:
        """Return the reason for an inconclusive verdict although no gap is beyond alpha, or
        None.
        """
        _check_alpha(alpha)
        if self.covers_top or self.largest_at_most > alpha or self.certain > alpha:
            return None
        return (
            f"no edge lies in the upper part of the scores: up to {_up(self.top_at_most)} of the"
            f" people may score above the highest edge; a fair verdict allows {self.top_share:g}"
        )

    def _by_ratio(self) -> Verdict:
        if self.impact is None:
            return "inconclusive"
        said: dict[str, Verdict] = {"passes": "fair", "fails": "unfair"}
        return said.get(self.impact.four_fifths(), "inconclusive")

    def chart(self, alpha: float) -> "Chart":
        """Return a chart of the interval and the tolerated gap. A notebook displays it."""
        from auditor_client.fairness.charts import verdict_chart  # Altair takes a second to import

        return verdict_chart(self, alpha)

    def explain(self, alpha: float, bins: Sequence[str] | None = None) -> str:
        """Return the verdict in one plain sentence; `bins` are names for them
        (`audit.bin_names()`).
        """
        return explain_verdict(self, alpha, bins)


def fairness_gap(
    counts: Mapping[str, Sequence[int]],
    sizes: Mapping[str, int] | None = None,
    epsilon: Epsilon | None = 1.0,
    delta: float = 0.05,
    *,
    noisy_sizes: Mapping[str, int] | None = None,
    size_epsilon: Epsilon | None = None,
    noise: Noise | None = None,
    size_noise: Noise | None = None,
    criterion: Criterion = "distribution",
    outside: bool = False,
    top_share: float = TOP_SHARE,
    least_share: float = LEAST_SHARE,
) -> FairnessGap:
    """Return the fairness gap from counts with noise at `epsilon` per bin (discrete Laplace, scale
    1/epsilon).

    For another distribution give `noise` and `size_noise` in place of the epsilons:
    `Gaussian(sigma2)` or `gaussian_at(rho)` of `auditor_client.stats.noise`.

    `counts` hold every scored person once: pass the out-of-range count as one more bin. `sizes` are
    exact numbers of scored people; `noisy_sizes` were bought at `size_epsilon`. The size of a group
    in neither is the sum of its own bins. Never pass the number of people *uploaded*. If the bins
    account for only part of a size, the rest could be in any bin, and `high` grows by that part.

    `criterion` defines what a verdict covers. `outside` states that the last count is of scores
    outside all bins: the edge below it is not in the upper part of the scores. `least_share` is the
    share from which an impact ratio counts, for four-fifths.
    """
    one = distribution(as_rate(epsilon)) if noise is None else noise
    if size_noise is None and noisy_sizes and size_epsilon is None:
        raise ValueError("noisy_sizes require size_epsilon, at which they were bought")
    own = distribution(as_rate(size_epsilon, "size_epsilon")) if size_noise is None else size_noise
    groups = measured_groups(counts, one, sizes or {}, noisy_sizes or {}, own)
    return gap_of(
        groups, delta, criterion, outside=outside, top_share=top_share, least_share=least_share
    )


def gap_of(
    groups: Mapping[str, GroupCounts],
    delta: float,
    criterion: Criterion = "distribution",
    *,
    outside: bool = False,
    top_share: float = TOP_SHARE,
    least_share: float = LEAST_SHARE,
) -> FairnessGap:
    """Return the fairness gap of prepared groups."""
    if len(groups) < 2:
        raise ValueError(f"a gap needs at least two groups, not {len(groups)}")
    check_delta(delta)
    check_criterion(criterion)
    if not 0 < top_share <= 1:
        raise ValueError(f"top_share must lie between 0 and 1, not {top_share}")
    known = list(groups.values())
    efg, names, at = _largest(groups)
    alone = gap_bounds.one_sided_delta(delta)
    most = gap_bounds.upper_limit(known, alone)
    least = min(gap_bounds.lower_limit(known, alone), most)
    # Limits that hold together lie outside those that hold alone, so the search starts there.
    high = gap_bounds.upper_limit(known, delta, floor=most)
    low = min(gap_bounds.lower_limit(known, delta), least) if least > 0 else 0.0
    found = FairnessGap(efg, low, high, names, at, delta, least, most, criterion)
    if criterion == "bins":
        return replace(found, certain=least, top_share=top_share)
    return replace(
        found,
        threshold=thresholds.threshold_gap(groups, delta),
        impact=worst_impact(groups, delta, least_share, outside=outside)
        if criterion == "four-fifths"
        else None,
        certain=certain_gap(known, delta),
        top_at_most=thresholds.top_share_limit(known, delta, outside=outside),
        top_share=top_share,
    )


def certain_gap(groups: Sequence[GroupCounts], delta: float) -> float:
    """Return a lower limit, at 1 - delta, of the largest gap of bins and thresholds (union
    bound).
    """
    alone = gap_bounds.one_sided_delta(delta)
    return max(
        gap_bounds.lower_limit(groups, alone * BINS_PART),
        thresholds.lower_limit(groups, alone * (1 - BINS_PART)),
    )


def measured_groups(
    counts: Mapping[str, Sequence[int]],
    noise: Noise,
    sizes: Mapping[str, int],
    noisy_sizes: Mapping[str, int],
    size_noise: Noise,
) -> dict[str, GroupCounts]:
    """Return the checked groups of a release, by name."""
    tables = _checked_counts(counts)
    if strangers := (sizes.keys() | noisy_sizes.keys()) - tables.keys():
        raise ValueError(f"sizes name groups without counts: {', '.join(sorted(strangers))}")
    found = {}
    for name, table in tables.items():
        known = None if name not in sizes else _integer(sizes[name], f"size of {name}")
        if known is None and isinstance(noise, NoNoise):
            known = sum(table)
        noisy = None if name not in noisy_sizes else _integer(noisy_sizes[name], f"size of {name}")
        size = GroupSizeEstimate(sum(table), len(table), noise, known, noisy, size_noise)
        found[name] = GroupCounts(table, size, noise)
    return found


def _largest(groups: Mapping[str, GroupCounts]) -> tuple[float, tuple[str, str], int]:
    best: tuple[float, tuple[str, str], int] | None = None
    for y in range(len(next(iter(groups.values())).table)):
        shares = {name: group.table[y] / group.size.estimate for name, group in groups.items()}
        more, less = max(shares, key=lambda k: shares[k]), min(shares, key=lambda k: shares[k])
        if best is None or shares[more] - shares[less] > best[0]:
            names = (more, less) if more != less else (more, next(n for n in groups if n != more))
            best = shares[more] - shares[less], names, y
    assert best is not None  # noqa: S101 - there is at least one bin
    return best


def _checked_counts(counts: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
    tables = {
        name: tuple(_integer(value, f"count of {name}") for value in values)
        for name, values in counts.items()
    }
    lengths = {name: len(table) for name, table in tables.items()}
    if len(set(lengths.values())) > 1 or not all(lengths.values()):
        raise ValueError(f"every group needs the same number of bins, at least one: {lengths}")
    return tables


def _integer(value: object, what: str) -> int:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ValueError(f"the {what} must be a whole number, not {value!r}")
    number = int(value.__index__())
    if abs(number) > 10**12:
        raise ValueError(f"the {what} is too large: {number}")
    return number


def check_criterion(criterion: str) -> None:
    """Refuse an unknown criterion."""
    if criterion not in CRITERIA:
        raise ValueError(f"criterion must be one of {', '.join(CRITERIA)}, not {criterion!r}")


def check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise ValueError(f"delta must lie between 0 and 1, not {delta}")


def _up(limit: float) -> str:
    """Round upwards, so that the printed number is a limit too."""
    return f"{math.ceil(limit * 1000 - 1e-9) / 1000:.3f}"


def _down(limit: float) -> str:
    return f"{math.floor(limit * 1000 + 1e-9) / 1000:.3f}"


def _check_alpha(alpha: float) -> None:
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha must lie between 0 and 1, not {alpha}")


def explain_verdict(gap: FairnessGap, alpha: float, bins: Sequence[str] | None) -> str:
    """Return the verdict and its basis, in one sentence."""
    verdict = gap.verdict(alpha)
    sure = f"(confidence {100 * (1 - gap.delta):.3g} %)"
    if gap.criterion == "four-fifths":
        return _ratio_words(gap, sure)
    more, less = gap.groups
    where = f"in bin {gap.bin}" if bins is None else f"among scores {bins[gap.bin]}"
    cell = f"most {where}, where {more} has the larger share and {less} the smaller"
    if gap.criterion == "bins" or gap.threshold is None:
        what, (low, high), (least, most) = (
            "the gap",
            (gap.low, gap.high),
            (gap.at_least, gap.at_most),
        )
    else:
        what = "the largest gap of a bin or above an edge"
        low, high = max(gap.low, gap.threshold.low), max(gap.high, gap.threshold.high)
        least, most = gap.certain, gap.largest_at_most
        cell = f"the gap of single bins is {cell}"
    if gap.criterion != "bins" and (reason := gap.reason(alpha)):
        return f"Inconclusive at {alpha:g}: {what} is at most {_up(most)} {sure}, but {reason}."
    said = {
        "fair": f"Fair within {alpha:g}: {what} is at most {_up(most)} {sure}",
        "unfair": f"Unfair beyond {alpha:g}: {what} is at least {_down(least)} {sure}",
        "inconclusive": f"Inconclusive at {alpha:g}: {what} may be anywhere between"
        f" {_down(low)} and {_up(high)} {sure}",
    }[verdict]
    return f"{said}, {cell}."


def _ratio_words(gap: FairnessGap, sure: str) -> str:
    impact = gap.impact
    if impact is None or impact.edge is None:
        return "Inconclusive: at no edge can a group have the share from which a ratio counts."
    worse, better = impact.groups
    said = {
        "passes": f"Passes four-fifths: every ratio is at least {_down(impact.at_least)} {sure}",
        "fails": f"Fails four-fifths: a ratio is at most {_up(impact.at_most)} {sure}",
        "inconclusive": f"Inconclusive at {FOUR_FIFTHS:g}: the worst ratio may be anywhere between"
        f" {_down(impact.low)} and {_up(impact.high)} {sure}",
    }[impact.four_fifths()]
    return f"{said}, measured worst at edge {impact.edge}, {worse} against {better}."
