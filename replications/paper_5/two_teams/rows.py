"""The two tables: rows of the client, and vectors of weights as the tester sends them."""

import os
from dataclasses import dataclass

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from numpy.typing import NDArray

from privacy.errors import BoundsError
from privacy.two_party.errors import MalformedError
from replications.paper_5.two_teams.terms import LibraryTerms

Integers = NDArray[np.int64]
_NONCE, _TAG = 12, 16


@dataclass(frozen=True)
class Places:
    """Members of each row (row × member), and its cell."""

    members: Integers
    cell: Integers

    def to_bytes(self) -> bytes:
        columns = np.column_stack([self.members, self.cell])
        return columns.astype("<i4").tobytes()

    def part(self, number: int, size: int) -> "Places":
        here = slice(number * size, (number + 1) * size)
        return Places(self.members[here], self.cell[here])

    @classmethod
    def joined(cls, parts: "list[Places]") -> "Places":
        return cls(
            np.concatenate([part.members for part in parts]),
            np.concatenate([part.cell for part in parts]),
        )

    @classmethod
    def from_bytes(cls, terms: LibraryTerms, data: bytes) -> "Places":
        columns = np.frombuffer(data, "<i4").reshape(-1, terms.arity + 1).astype(np.int64)
        limits = [*[terms.people] * terms.arity, terms.cells]
        if np.any(columns < 0) or np.any(columns >= limits):
            raise MalformedError("a row names a member or a cell that there is not")
        return cls(columns[:, :-1], columns[:, -1])

    def check(self, terms: LibraryTerms) -> None:
        """Raise `MalformedError` if a cell is of fewer tuples of members than the terms allow.

        The exact sum of a cell of one row is that row: it would reveal the weights or the values of
        its members.
        """
        distinct = np.unique(np.column_stack([self.cell, self.members]), axis=0)
        _, counts = np.unique(distinct[:, 0], return_counts=True)
        if counts.min(initial=terms.least_rows) < terms.least_rows:
            raise MalformedError(
                f"a cell has fewer than {terms.least_rows} different rows",
                case="few-rows-in-a-cell",
            )


@dataclass(frozen=True)
class ClientRows:
    """Client's table: the place of each row, and its values (row × column)."""

    places: Places
    values: Integers

    def check(self, terms: LibraryTerms) -> None:
        places, declared = self.places, terms.values
        shapes = (places.members.shape, places.cell.shape, self.values.shape)
        rows = (terms.rows,)
        if shapes != ((*rows, terms.arity), rows, (*rows, terms.columns)):
            raise BoundsError("the table does not have the rows and columns of the terms")
        Places.from_bytes(terms, places.to_bytes()).check(terms)
        if self.values.min() < declared.low or self.values.max() > declared.high:
            raise BoundsError("a value is not within its declared bounds")


def vector_length(terms: LibraryTerms) -> int:
    """Return the bytes of one member's encrypted weights."""
    return _NONCE + 8 * terms.groups + _TAG


class VectorKey:
    """Tester's symmetric key: AES-256 in GCM, with a fresh nonce for each member."""

    def __init__(self) -> None:
        self._cipher = AESGCM(AESGCM.generate_key(256))

    def encrypt(self, weights: Integers) -> bytes:
        nonce = os.urandom(_NONCE)
        return nonce + self._cipher.encrypt(nonce, weights.astype("<i8").tobytes(), None)

    def decrypt(self, data: bytes) -> Integers:
        try:
            plain = self._cipher.decrypt(data[:_NONCE], data[_NONCE:], None)
        except InvalidTag as error:
            raise MalformedError(
                "a member's weights came back altered", case="altered-weights"
            ) from error
        return np.frombuffer(plain, "<i8").astype(np.int64)
