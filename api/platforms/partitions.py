"""Partitions: the destinations of people and rows.

If rows are exchanged, the partition of a person is a function of the person's number. So all rows
of a person come together in one partition, from wherever they were stored. If people are only read
by number, neighbours stay together, which costs nothing.
"""

import numpy as np
from numpy.typing import NDArray

from api.kernel.splitmix64 import splitmix64
from api.platforms.interfaces import Columns, Persons
from privacy.tables.membership import Membership

Numbers = NDArray[np.intp]
# Number of people that are inspected to split a membership into parts of equal size.
_SAMPLE = 4_096


def partition_persons(persons: Persons, partitions: int) -> Numbers:
    """Return the number of each person's partition."""
    return (splitmix64(persons.astype(np.uint64)) % np.uint64(partitions)).astype(np.intp)


def partition_keys(keys: NDArray[np.float64], partitions: int) -> Numbers:
    """Return the number of the partition of each key: the same for numbers that are equal."""
    # 0 and −0 are equal and have different bits.
    return partition_persons((np.asarray(keys, np.float64) + 0.0).view(np.int64), partitions)


def split_by_partition(membership: Membership, partitions: int) -> list[Membership]:
    """Return the people of each partition, in their groups, all partitions in the same way."""
    groups = [_split_persons(group, partitions) for group in membership.groups]
    k = membership.groups_per_person
    return [Membership(tuple(each), k) for each in zip(*groups, strict=True)]


def split_by_range(membership: Membership, partitions: int) -> list[Membership]:
    """Split the people by ranges of numbers, with their groups, into slices of about equal size.

    The number of slices does not depend on who was found.
    """
    step = 1 + sum(map(len, membership.groups)) // _SAMPLE
    some = np.sort(np.concatenate([*(group[::step] for group in membership.groups), [0]]))
    cuts = some[np.arange(1, partitions) * len(some) // partitions]
    groups = [np.split(group, np.searchsorted(group, cuts)) for group in membership.groups]
    k = membership.groups_per_person
    return [Membership(tuple(each), k) for each in zip(*groups, strict=True)]


def split_columns(columns: Columns, where: Numbers, partitions: int) -> list[Columns]:
    """Return the rows of each partition, in their original order."""
    order, ends = order_by_partition(where, partitions)
    apart = {name: np.split(column[order], ends) for name, column in columns.items()}
    return [dict(zip(apart, each, strict=True)) for each in zip(*apart.values(), strict=True)]


def order_by_partition(where: Numbers, partitions: int) -> tuple[Numbers, Numbers]:
    """Return the order by partition, which keeps the order within each, and where all but the first
    begin.
    """
    order = np.argsort(where.astype(np.uint16), kind="stable")  # by radix, as they are few
    return order, np.cumsum(np.bincount(where, minlength=partitions))[:-1]


def _split_persons(persons: Persons, partitions: int) -> list[Persons]:
    order, ends = order_by_partition(partition_persons(persons, partitions), partitions)
    return np.split(persons[order], ends)
