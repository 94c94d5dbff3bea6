"""Membership of people in groups, with the bounds on what one person can change (R4).

People are deduplicated after matching, because two identifiers may be one person. A person counts
in at most `groups_per_person` groups: the first ones in the order of the groups. The rule reads
only that person's own groups, never values or other people.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privacy.errors import BoundsError

Persons = NDArray[np.int64]
BATCH = 131_072


@dataclass(frozen=True)
class Membership:
    """Sorted distinct person numbers of each group; nobody is in more groups than declared."""

    groups: tuple[Persons, ...]
    groups_per_person: int

    def __post_init__(self) -> None:
        for persons in self.groups:
            if persons.size and (persons[0] < 0 or np.any(persons[1:] <= persons[:-1])):
                raise BoundsError("the people of a group are not distinct and sorted")

    @classmethod
    def from_groups(cls, groups: Sequence[Persons], groups_per_person: int) -> "Membership":
        """Deduplicate people and drop their excess groups. Negative numbers are nobody and are
        dropped.
        """
        groups = [members[members >= 0] for members in groups]
        if groups_per_person >= len(groups):  # nobody can be in too many groups
            return cls(tuple(_distinct(members) for members in groups), groups_per_person)
        person, group = _pairs(groups)
        kept = _rank_within_person(person) < groups_per_person
        person, group = person[kept], group[kept]
        return cls(tuple(person[group == g] for g in range(len(groups))), groups_per_person)

    def everyone(self) -> Persons:
        """Return the distinct people of all groups, each once."""
        if len(self.groups) == 1:
            return self.groups[0]
        together = np.concatenate([*self.groups, np.empty(0, np.int64)])
        return together if self.groups_per_person == 1 else np.unique(together)

    def batches(self, size: int = BATCH) -> Iterator[tuple[int, Persons]]:
        """Yield all people in batches of at most `size`, each with the number of its group.

        An empty group is one empty batch, so a group without matches does not change the number of
        calls.
        """
        for group, persons in enumerate(self.groups):
            for start in range(0, max(1, len(persons)), size):
                yield group, persons[start : start + size]


def is_among(some: Persons, persons: Persons) -> NDArray[np.bool_]:
    """Return which of some people are among these sorted people."""
    if not len(persons):
        return np.zeros(len(some), np.bool_)
    position = np.minimum(np.searchsorted(persons, some), len(persons) - 1)
    return np.asarray(persons[position] == some)


def _pairs(groups: Sequence[Persons]) -> tuple[Persons, NDArray[np.int64]]:
    """Return each pair of person and group once, sorted by person and then by group."""
    number, largest = len(groups), max(int(members.max(initial=0)) for members in groups)
    if largest > np.iinfo(np.int64).max // number - 1:
        group = np.repeat(np.arange(number), [len(members) for members in groups])
        person = np.concatenate(groups)
        order = np.lexsort((group, person))
        person, group = person[order], group[order]
        new = _new(person) | _new(group)
        return person[new], group[new]
    # Sorting numbers is many times faster than sorting indices: both are packed into one number,
    # and unpacked again.
    both = _distinct(np.concatenate([members * number + g for g, members in enumerate(groups)]))
    person = both // number
    return person, both - person * number


def _distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the values, sorted and each once; this is several times faster than `np.unique`."""
    values = np.sort(values)
    return values[_new(values)]


def _new(values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark the values that differ from the one before them."""
    new = np.ones(len(values), np.bool_)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return new


def _rank_within_person(person: Persons) -> NDArray[np.int64]:
    """Return 0, 1, 2 … for the groups of each person."""
    position = np.arange(len(person))
    start = np.maximum.accumulate(np.where(_new(person), position, 0))
    return position - start
