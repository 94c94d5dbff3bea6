"""Prices: exact amounts of named currencies.

Every release is priced under both relations of differential privacy: `ADD_REMOVE`, one person more
or less, and `CHANGE_ONE`, one person's data changed in any way, which may take them out of one cell
and put them into another. The ledger debits the second.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

ADD_REMOVE = "epsilon-add-remove"
CHANGE_ONE = "epsilon-change-one"


@dataclass(frozen=True)
class Price:
    """A vector of amounts by currency; a currency that is absent costs nothing."""

    amounts: Mapping[str, Fraction]

    @classmethod
    def epsilon(cls, *, add_remove: Fraction, change_one: Fraction) -> "Price":
        return cls({ADD_REMOVE: add_remove, CHANGE_ONE: change_one})

    def __getitem__(self, currency: str) -> Fraction:
        return self.amounts.get(currency, Fraction(0))

    def __add__(self, other: "Price") -> "Price":
        # Sequential composition: what two releases cost together is the sum.   [DR14, Thm 3.14]
        names = self.amounts.keys() | other.amounts.keys()
        return Price({name: self[name] + other[name] for name in sorted(names)})

    def covers(self, other: "Price") -> bool:
        """Whether this much pays for the other, in every currency."""
        return all(self[name] >= amount for name, amount in other.amounts.items())

    @property
    def debit(self) -> Fraction:
        """What a mandate is charged: the change-one price, whatever the settings."""
        return self[CHANGE_ONE]


FREE = Price({})
