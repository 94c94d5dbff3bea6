"""What two teams of one organisation compute together: the paper's own setting.

The client's table has rows, each about one member or about a tuple of them (two that are ranked one
below the other, a pair of a positive and a negative), with values, a *cell* that it counts in (a
rank, a threshold) and a *unit* that is resampled as a whole (a query). For every tuple of groups
asked for, the result is the sum over the rows of each cell of the product of the members' weights
in these groups, times each value: once for the sample itself, and once for each resample of units.

There is no noise and no price here: nothing leaves the organisation. To hand results of it to an
outside auditor is to release exact sums, B times over.
"""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Literal

import msgspec

from privacy.errors import BoundsError
from privacy.two_party.flooding import Flooding
from privacy.two_party.messages import MAX_MESSAGE
from privacy.two_party.residues import moduli_for
from privacy.two_party.ring import SLOTS, Ring, ring
from privacy.two_party.terms import TAG, Entries

# Limbs of 20 bits add up exactly in doubles (`shares`).
MAX_TAKEN = 2**33


@dataclass(frozen=True)
class LibraryTerms:
    """All that both teams know beforehand: sizes, bounds, and who learns the sums.

    `members` are those of the tester's table, `people` those of the client's. `tuples` are the
    groups asked for, one group for each member of a row. A unit has at most `rows_per_unit` rows
    in one cell. `seed` fixes the resamples: it is no secret.
    """

    study: str
    members: int
    people: int
    rows: int
    groups: int
    tuples: tuple[tuple[int, ...], ...]
    columns: int
    cells: int
    units: int
    weights: Entries
    values: Entries
    rows_per_unit: int = 1
    resamples: int = 0
    seed: int = 0
    learner: Literal["client", "tester"] = "client"

    def __post_init__(self) -> None:
        sizes = (self.members, self.people, self.rows, self.columns, self.cells, self.taken)
        if min(sizes) < 1 or self.resamples < 0 or not self.tuples:
            raise BoundsError("there is nothing to compute: give members, rows, cells and groups")
        if {len(groups) for groups in self.tuples} != {self.arity} or self.arity < 1:
            raise BoundsError("all tuples of groups have as many groups as a row has members")
        if not all(0 <= group < self.groups for groups in self.tuples for group in groups):
            raise BoundsError(f"groups are 0 to {self.groups - 1}")
        if self.share_length > MAX_MESSAGE // 2 or self.taken >= MAX_TAKEN:
            raise BoundsError("this asks for more sums than one message holds: ask for fewer")
        for flooding in self.floodings:
            flooding.check()

    @property
    def arity(self) -> int:
        """The members of a row."""
        return len(self.tuples[0])

    @property
    def products(self) -> int:
        """The sums of one cell: tuples by columns."""
        return len(self.tuples) * self.columns

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of the result: the sample and its resamples, tuples, cells, columns."""
        return (1 + self.resamples, len(self.tuples), self.cells, self.columns)

    @property
    def share_length(self) -> int:
        return 8 * len(self.rings) * (1 + self.resamples) * self.products * self.cells

    @cached_property
    def rings(self) -> tuple[Ring, ...]:
        largest = self.taken * int(self.weights.largest**self.arity) * self.values.largest
        return tuple(ring(SLOTS, modulus) for modulus in moduli_for(largest))

    @property
    def taken(self) -> int:
        """The most rows of one cell in one resample: it takes as many units as there are."""
        return self.units * self.rows_per_unit

    @cached_property
    def floodings(self) -> tuple[Flooding, ...]:
        """Weights in slots are polynomials with coefficients up to t/2, N of them."""
        return tuple(Flooding(r, r.degree * (r.modulus // 2 + 1), drops=2) for r in self.rings)

    @property
    def blocks(self) -> int:
        return -(-self.rows // self.block_rows)

    @property
    def block_rows(self) -> int:
        """The rows that one ciphertext holds: all slots but the guard."""
        return SLOTS.degree - 1

    @cached_property
    def digest(self) -> bytes:
        return sha256(TAG + b"/library" + msgspec.json.encode(self, order="sorted")).digest()
