"""Sentences about each metric and its limits, for readers who are not statisticians."""

import math

from auditor_client.fairness.metric_selection import Metric
from auditor_client.fairness.metrics.estimate import Estimate
from auditor_client.fairness.metrics.parity import passes_four_fifths

NAMES: dict[Metric, str] = {
    "parity": "Selected share (demographic parity)",
    "impact-ratio": "Ratio of selected shares (four-fifths rule)",
    "equal-opportunity": "Selected share of the qualified (equality of opportunity)",
    "mean-difference": "Difference of mean scores",
    "kolmogorov-smirnov": "Largest difference at any cut-off (Kolmogorov–Smirnov)",
    "wasserstein": "Distance between scores (Wasserstein)",
    "quantile-gap": "Difference of quantiles",
}


def name_of(metric: Metric, at: float | None) -> str:
    """Return the metric with its threshold or quantile."""
    return NAMES[metric] if at is None else f"{NAMES[metric]} at {at:g}"


def sentence(metric: Metric, at: float | None, found: Estimate) -> str:
    """Return a sentence with the estimate and its limits."""
    first, second = found.groups
    point = "" if at is None else f"{at:g}"
    value, between = found.value, limits(found.low, found.high)
    match metric:
        case "parity" | "equal-opportunity":
            who = "qualified people of " if metric == "equal-opportunity" else ""
            said = (
                f"Of {who}{first}, {_points(abs(value))} {_more(value)} than of {second} score"
                f" {point} or above. In percentage points, the difference lies"
                f" {limits(100 * found.low, 100 * found.high, 1)}."
            )
        case "impact-ratio":
            said = (
                f"For every 100 people of {second} who score {point} or above there are, in groups"
                f" of equal size, {_hundreds(value)} of {first}. The ratio lies {between}. By the"
                f" four-fifths rule: {passes_four_fifths(found)}."
            )
        case "mean-difference":
            said = (
                f"On average, {first} scores {abs(value):.3f} {_higher(value)} than {second}. The"
                f" difference lies {between}."
            )
        case "kolmogorov-smirnov":
            said = (
                f"At every cut-off, the measured shares of {first} and {second} below it "
                f"differ by at most {value:.3f}. The true value lies {between}."
            )
        case "wasserstein":
            said = (
                f"To become equal, the scores of {first} and {second} would have to move "
                f"by {value:.3f} on average. The true value lies {between}."
            )
        case "quantile-gap":
            said = (
                f"The score that a share of {point} of {first} does not exceed is"
                f" {abs(value):.3f} {_higher(value)} than that of {second}. The difference lies"
                f" {between}."
            )
    return f"{said} {_rounded(found)}".strip()


def limits(low: float, high: float, decimals: int = 3) -> str:
    """Limits in words, rounded outwards: what is printed must hold as well."""
    if math.isinf(high) and math.isinf(low):
        return "anywhere"
    if math.isinf(high):
        return f"above {round_down(low, decimals)}"
    if math.isinf(low):
        return f"below {round_up(high, decimals)}"
    return f"between {round_down(low, decimals)} and {round_up(high, decimals)}"


def round_down(number: float, decimals: int = 3) -> str:
    return _plain(math.floor(_exactly(number, decimals)) / 10**decimals, decimals)


def round_up(number: float, decimals: int = 3) -> str:
    return _plain(math.ceil(_exactly(number, decimals)) / 10**decimals, decimals)


def _exactly(number: float, decimals: int) -> float:
    # 0.07 times a thousand is 70.00000000000001: a number that is whole except for its last bits
    # stays whole.
    scaled = number * 10**decimals
    whole = float(round(scaled))
    return whole if math.isclose(scaled, whole, rel_tol=1e-13) else scaled


def _plain(number: float, decimals: int) -> str:
    return f"{number + 0.0:.{decimals}f}"  # avoid "-0.000"


def _points(share: float) -> str:
    return f"{100 * share:.1f} percentage points"


def _more(value: float) -> str:
    return "more" if value >= 0 else "less"


def _higher(value: float) -> str:
    return "higher" if value >= 0 else "lower"


def _hundreds(ratio: float) -> str:
    return "any number" if math.isinf(ratio) else f"{100 * ratio:.0f}"


def _rounded(found: Estimate) -> str:
    if not found.rounding:
        return ""
    return f"Where scores lie inside of their bins may add up to {found.rounding:g} either way."
