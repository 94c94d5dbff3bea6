"""Merged groups: from women × Black, women × white … to women, at no further cost.

One release on a crossed audience (`by=["gender", "race"]`) answers questions about one attribute or
several. The merged group has the audience's mix. If that mix differs from the population's, so do
the merged shares. Counts of a merged bin are sums of binomial variables with different shares, so
limits use moments only (`MomentBoundNoise`). They are somewhat wider than those of an audience that
was not crossed. docs/explanation/intervals.md has the proof.
"""

from collections.abc import Mapping

from auditor_client.audiences.labels import JOIN
from auditor_client.errors import InputError
from auditor_client.fairness.bin_tests import GroupCounts
from auditor_client.stats.group_size import GroupSizeEstimate
from auditor_client.stats.noise import MomentBoundNoise, Noise, distribution, sum_of_draws


def merge_by_attribute(groups: Mapping[str, GroupCounts], attribute: int) -> dict[str, GroupCounts]:
    """Return one group per value of an attribute; attribute 0 is the first of `by`."""
    parts = {name: name.split(JOIN) for name in groups}
    depth = {len(values) for values in parts.values()}
    if len(depth) != 1 or not 0 <= attribute < max(depth) or max(depth) < 2:
        raise InputError(
            "The groups are not crossed in this way. Upload the audience with several "
            "columns, as in by=['gender', 'race'], and count its attributes from 0.",
            case="not-crossed",
        )
    by_value: dict[str, list[GroupCounts]] = {}
    for name, values in parts.items():
        by_value.setdefault(values[attribute], []).append(groups[name])
    return {value: _together(members) for value, members in by_value.items()}


def _together(members: list[GroupCounts]) -> GroupCounts:
    if len(members) == 1:
        return members[0]
    table = tuple(map(sum, zip(*(group.table for group in members), strict=True)))
    noise = sum_of_draws(members[0].rate, len(members))
    return GroupCounts(table, _size(members, sum(table), noise), MomentBoundNoise(noise))


def _size(members: list[GroupCounts], total: int, noise: Noise) -> GroupSizeEstimate:
    sizes = [group.size for group in members]
    known = [size.known for size in sizes if size.known is not None]
    noisy = [size.noisy for size in sizes if size.noisy is not None]
    return GroupSizeEstimate(
        total,
        sizes[0].bins,
        noise,
        known=sum(known) if len(known) == len(sizes) else None,
        noisy=sum(noisy) if len(noisy) == len(sizes) else None,
        noisy_rate=sum_of_draws(distribution(sizes[0].noisy_rate), len(sizes)),
    )
