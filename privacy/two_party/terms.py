"""Terms of a run: all public facts, agreed beforehand and hashed into every message.

Unit: one person. Everybody matches at most one row of the auditor's upload, and adds the outer
product of its weights and their values, w ⊗ v, to the table of sums (groups × cells).
Guarantee: `bounds` limits the change of that table by one person, *if the weights are as declared*.
The platform cannot see the weights; the auditor is bound because a transcript can be opened
(`opening`).

`privacy.tables.sensitivity.Products` has the proof. A platform's side of public size (`candidates`)
is `displacing`: an added person may displace another, as in a sample of exact size.
"""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Self

import msgspec
import numpy as np
from numpy.typing import NDArray

from privacy.errors import BoundsError
from privacy.tables.bounded_table import Bounds
from privacy.tables.sensitivity import Products
from privacy.two_party.bfv_ring import SUMS, Ring, load_ring
from privacy.two_party.domain_separation import TAG
from privacy.two_party.errors import MalformedError
from privacy.two_party.flooding import Flooding
from privacy.two_party.residues import moduli_for

MAX_ROWS = 100_000_000
# An encrypted sum has 131 kB in a message, and 393 kB during its computation.
MAX_TABLE = 2_000


@dataclass(frozen=True)
class Entries:
    """Bounds of the integers of one row: each within [low, high], with a sum of magnitudes of at
    most `total`.
    """

    low: int
    high: int
    total: int

    def __post_init__(self) -> None:
        if not self.low <= 0 <= self.high or self.low == self.high or self.total < 1:
            raise BoundsError("bounds must include 0 and another value: low ≤ 0 ≤ high, total ≥ 1")

    @property
    def largest(self) -> int:
        return min(max(-self.low, self.high), self.total)

    def clip(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return rows within these bounds: entries are clipped, and later ones reduced until their
        magnitudes add up to at most the total.

        Excess is clipped and not refused: an audit may not fail because of one person's values
        (R2).
        """
        clipped = np.clip(rows, self.low, self.high)
        sizes = np.abs(clipped)
        room = np.maximum(self.total - (np.cumsum(sizes, axis=1) - sizes), 0)
        return np.asarray(np.sign(clipped) * np.minimum(sizes, room))


@dataclass(frozen=True)
class RunTerms:
    """Terms of a run: its computation, its size, and its bounds.

    `audit` names the audit of the run. `candidates` is the public size of the platform's side if
    people are matched by private set intersection, and None if identifiers were uploaded. `noise`
    is the range reserved for noise: with noise beyond it, a sum may wrap around.
    """

    audit: str
    rows: int
    groups: int
    cells: int
    weights: Entries
    values: Entries
    noise: int
    moved: int = 0
    candidates: int | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.rows <= MAX_ROWS or self.groups < 1 or self.cells < 1:
            raise BoundsError(
                f"a run must have 1 to {MAX_ROWS} rows, and at least one group and one cell"
            )
        if self.groups * self.cells > MAX_TABLE or self.noise < 0 or self.moved < 0:
            raise BoundsError(
                f"a table must have at most {MAX_TABLE} cells, and no number may be negative"
            )
        if self.candidates is not None and not 1 <= self.candidates <= MAX_ROWS:
            raise BoundsError(f"a set of candidates must have 1 to {MAX_ROWS} members")
        for flooding in self.floodings:
            flooding.check()

    @property
    def largest(self) -> int:
        """The largest magnitude of a sum, including noise."""
        return self.rows * self.weights.largest * self.values.largest + self.noise

    @cached_property
    def rings(self) -> tuple[Ring, ...]:
        """Rings: one for each plaintext modulus that the sums need."""
        return tuple(load_ring(SUMS, modulus) for modulus in moduli_for(self.largest))

    @cached_property
    def floodings(self) -> tuple[Flooding, ...]:
        weight = self.rows * self.values.largest + self.blocks
        return tuple(Flooding(each, weight) for each in self.rings)

    @property
    def block_rows(self) -> int:
        """Number of rows in one ciphertext: all coefficients except the guard."""
        return SUMS.degree - 1

    @property
    def blocks(self) -> int:
        return -(-self.rows // self.block_rows)

    @property
    def shape(self) -> tuple[int, int]:
        return self.groups, self.cells

    @cached_property
    def bounds(self) -> Bounds:
        """Return bounds of the change of the table of sums by one person, if the weights are as
        declared.
        """
        rule = Products(
            self.weights.largest,
            self.weights.total,
            self.values.largest,
            self.values.total,
            moved=self.moved,
            displacing=self.candidates is not None,
        )
        return Bounds.by(self.shape, rule)

    @cached_property
    def digest(self) -> bytes:
        return sha256(TAG + b"/terms" + self.to_json()).digest()

    def to_json(self) -> bytes:
        """Return the canonical serialisation of these terms."""
        return msgspec.json.encode(self, order="sorted")

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        try:
            terms = msgspec.json.decode(data, type=cls)
        except msgspec.MsgspecError as error:
            raise MalformedError(f"these are not terms of a two-party run: {error}") from error
        if terms.to_json() != data:
            raise MalformedError("these terms are not in their canonical form")
        return terms
