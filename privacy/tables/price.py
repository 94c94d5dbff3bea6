"""Prices: exact amounts in named currencies.

Every release has a price under both relations of differential privacy: one person is added or
removed (`ADD_REMOVE`), and one person's data change in any way (`CHANGE_ONE`). The price is in pure
epsilon and in rho of zero-concentrated differential privacy. An epsilon-DP release is (epsilon² /
2)-zCDP; a Gaussian release has a rho, and its epsilon is `INFINITE`.

The loss of people who are shown other content than their own is a separate currency, in units of
reward. It measures an effect on people, not information about them: no two inputs are compared. So
it has one amount, the largest loss (`MAX_LOSS`), and no relation.

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
# Price in epsilon of a mechanism without an epsilon: more than any mandate has.
INFINITE: Final = math.inf
Amount = Fraction | float


@dataclass(frozen=True)
class ExactPrice:
    """Amounts by currency and relation; an absent amount is zero."""

    amounts: Mapping[Name, Amount]

    @classmethod
    def epsilon(cls, *, add_remove: Fraction, change_one: Fraction) -> "ExactPrice":
        """Return the price of a purely private release, in both currencies."""
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
        """Return the price of a Gaussian release."""
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
        """Return the price of the largest loss of all people together."""
        return cls({(EXPLORATION, MAX_LOSS): loss})

    def amount(self, currency: Currency, relation: Relation) -> Amount:
        return self.amounts.get((currency, relation), Fraction(0))

    @property
    def exploration_loss(self) -> Fraction:
        return Fraction(self.amounts.get((EXPLORATION, MAX_LOSS), 0))

    def debit(self, currency: Currency) -> Amount:
        """Return the debit of an account in this currency: always the change-one price."""
        return self.amount(currency, CHANGE_ONE)

    def __add__(self, other: "ExactPrice") -> "ExactPrice":
        # The price of two releases together is the sum. [BS16]
        names = self.amounts.keys() | other.amounts.keys()
        return ExactPrice({name: self._at(name) + other._at(name) for name in sorted(names)})

    def covers(self, other: "ExactPrice") -> bool:
        """Tell whether this price covers the other one, in every currency."""
        return all(self._at(name) >= amount for name, amount in other.amounts.items())

    def _at(self, name: Name) -> Amount:
        return self.amounts.get(name, Fraction(0))


FREE = ExactPrice({})


def approximate_epsilon(rho: Fraction, delta: Fraction) -> float:
    """Return the epsilon for which rho-zCDP is (epsilon, delta)-DP, rounded up."""
    # epsilon = rho + 2 · sqrt(rho · ln(1/delta))   [BS16]
    epsilon = float(rho) + 2 * math.sqrt(float(rho) * math.log(1 / float(delta)))
    # Each operation errs by at most one part in 2⁵²; there are fewer than eight operations.
    return math.nextafter(epsilon * (1 + 2**-49), math.inf)
