"""Plans of field checks: edges, people and canaries that check a delivery rate.

The check compares the scores in the audit with the deliveries that canaries saw. With geometric
edges, each bin's share is a fixed part of the share above it. So no rule of scores can favour a
group by much more than that factor. The top bin's share is a part of the wanted rate. A plan is
tried on the expected release, with equal scores in both groups; `field_power` simulates it with
noise.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import stats

from auditor_client.consistency.canary import BAND, FieldCheck, check_counts
from auditor_client.consistency.canary_counts import CanaryTest
from auditor_client.consistency.delivery_rules import DeliveryRegion, GroupScores, delivery_region
from auditor_client.errors import InputError
from auditor_client.fairness.bin_tests import GroupCounts
from auditor_client.kinds.score_histogram.result import ScoreHistogramResult
from auditor_client.stats.group_size import GroupSizeEstimate
from auditor_client.stats.noise import Floats, Laplace

# Ratio of the shares of people above an edge and above the next one.
_RATIO = 1.5
# Share of the top bin, as a part of the wanted rate.
_TOP = 0.25
_PEOPLE = tuple(round(250 * 2**k) for k in range(11))
_CANARIES = tuple(round(100 * 2 ** (k / 2)) for k in range(18))


@dataclass(frozen=True)
class CanaryPlan:
    """Design per group, and the lowest delivery rate that it can check.

    `tails` are the shares of people above each inner edge, from the top edge down. `power` is the
    probability of finding that the share `excluded` of one group is excluded, at the `rate` of the
    other.
    """

    rate: float
    excluded: float
    tails: tuple[float, ...]
    people: int
    canaries: int
    lowest_rate: float
    power: float
    false_alarm: float

    def explain(self) -> str:
        """Return the plan in words."""
        return (
            f"Audit {self.people:,} people per group with {len(self.tails)} inner edges, "
            f"the top one with {self.tails[0]:.2%} of people above it, and ask "
            f"{self.canaries:,} canaries per group. Suppose that the platform shows the content to "
            f"{self.rate:.2%} of one group and withholds {self.excluded:.0%} of the deliveries "
            f"to the other. The plan finds this with probability {self.power:.2f}. Rates"
            f" below {self.lowest_rate:.2%} cannot be checked: the top bin alone has "
            "that share of people."
        )


def choose_tails(rate: float) -> tuple[float, ...]:
    """Return the shares of people above the inner edges that suit a delivery rate, from the top."""
    number = int(np.ceil(np.log(1 / (_TOP * rate)) / np.log(_RATIO)))
    return tuple(_TOP * rate * _RATIO**k for k in range(number) if _TOP * rate * _RATIO**k < 0.95)


def find_edges(audit: ScoreHistogramResult, tails: tuple[float, ...]) -> list[float]:
    """Return the edges with these shares of people above, by an earlier release of the content.

    All groups have equal weight. Scores are assumed uniform within a bin of the earlier release.
    """
    limits = audit.limits()
    shares = np.mean(
        [np.maximum(counts[:-1], 0) / max(sum(counts[:-1]), 1) for counts in audit.counts.values()],
        axis=0,
    )
    below = np.concatenate([[0.0], np.cumsum(shares)])
    ends = [limits[0][0], *(high for _, high in limits)]
    inner = np.interp([1 - tail for tail in tails], below / max(below[-1], 1e-12), ends)
    return [ends[0], *sorted({float(edge) for edge in inner} - {ends[0], ends[-1]}), ends[-1]]


def canary_plan(
    rate: float,
    *,
    people: int | None = None,
    canaries: int | None = None,
    excluded: float = 1.0,
    epsilon: float = 1.0,
    false_alarm: float = 0.01,
    power: float = 0.8,
) -> CanaryPlan:
    """Propose the design with the fewest people and canaries that checks a delivery rate.

    `rate` is the delivery rate of the served group. `excluded` is the share of the other group's
    deliveries that is withheld. If you give the numbers of people and canaries, the plan states
    their power. Raise InputError if no design tried reaches the power.
    """
    if not 0 < rate < 1 or not 0 < excluded <= 1 or not 0 < power < 1:
        raise InputError(
            "rate, excluded and power lie between 0 and 1 (excluded may be 1).", case="canary-plan"
        )
    best: CanaryPlan | None = None
    for size in (people,) if people else _PEOPLE:
        found = _for_people(rate, size, canaries, excluded, epsilon, false_alarm, power)
        if found and (best is None or _cost(found) < _cost(best)):
            best = found
        if best is not None and size > _cost(best):
            break
    if best is None:
        raise InputError(
            f"No design of up to {_PEOPLE[-1]:,} people and {_CANARIES[-1]:,} canaries per group"
            f" checks a delivery rate of {rate:.2%} with power {power:g}.",
            case="rate-too-low",
        )
    return best


def lowest_rate(tails: tuple[float, ...], people: int, epsilon: float, false_alarm: float) -> float:
    """Return the delivery rate below which one group may have had all deliveries, whatever canaries
    saw.
    """
    return _expected_region(tails, people, epsilon, false_alarm).lowest_rate


def field_power(plan: CanaryPlan, *, epsilon: float = 1.0, runs: int = 100, seed: int = 0) -> float:
    """Return the share of simulated checks that find the exclusion (false alarms, if none is
    planned).

    Each simulation draws a new audience, new canaries, and noise from the service's
    distribution.
    """
    generator = np.random.default_rng(seed)
    shares = _shares(plan.tails)
    found = 0
    for _ in range(runs):
        groups = []
        for name in ("a", "b"):
            counts = generator.multinomial(plan.people, shares)
            table = np.append(counts, 0) + Laplace(epsilon).simulated(generator, len(shares) + 1)
            groups.append(_scores(name, tuple(int(c) for c in table), plan.people, epsilon))
        rates = plan.rate, plan.rate * (1 - plan.excluded)
        seen = [int(generator.binomial(plan.canaries, rate)) for rate in rates]
        check: FieldCheck = check_counts(
            {group.name: group for group in groups},
            {"a": (seen[0], plan.canaries), "b": (seen[1], plan.canaries)},
            plan.false_alarm,
        )
        found += check.verdict == "irreconcilable"
    return found / runs


def _for_people(
    rate: float,
    people: int,
    canaries: int | None,
    excluded: float,
    epsilon: float,
    false_alarm: float,
    power: float,
) -> CanaryPlan | None:
    tails = choose_tails(rate)
    allowed = _expected_region(tails, people, epsilon, false_alarm)
    if canaries is None and allowed.lowest_rate >= rate:
        return None
    level = (1 - BAND) * false_alarm / 2

    def suffices(number: int) -> bool:
        # Number of the served group who, with the wanted power, are shown the content at least.
        least = int(stats.binom.ppf(1 - power, number, rate))
        typical = round(number * rate * (1 - excluded))
        return CanaryTest(allowed, number, number).rejects(least, typical, level)

    if canaries is None:
        low, high = -1, len(_CANARIES)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if suffices(_CANARIES[middle]) else (middle, high)
        if high == len(_CANARIES):
            return None
        canaries = _CANARIES[high]
    reached = _power(allowed, canaries, rate, excluded, level)
    return CanaryPlan(
        rate, excluded, tails, people, canaries, allowed.lowest_rate, reached, false_alarm
    )


def _power(
    allowed: DeliveryRegion, canaries: int, rate: float, excluded: float, level: float
) -> float:
    """Return the probability of an alarm at the typical count of the excluded group."""
    typical = round(canaries * rate * (1 - excluded))
    least = CanaryTest(allowed, canaries, canaries).least_found(typical, level)
    return 0.0 if least is None else float(stats.binom.sf(least - 1, canaries, rate))


def _expected_region(
    tails: tuple[float, ...], people: int, epsilon: float, false_alarm: float
) -> DeliveryRegion:
    """Return the expected region, shifted by a standard error at every edge in favour of the
    platform.
    """
    shares = np.array((0.0, *tails, 1.0))
    noisy = np.arange(1, len(shares) + 1) * Laplace(epsilon).variance
    errors = np.sqrt(people * shares * (1 - shares) + noisy)
    errors[0] = errors[-1] = 0.0
    groups = []
    for sign in (1, -1):
        above = np.clip(np.round(people * shares + sign * errors), 0, people)
        counts = np.diff(np.maximum.accumulate(above))[::-1]
        groups.append(_scores("", (*(int(c) for c in counts), 0), people, epsilon))
    return delivery_region(groups[0], groups[1], BAND * false_alarm / 2)


def _scores(name: str, table: tuple[int, ...], people: int, epsilon: float) -> GroupScores:
    law = Laplace(epsilon)
    size = GroupSizeEstimate(sum(table), len(table), law, known=people)
    return GroupScores(name, GroupCounts(table, size, law))


def _shares(tails: tuple[float, ...]) -> Floats:
    """Return the shares of the bins, in rising order of the score."""
    return np.array([low - high for high, low in pairwise((0.0, *tails, 1.0))])[::-1]


def _cost(plan: CanaryPlan) -> int:
    return plan.people + plan.canaries
