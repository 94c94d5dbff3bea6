"""Joins of rows with people: by uploaded identifiers, or by private set intersection.

In both cases, a person counts in at most one row, their first: one person's influence must not
depend on how often the auditor names them (R4).

With intersection, the platform's side has a public size. Each person and each token has at most one
place, in a uniformly random order that is fresh in each run. If there are more people than places,
a random part gets places, and nobody can see that there were more (R2). An added person displaces
at most one other: the person with the same token, or the last in the order. `RunTerms.bounds`
covers both (docs/explanation/two-party.md, "The platform's side").
"""

import os
from dataclasses import dataclass, field

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB
from numpy.typing import NDArray

from privacy.errors import BoundsError
from privacy.two_party.private_set_intersection import TOKEN, split_items
from privacy.two_party.randomness import draw_permutation

Persons = NDArray[np.int64]
NOBODY = -1
# A key of AES, under which people are put in a random order.
DRAW_KEY_BYTES = 32


@dataclass(frozen=True)
class Uploaded:
    """Person of each row, as the platform matched the upload; −1 is nobody."""

    persons: Persons


@dataclass(frozen=True)
class CandidatePeople:
    """People of the platform who may be matched: tokens, and the person of each token.

    `draw_key` is a secret that decides who is left out where there are too many: with the same
    one, the same people.
    """

    tokens: bytes
    persons: Persons
    draw_key: bytes = field(default_factory=lambda: os.urandom(DRAW_KEY_BYTES), repr=False)

    def __post_init__(self) -> None:
        if len(self.tokens) != TOKEN * len(self.persons):
            raise BoundsError("there must be one person for each token of 32 bytes")

    def beyond(self, size: int) -> int:
        """Return the number of people without a place among `size`, only for the operator."""
        return len(np.unique(self.persons)) - len(self._placed(size))

    def shuffled(self, size: int) -> "CandidatePeople":
        """Return `size` candidates in random order; unused places have random tokens of nobody.

        They are tokens, not points, so that blinding them takes the same time as for people.
        """
        placed = self._placed(size)
        lacking = size - len(placed)
        kept = _tokens(self.tokens)[placed]
        tokens = np.concatenate([kept, _tokens(os.urandom(TOKEN * lacking))])
        persons = np.concatenate([self.persons[placed], np.full(lacking, NOBODY)])
        order = draw_permutation(size)
        return CandidatePeople(tokens[order].tobytes(), persons[order], self.draw_key)

    def _placed(self, size: int) -> NDArray[np.intp]:
        """Return the rows that have places: the first of each person and token, in drawn order."""
        people, first = np.unique(self.persons, return_index=True)
        ordered = first[_order_by_draw(self.draw_key, people)]
        tokens = _tokens(self.tokens)[ordered].view(f"V{TOKEN}")
        _, earliest = np.unique(tokens, return_index=True)
        return ordered[np.sort(earliest)][:size]

    def found(self, points: bytes, rows: bytes) -> Persons:
        """Return the person of each row, by comparing points that both parties blinded."""
        person_by_point = dict(zip(split_items(points), self.persons.tolist(), strict=True))
        return np.array(
            [person_by_point.get(point, NOBODY) for point in split_items(rows)], np.int64
        )


def keep_first_rows(persons: Persons) -> Persons:
    """Return the rows' persons, each only in their first row."""
    _, first = np.unique(persons, return_index=True)
    kept = np.full_like(persons, NOBODY)
    kept[first] = np.maximum(persons[first], NOBODY)
    return kept


def _order_by_draw(draw_key: bytes, people: Persons) -> NDArray[np.intp]:
    """Places of distinct people in the order of AES(key, person): each one's by their own number.

    It takes the same time whether or not anybody is left out.
    """
    blocks = np.zeros((len(people), 2), "<i8")
    blocks[:, 0] = people
    # Blocks are distinct: AES is applied as a permutation of each block, not to encrypt a text.
    cipher = Cipher(AES(draw_key), ECB()).encryptor()  # noqa: S305
    return np.lexsort(np.frombuffer(cipher.update(blocks.tobytes()), "<u8").reshape(-1, 2).T)


def _tokens(data: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(data, np.uint8).reshape(-1, TOKEN)
