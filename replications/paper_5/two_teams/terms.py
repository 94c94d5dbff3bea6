"""Terms of a computation by two teams of one organisation, the paper's own setting.

The client's table has rows, each about one member or about a tuple of them (two that are ranked one
below the other, a pair of a positive and a negative), with values and a *cell* that it counts in (a
rank, a threshold). For every tuple of groups asked for, the result is the sum over the rows of each
cell of the product of the members' weights in these groups, times each value.

There is no noise and no price here: nothing leaves the organisation. To hand results of it to an
outside auditor is to release exact sums. There are no resamples either: their draws are public, so
their exact sums are linear equations that give every product away.
"""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Literal

import msgspec

from privacy.errors import BoundsError
from privacy.two_party.bfv_ring import SLOTS, Ring, load_ring
from privacy.two_party.domain_separation import TAG
from privacy.two_party.flooding import Flooding
from privacy.two_party.messages import MAX_MESSAGE
from privacy.two_party.residues import moduli_for
from privacy.two_party.terms import Entries

# Halves of 30 bits add up exactly in words (`shares`).
MAX_ROWS = 2**33
LEAST_ROWS = 10


@dataclass(frozen=True)
class LibraryTerms:
    """Terms that both teams know beforehand: sizes, bounds, and the learner of the sums.

    `members` are those of the tester's table, `people` those of the client's. `tuples` are the
    groups asked for, one group for each member of a row. A cell that is not empty has at least
    `least_rows` different rows (default: 10): a sum of one row would be that row.
    """

    study: str
    members: int
    people: int
    rows: int
    groups: int
    tuples: tuple[tuple[int, ...], ...]
    columns: int
    cells: int
    weights: Entries
    values: Entries
    least_rows: int = LEAST_ROWS
    learner: Literal["client", "tester"] = "client"

    def __post_init__(self) -> None:
        sizes = (self.members, self.people, self.rows, self.columns, self.cells, self.least_rows)
        if min(sizes) < 1 or not self.tuples:
            raise BoundsError("there is nothing to compute: give members, rows, cells and groups")
        if {len(groups) for groups in self.tuples} != {self.arity} or self.arity < 1:
            raise BoundsError("all tuples of groups have as many groups as a row has members")
        if not all(0 <= group < self.groups for groups in self.tuples for group in groups):
            raise BoundsError(f"groups are 0 to {self.groups - 1}")
        if self.share_length > MAX_MESSAGE // 2 or self.rows >= MAX_ROWS:
            raise BoundsError("this asks for more sums than one message holds: ask for fewer")
        for flooding in self.floodings:
            flooding.check()

    @property
    def arity(self) -> int:
        """The number of members of a row."""
        return len(self.tuples[0])

    @property
    def products(self) -> int:
        """The number of sums of one cell: tuples by columns."""
        return len(self.tuples) * self.columns

    @property
    def shape(self) -> tuple[int, int, int]:
        """Return the shape of the result: tuples, cells, columns."""
        return (len(self.tuples), self.cells, self.columns)

    @property
    def share_length(self) -> int:
        return 8 * len(self.rings) * self.products * self.cells

    @cached_property
    def rings(self) -> tuple[Ring, ...]:
        largest = self.rows * int(self.weights.largest**self.arity) * self.values.largest
        return tuple(load_ring(SLOTS, modulus) for modulus in moduli_for(largest))

    @cached_property
    def floodings(self) -> tuple[Flooding, ...]:
        """Flooding of each ring: weights in slots are polynomials with N coefficients up to t/2."""
        return tuple(Flooding(r, r.degree * (r.modulus // 2 + 1), drops=2) for r in self.rings)

    @property
    def blocks(self) -> int:
        return -(-self.rows // self.block_rows)

    @property
    def block_rows(self) -> int:
        """The number of rows in one ciphertext: all slots except the guard."""
        return SLOTS.degree - 1

    @cached_property
    def digest(self) -> bytes:
        return sha256(TAG + b"/library" + msgspec.json.encode(self, order="sorted")).digest()
