"""Counts of people in clusters, converted to counts of fewer independent people.

A share of n people has a variance of at most f·p(1-p)/n, where f is the design effect. Counts,
sizes and the scale of the noise are divided by f. Then the share, its sampling variance and the
variance of its noise are those of the clustered people, and every analysis of independent people
applies. Cumulative counts are rounded to whole people, which adds the variance of two roundings to
the noise.

With few clusters this is an approximation: it matches variances and not whole distributions.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate, pairwise

from auditor_client.fairness.bin_tests import GroupCounts
from auditor_client.stats.noise import AnyNoise, Gaussian, Laplace, NoNoise, distribution, variance

# The variance of two roundings to whole numbers.
_ROUNDING = 1 / 6


def clustered(groups: Mapping[str, GroupCounts], effect: float) -> dict[str, GroupCounts]:
    """Return the groups in the form of an analysis, for this design effect."""
    if effect <= 1:
        return dict(groups)
    return {name: _one(group, effect) for name, group in groups.items()}


def _one(group: GroupCounts, effect: float) -> GroupCounts:
    running = [round(value / effect) for value in accumulate(group.table, initial=0)]
    table = tuple(after - before for before, after in pairwise(running))
    noise, size = _scaled(group.rate, effect), group.size
    return GroupCounts(
        table,
        replace(
            size,
            total=sum(table),
            rate=noise,
            known=None if size.known is None else max(round(size.known / effect), 1),
            noisy=None if size.noisy is None else round(size.noisy / effect),
            noisy_rate=size.noisy_rate if size.noisy is None else _scaled(size.noisy_rate, effect),
        ),
        noise,
    )


def _scaled(noise: AnyNoise, effect: float) -> AnyNoise:
    """Return noise of the same form with the variance of the scaled noise and of roundings."""
    law = distribution(noise)
    if isinstance(law, NoNoise):
        return noise
    wanted = variance(noise) / effect**2 + _ROUNDING
    if isinstance(law, Gaussian):
        return Gaussian(wanted)
    # Var = 2q / (1 - q)² of discrete Laplace noise, q = exp(-rate)
    ratio = 1 + 1 / wanted - math.sqrt((1 + 1 / wanted) ** 2 - 1)
    return Laplace(-math.log(ratio))
