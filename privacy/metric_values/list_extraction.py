"""Ranked lists from the rows of a log, within the caps of everybody in them.

A row states the person at one position of one list. Two kinds of logs have such rows:

- of *viewers*: lists are people's. Rows are the viewer's, and those listed are people too, or items
  (`Caps.candidate` is None). `list_caps` says what one person can change.
- of *candidates*: lists are nobody's (`Caps.viewer` is None), as those of a job. A candidate keeps
  the first c of their own rows, whatever others have; a position that two rows claim is blank, so
  that, whatever a log says, one who leaves takes or uncovers one position for each of theirs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from privacy.metric_values.list_caps import (
    NOBODY,
    Caps,
    Mask,
    Numbers,
    cap_lists,
    mix_bits,
    select_first,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ListRows:
    """Rows of lists: number of the list, its owner, a position in it from 0, the person there, and
    numbers.

    People are indices among the people of an audit; others are `NOBODY`. `numbers` has a column for
    each number of a row.
    """

    number: Numbers
    viewer: Numbers
    position: Numbers
    candidate: Numbers
    numbers: Floats

    @classmethod
    def of(
        cls,
        persons: Numbers,
        viewer: Numbers | None,
        query: Numbers,
        position: Numbers,
        candidate: Numbers | None,
        numbers: Floats,
    ) -> "ListRows":
        """Return the lists of these sorted people, from the rows of a log.

        Without viewers the lists have no owner; without candidates the listed are items. A position
        with a missing number is blank.
        """
        nobody, items = np.full(len(query), NOBODY), np.zeros(len(query), np.int64)
        whose = nobody if viewer is None else _among(persons, viewer)
        who = items if candidate is None else _among(persons, candidate)
        who = np.where(np.isfinite(numbers).all(axis=1), who, NOBODY)
        number = mix_bits(query, 0).view(np.int64) + (0 if viewer is None else viewer)
        found = cls(number, whose, position, who, numbers)
        return found if viewer is None else found.take(whose != NOBODY)

    @classmethod
    def concatenate(cls, parts: "Sequence[ListRows]") -> "ListRows":
        """Return all rows of one or more parts."""
        columns = zip(*(vars(part).values() for part in parts), strict=True)
        return cls(*(np.concatenate(column) for column in columns))

    def take(self, which: Mask) -> "ListRows":
        return ListRows(*(column[which] for column in vars(self).values()))

    @property
    def alone(self) -> "ListRows":
        """Every position as a separate list."""
        number = mix_bits(self.number + self.position, 1).view(np.int64)
        return replace(self, number=number, position=np.zeros_like(self.position))


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists by number: owners, people by position, and numbers (list × position × column).

    A blank position has `NOBODY`.
    """

    number: Numbers
    viewer: Numbers
    candidates: Numbers
    numbers: Floats


def extract_lists(rows: ListRows, caps: Caps, seed: int) -> Lists:
    """Return the lists of these rows, within the caps."""
    rows = rows.take((rows.position >= 0) & (rows.position < caps.length))
    if caps.viewer is None and caps.candidate is not None:
        mine = select_first(rows.candidate, mix_bits(rows.number, seed), caps.candidate)
        return _listed(rows.take(mine & (rows.candidate != NOBODY)), caps.length)
    found = _listed(rows, caps.length)
    kept = cap_lists(found.number, found.viewer, found.candidates, caps, seed)
    chosen = kept.lists
    return Lists(found.number[chosen], found.viewer[chosen], kept.candidates, found.numbers[chosen])


def _listed(rows: ListRows, length: int) -> Lists:
    number, start, which = np.unique(rows.number, return_index=True, return_inverse=True)
    flat = which * length + rows.position
    size, columns = len(number) * length, rows.numbers.shape[1]
    candidates = np.full(size, NOBODY)
    candidates[flat] = rows.candidate
    candidates[np.bincount(flat, minlength=size) > 1] = NOBODY
    numbers = np.full((size, columns), np.nan)
    numbers[flat] = rows.numbers
    shape = (len(number), length)
    return Lists(
        number, rows.viewer[start], candidates.reshape(shape), numbers.reshape(*shape, columns)
    )


def _among(persons: Numbers, some: Numbers) -> Numbers:
    """Return the index of each among these people."""
    if not len(persons):
        return np.full(len(some), NOBODY)
    position = np.minimum(np.searchsorted(persons, some), len(persons) - 1)
    return np.where(persons[position] == some, position, NOBODY)
