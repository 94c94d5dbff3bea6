"""Clusters of an audience: people who were recruited together, such as a household or a class.

People of one cluster are not an independent sample. The variance of a share is then at most Σm² /
Σm times that of independent people, where m are the sizes of the clusters: the design effect at a
correlation of 1 [K65, §5.4]. With a declared correlation r it is 1 + (Σm²/Σm - 1)·r. Clusters stay
on this machine: the platform sees no column of them.

[K65] Kish, Survey Sampling, 1965.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from auditor_client.errors import InputError


@dataclass(frozen=True, slots=True)
class Clusters:
    """Effect of clusters on an analysis: the factor by which a variance may be larger, and its
    reason.
    """

    design_effect: float
    number: int
    largest: int
    correlation: float = 1.0


def clusters_of(
    names: Sequence[str | None],
    tokens: Sequence[Any],
    values: Sequence[Any],
    correlation: float = 1.0,
) -> Clusters:
    """Return the clusters of the rows of an audience; a row without a value is its own cluster."""
    if not 0 <= correlation <= 1:
        raise InputError(
            f"The correlation within clusters must lie between 0 and 1, not {correlation}.",
            case="correlation",
        )
    counts: dict[Any, Counter[str]] = {}
    seen: set[tuple[str, Any]] = set()
    for row, (name, token, value) in enumerate(zip(names, tokens, values, strict=True)):
        if name is None or token is None or (name, token) in seen:
            continue
        seen.add((name, token))
        alone = value is None or value != value
        counts.setdefault(("row", row) if alone else ("cluster", value), Counter())[name] += 1
    found = list(counts.values())
    most = max((sum(each.values()) for each in found), default=1)
    effect = 1 + (_largest_effect(found) - 1) * correlation
    return Clusters(effect, len(found), most, correlation)


def _largest_effect(clusters: Sequence[Mapping[str, int]]) -> float:
    """Return the largest design effect of a group's share, and of the difference of two.

    A difference has weights 1/n of the people of each group. A cluster with people of both groups
    counts as if all of its people differed together: the sign of their common effect is unknown.
    """
    totals: Counter[str] = Counter()
    for each in clusters:
        totals.update(each)
    alone = (_effect(each[name] for each in clusters if name in each) for name in totals)
    together = (_pair_effect(clusters, totals, pair) for pair in combinations(sorted(totals), 2))
    return max([1.0, *alone, *together])


def _effect(sizes: Iterable[int]) -> float:
    known = list(sizes)
    # Σm² / Σm   [K65, §5.4]
    return sum(m * m for m in known) / max(sum(known), 1)


def _pair_effect(
    clusters: Sequence[Mapping[str, int]], totals: Mapping[str, int], pair: tuple[str, str]
) -> float:
    squares = independent = 0.0
    for each in clusters:
        shares = [each.get(name, 0) / totals[name] for name in pair]
        squares += sum(shares) ** 2
        independent += sum(share / totals[name] for share, name in zip(shares, pair, strict=True))
    return squares / independent
