"""Who counts in which group, with the cuts that bound what one person can change (R4).

People are de-duplicated after matching, since two identifiers may be one person, and a person
counts in at most `groups_per_person` groups: the first ones in the order of the groups. The rule
looks at that person's own groups only, never at values or at other people.
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
    """For each group, sorted distinct person numbers; nobody is in more groups than declared."""

    groups: tuple[Persons, ...]
    groups_per_person: int

    def __post_init__(self) -> None:
        for persons in self.groups:
            if persons.size and (persons[0] < 0 or np.any(persons[1:] <= persons[:-1])):
                raise BoundsError("the people of a group are not distinct and sorted")

    @classmethod
    def cut(cls, groups: Sequence[Persons], groups_per_person: int) -> "Membership":
        """De-duplicate and cut. A negative number is nobody, and is dropped."""
        person = np.concatenate([*groups, np.empty(0, np.int64)])
        group = np.repeat(np.arange(len(groups)), [len(members) for members in groups])
        person, group = _sorted(person[person >= 0], group[person >= 0], len(groups))
        new_person = np.diff(person, prepend=-1) != 0
        distinct = new_person | (np.diff(group, prepend=-1) != 0)
        group, person, new_person = group[distinct], person[distinct], new_person[distinct]
        kept = _rank_within_person(new_person) < groups_per_person
        group, person = group[kept], person[kept]
        return cls(tuple(person[group == g] for g in range(len(groups))), groups_per_person)

    def everyone(self) -> Persons:
        """The distinct people of all groups, each once."""
        if len(self.groups) == 1:
            return self.groups[0]
        together = np.concatenate([*self.groups, np.empty(0, np.int64)])
        return together if self.groups_per_person == 1 else np.unique(together)

    def batches(self, size: int = BATCH) -> Iterator[tuple[int, Persons]]:
        """All people, at most `size` at a time, each batch with the number of its group.

        A group of nobody is one empty batch: that nobody was found makes no call less.
        """
        for group, persons in enumerate(self.groups):
            for start in range(0, max(1, len(persons)), size):
                yield group, persons[start : start + size]


def among(some: Persons, persons: Persons) -> NDArray[np.bool_]:
    """Which of some people are among these, who are sorted."""
    if not len(persons):
        return np.zeros(len(some), np.bool_)
    place = np.minimum(np.searchsorted(persons, some), len(persons) - 1)
    return np.asarray(persons[place] == some)


def _sorted(
    person: Persons, group: NDArray[np.int64], groups: int
) -> tuple[Persons, NDArray[np.int64]]:
    """By person, and by group within a person."""
    if person.size and person.max() > np.iinfo(np.int64).max // groups - 1:
        order = np.lexsort((group, person))
        return person[order], group[order]
    # Numbers are sorted many times faster than places; both are in one, and taken apart again.
    both = np.sort(person * groups + group)
    return both // groups, both % groups


def _rank_within_person(new_person: NDArray[np.bool_]) -> NDArray[np.int64]:
    """0, 1, 2 … for the groups of each person, given where a new person begins."""
    position = np.arange(len(new_person))
    start = np.maximum.accumulate(np.where(new_person, position, 0))
    return position - start
