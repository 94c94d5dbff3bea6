"""Checks, after an audit, of the assumptions that the paper makes, with sentences for reports.

"The auditor may verify, post-audit, that the assumptions about n_{a,q} were met" [IKH23, §5.1.2].
Assumptions that no release can check are listed as open. The interval of `gap` rests on fewer
assumptions: it holds for any number of people and any balance of groups.

[IKH23] Imana, Korolova, Heidemann, CSCW 2023, §4.3.2, §5.1.2 and Theorem 1 (eq. 6).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from auditor_client.fairness.bin_tests import GroupCounts
from auditor_client.fairness.gap import check_delta
from auditor_client.fairness.metrics.event_shares import surely_below
from openapi.resources import PricePart

# Groups whose sizes differ by more than this factor are called unbalanced: the smaller group then
# determines the width of every interval.
_BALANCE = 4.0
# Share of people outside all bins from which a report mentions them.
_OUTSIDE = 0.05


@dataclass(frozen=True, slots=True)
class Assumption:
    """One assumption: whether it holds (None: no release can tell), and a sentence about it."""

    name: str
    holds: bool | None
    words: str


def check(
    groups: dict[str, GroupCounts], noise: PricePart, alpha: float = 0.2, delta: float = 0.05
) -> list[Assumption]:
    """Return the paper's assumptions, for the tolerated gap and the probability of error.

    `noise` is the part of the release that states the noise on the bins.
    """
    check_delta(delta)
    level = delta / len(groups)
    return [
        _somebody(groups, level),
        _enough(groups, alpha, delta),
        _noise(noise, alpha),
        _balance(groups, level),
        *_inside(groups, level),
        *_open(),
    ]


def _somebody(groups: dict[str, GroupCounts], level: float) -> Assumption:
    empty = [name for name, group in groups.items() if group.size.tells_nothing(level)]
    words = (
        f"For {', '.join(empty)}, the counts do not show that anybody was scored, or they "
        "contradict the stated number of people. No statement about these groups is "
        "possible."
        if empty
        else "Every group has people who were scored (n > 0 in the paper's eq. 2)."
    )
    return Assumption("people in every group", not empty, words)


def _enough(groups: dict[str, GroupCounts], alpha: float, delta: float) -> Assumption:
    # min n >= 8/α² · ln(3|A||Y|/δ)   [IKH23, eq. 6]
    bins = len(next(iter(groups.values())).table)
    needed = math.ceil(8 / alpha**2 * math.log(3 * len(groups) * bins / delta))
    least = {name: max(g.size.limits(delta / len(groups))[0], 0) for name, g in groups.items()}
    smallest = min(least, key=lambda name: least[name])
    holds = least[smallest] >= needed
    words = (
        f"{smallest} has at least {least[smallest]} scored people (confidence {1 - delta:.0%});"
        f" Theorem 1 asks for {needed} in every group for its promise, a measured gap within"
        f" {alpha:g} of the true one. "
    )
    words += "That is met." if holds else "That is not met; the interval above is still valid."
    return Assumption("enough people for Theorem 1", holds, words)


def _noise(stated: PricePart, alpha: float) -> Assumption:
    holds = stated.mechanism == "discrete-laplace" and 1 / stated.noise_scale > alpha / 2
    words = (
        f"Theorem 1 assumes Laplace noise with epsilon above {alpha / 2:g} (half the tolerated"
        f" gap). This audit has {stated.mechanism.replace('-', ' ')} noise of scale"
        f" {stated.noise_scale:g}."
    )
    return Assumption("noise as in Theorem 1", holds, words)


def _balance(groups: dict[str, GroupCounts], level: float) -> Assumption:
    limits = {name: group.size.limits(level / 2) for name, group in groups.items()}
    fewest, most = (pick(limits, key=lambda n: limits[n][0]) for pick in (min, max))
    factor = max(limits[most][1], 1) / max(limits[fewest][0], 1)
    holds = factor <= _BALANCE
    words = f"The largest group ({most}) is at most {factor:.1f} times as large as {fewest}."
    if not holds:
        words += (
            f" {fewest} determines the width of the interval: more people in that group help most."
        )
    return Assumption("groups in balance", holds, words)


def _inside(groups: dict[str, GroupCounts], level: float) -> Iterator[Assumption]:
    missing = [name for name, group in groups.items() if group.size.missing(level) > 0]
    words = (
        f"The bins of {', '.join(missing)} hold fewer people than stated. The stated "
        "number must be that of scored people, not of uploaded people. The interval "
        "accounts for the difference."
        if missing
        else "The bins account for all people, as far as the noise allows a check."
    )
    yield Assumption("everybody is in a bin", not missing, words)
    few = all(
        surely_below(GroupCounts(group.table[-1:], group.size, group.rate), _OUTSIDE, level)
        for group in groups.values()
    )
    words = (
        f"Fewer than {_OUTSIDE:.0%} of the people of every group score outside all bins."
        if few
        else f"It cannot be ruled out that {_OUTSIDE:.0%} or more score outside all bins, "
        "where they count as one more bin. Wider bins would separate their scores."
    )
    yield Assumption("scores inside the bins", few, words)


def _open() -> Iterator[Assumption]:
    yield Assumption(
        "independent people",
        None,
        "The people of a group are assumed to be independent draws from the population "
        "of the verdict. Recruiting by snowball, household or place violates this, and "
        "no release shows it.",
    )
    yield Assumption(
        "the same moment for everybody",
        None,
        "Inputs that change with time of day or session must be frozen for the whole "
        "audience ([IKH23], §4.3.2). The receipt's rules hold the platform's statement "
        "that they were.",
    )
    yield Assumption(
        "the platform's usual model",
        None,
        "The platform scored with the model it uses for everybody. "
        "`auditor_client.consistency.model_test` tests whether several releases can come "
        "from one model. docs/how-to/researchers/check-for-canaries.md explains how to "
        "plan such tests.",
    )
