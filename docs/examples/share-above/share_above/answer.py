"""Answer of `share-above`: interval, verdict, table, chart, and the forecast of all of them."""

import math
from collections.abc import Mapping
from itertools import combinations

from auditor_client.charts.count_charts import limits_chart
from auditor_client.kinds.forecasts import Forecast, ForecastAudience
from auditor_client.kinds.presentation import (
    Judgement,
    PresentedChart,
    PresentedTable,
    Summary,
    Verdict,
)
from auditor_client.reporting.rounding import join_words, percent
from openapi.resources import Catalogue
from share_above.auditor_half import ShareAboveResult
from share_above.contract import ShareAboveRequest

Interval = tuple[float, float]


def summarise(audit: ShareAboveResult, judgement: Judgement) -> Summary:
    """Return the verdict on the largest difference of shares, and the shares with their limits."""
    shares = intervals(audit, judgement.delta)
    low, high = largest_difference(shares)
    verdict = _verdict(low, high, judgement.alpha)
    found = join_words(f"{percent(a)} to {percent(b)} of {name}" for name, (a, b) in shares.items())
    return Summary(
        f"{verdict.capitalize()}: {found} score above {audit.release.threshold:g}.",
        verdict,
        details=(
            f"The shares differ by {percent(low)} to {percent(high)};"
            f" {percent(judgement.alpha)} are tolerated.",
        ),
        table=PresentedTable(
            f"Shares above {audit.release.threshold:g}, within limits that hold together.",
            ("Group", "Low", "High"),
            tuple((name, percent(a, 1), percent(b, 1)) for name, (a, b) in shares.items()),
        ),
        assumptions=("The people of each group were drawn at random from those it stands for.",),
    )


def illustrate(audit: ShareAboveResult, judgement: Judgement) -> tuple[PresentedChart, ...]:
    """Return the shares between their limits."""
    shares = intervals(audit, judgement.delta)
    limited = {name: ((low + high) / 2, low, high) for name, (low, high) in shares.items()}
    words = f"Share above {audit.release.threshold:g} of {', '.join(shares)}, with limits."
    return (
        PresentedChart(limits_chart(limited, "share above the threshold", words, (0, 1)), words),
    )


def forecast(request: ShareAboveRequest, audience: ForecastAudience, _: Catalogue) -> Forecast:
    """Return how wide the interval of the smallest group is going to be."""
    name, people = audience.smallest
    scale = float(2 if audience.fixed_size else 1) * audience.groups_per_person
    scale /= float(request.epsilon)
    low, high = interval(people // 2, people - people // 2, scale, 0.05 / len(audience.people))
    sentence = f"The share of {name} will be known to within {percent((high - low) / 2, 1)}."
    answers = high - low < 1
    return Forecast(sentence, answers, "" if answers else "More people or a larger ε are needed.")


def intervals(audit: ShareAboveResult, delta: float) -> Mapping[str, Interval]:
    """Return an interval for each group's share; all hold together with probability 1 - delta."""
    counts = audit.counts
    return {
        name: interval(above, others, audit.noise_scale, delta / len(counts))
        for name, (above, others) in counts.items()
    }


def interval(above: int, others: int, scale: float, delta: float) -> Interval:
    """Return limits of one share, for the noise and for the draw of the people."""
    # Both numbers are within `noise` of the truth, but for a probability of delta / 2:
    # P(|X| ≥ t) ≤ 2 exp(-t / b) for discrete Laplace noise, and there are two of them.
    noise = scale * math.log(8 / delta)
    lowest, highest = max(above - noise, 0.0), max(above + noise, 0.0)
    fewest, most = max(others - noise, 0.0), max(others + noise, 0.0)
    if highest + fewest == 0 or lowest + most == 0:
        return 0.0, 1.0
    low, high = lowest / (lowest + most), highest / (highest + fewest)
    # Hoeffding's inequality for the share of the fewest people that there may be.
    people = max(lowest + fewest, 1.0)
    drawn = math.sqrt(math.log(4 / delta) / (2 * people))
    return max(low - drawn, 0.0), min(high + drawn, 1.0)


def largest_difference(shares: Mapping[str, Interval]) -> Interval:
    """Return limits of the largest difference between two groups."""
    pairs = list(combinations(shares.values(), 2))
    low = max((max(one[0] - two[1], two[0] - one[1], 0.0) for one, two in pairs), default=0.0)
    high = max((max(one[1] - two[0], two[1] - one[0]) for one, two in pairs), default=0.0)
    return low, high


def _verdict(low: float, high: float, tolerated: float) -> Verdict:
    if high <= tolerated:
        return "fair"
    return "unfair" if low > tolerated else "inconclusive"
