"""Prices: exact amounts of named currencies.

Every release is priced under both relations of differential privacy, one person more or less
(`ADD_REMOVE`) and one person's data changed in any way (`CHANGE_ONE`), in pure epsilon and in rho
of zero-concentrated differential privacy. An epsilon-DP release is (epsilon² / 2)-zCDP; a Gaussian
one has a rho and no epsilon, which is `INFINITE`.

What people lose by being shown something else than they would have been is a currency of its own,
in units of reward. It is what is done to people, not what is learned about them: no two inputs are
compared, so it has one amount, what is `BORNE` at most, and no relation.

[BS16] Bun, Steinke, Concentrated Differential Privacy: Simplifications, Extensions, and Lower
       Bounds, TCC 2016, arXiv:1605.02065 (ε-DP is ε²/2-zCDP; composition adds; conversion).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

Currency = Literal["epsilon", "rho"]
Relation = Literal["add-remove", "change-one"]
Exploration = Literal["exploration-loss"]
MaxLoss = Literal["borne"]
Name = tuple[Currency, Relation] | tuple[Exploration, MaxLoss]
EXPLORATION: Final = "exploration-loss"
MAX_LOSS: Final = "borne"
ADD_REMOVE: Final = "add-remove"
CHANGE_ONE: Final = "change-one"
# More than any mandate holds: the price in epsilon of what has none.
INFINITE: Final = math.inf
Amount = Fraction | float


@dataclass(frozen=True)
class ExactPrice:
    """Amounts by currency and relation; what is absent costs nothing."""

    amounts: Mapping[Name, Amount]

    @classmethod
    def epsilon(cls, *, add_remove: Fraction, change_one: Fraction) -> "ExactPrice":
        """Price a purely private release in both currencies."""
        return cls(
            {
                ("epsilon", ADD_REMOVE): add_remove,
                ("epsilon", CHANGE_ONE): change_one,
                # rho = epsilon² / 2   [BS16]
                ("rho", ADD_REMOVE): add_remove**2 / 2,
                ("rho", CHANGE_ONE): change_one**2 / 2,
            }
        )

    @classmethod
    def rho(cls, *, add_remove: Fraction, change_one: Fraction) -> "ExactPrice":
        """Price a Gaussian release in both currencies."""
        return cls(
            {
                ("epsilon", ADD_REMOVE): INFINITE,
                ("epsilon", CHANGE_ONE): INFINITE,
                ("rho", ADD_REMOVE): add_remove,
                ("rho", CHANGE_ONE): change_one,
            }
        )

    @classmethod
    def exploration(cls, loss: Fraction) -> "ExactPrice":
        """Return the price of what people may lose at most, all together."""
        return cls({(EXPLORATION, MAX_LOSS): loss})

    def of(self, currency: Currency, relation: Relation) -> Amount:
        return self.amounts.get((currency, relation), Fraction(0))

    @property
    def exploration_loss(self) -> Fraction:
        return Fraction(self.amounts.get((EXPLORATION, MAX_LOSS), 0))

    def debit(self, currency: Currency) -> Amount:
        """Return the debit of an account in this currency: always the change-one price."""
        return self.of(currency, CHANGE_ONE)

    def __add__(self, other: "ExactPrice") -> "ExactPrice":
        # What two releases cost together is the sum.   [BS16]
        names = self.amounts.keys() | other.amounts.keys()
        return ExactPrice({name: self._at(name) + other._at(name) for name in sorted(names)})

    def covers(self, other: "ExactPrice") -> bool:
        """Whether this much pays for the other, in every currency."""
        return all(self._at(name) >= amount for name, amount in other.amounts.items())

    def _at(self, name: Name) -> Amount:
        return self.amounts.get(name, Fraction(0))


FREE = ExactPrice({})


def approximate_epsilon(rho: Fraction, delta: Fraction) -> float:
    """Return the epsilon for which rho-zCDP is (epsilon, delta)-DP, rounded up."""
    # epsilon = rho + 2 · sqrt(rho · ln(1/delta))   [BS16]
    epsilon = float(rho) + 2 * math.sqrt(float(rho) * math.log(1 / float(delta)))
    # Each operation errs by at most one part in 2⁵²; eight of them are more than there are.
    return math.nextafter(epsilon * (1 + 2**-49), math.inf)
