"""Who is in which row: by identifiers that were uploaded, or by private set intersection.

Either way a person counts in one row at most, the first that is theirs: two identifiers may be one
person, and what one person can change must not depend on how often the auditor names them (R4).
"""

import os
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privacy.errors import BoundsError
from privacy.two_party.matching import TOKEN, each
from privacy.two_party.randomness import permutation

Persons = NDArray[np.int64]
NOBODY = -1


@dataclass(frozen=True)
class Uploaded:
    """The person of each row, as the platform matched the upload; −1 is nobody."""

    persons: Persons


@dataclass(frozen=True)
class Candidates:
    """The people of the platform who may be matched: tokens, and the person of each of them."""

    tokens: bytes
    persons: Persons

    def __post_init__(self) -> None:
        if len(self.tokens) != TOKEN * len(self.persons):
            raise BoundsError("there is not one person for each token of 32 bytes")

    def shuffled(self, size: int) -> "Candidates":
        """As many as the terms say, in random order; the others are random tokens of nobody.

        They are tokens, not points, so that they take as long to blind as those of people.
        """
        lacking = size - len(self.persons)
        if lacking < 0:
            raise BoundsError(f"{len(self.persons)} candidates are more than the {size} declared")
        tokens = np.frombuffer(self.tokens + os.urandom(TOKEN * lacking), np.uint8)
        order = permutation(size)
        persons = np.concatenate([self.persons, np.full(lacking, NOBODY)])
        return Candidates(tokens.reshape(-1, TOKEN)[order].tobytes(), persons[order])

    def found(self, points: bytes, rows: bytes) -> Persons:
        """The person of each row, by their points and those of the rows, which both blinded."""
        of = dict(zip(each(points), self.persons.tolist(), strict=True))
        return np.array([of.get(point, NOBODY) for point in each(rows)], np.int64)


def once(persons: Persons) -> Persons:
    """The rows' persons, each only in the first row that is theirs."""
    _, first = np.unique(persons, return_index=True)
    kept = np.full_like(persons, NOBODY)
    kept[first] = np.maximum(persons[first], NOBODY)
    return kept
