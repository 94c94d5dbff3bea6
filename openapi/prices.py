"""Prices of audits, and the budget left after them."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import Field

from openapi.wire_model import Amount, Assumption, Identifier, Wire

Currency = Literal["epsilon", "rho"]
MechanismName = Literal["discrete-laplace", "discrete-gaussian", "laplace-tree", "report-noisy-max"]


class BothRelations(Wire):
    """Price of the same release under both relations of differential privacy.

    `add_remove`: one person is added or removed. `change_one`: one person's data change in any
    way.
    """

    add_remove: Amount
    change_one: Amount


Integer = Annotated[str, Field(pattern=r"^(0|-?[1-9][0-9]*)$", description="An exact integer.")]
ExactScale = Annotated[
    str,
    Field(
        pattern=r"^([0-9]+(/[0-9]+)?|sqrt\([0-9]+(/[0-9]+)?\))$",
        description="The exact scale of the noise: a fraction, or the square root of one.",
        examples=["20", "40/3", "sqrt(25/2)"],
    ),
]


class PartBounds(Wire):
    """Declared numbers from which the sensitivity of a table follows by a named rule.

    The rules are those of `privacy/tables/sensitivity.py`; docs/reference/ledger.md lists them.
    """

    rule: Annotated[str, Field(examples=["counts"])]
    shape: list[int]
    declared: Annotated[
        dict[str, Integer | bool], Field(examples=[{"cells_per_person": "1", "fixed_slots": False}])
    ]


class Norms(Wire):
    """Largest change of a table by one person: L1, squared L2, and the largest cell (L∞)."""

    l1: Integer
    l2_squared: Integer
    linf: Integer


class PartSensitivity(Wire):
    """Sensitivity of a table under both relations."""

    add_remove: Norms
    change_one: Norms


class Parameter(Wire):
    """Epsilon or rho of a part under add/remove."""

    currency: Currency
    amount: Amount


class PricePart(Wire):
    """One table of a release: its bounds, its noise, its price, and its error.

    The first six fields are those of the ledger's charge (format 3). Parts that were priced earlier
    have no bounds, sensitivity or parameter, and their scale is a rounded number.
    """

    name: str
    mechanism: MechanismName
    bounds: PartBounds | None = None
    sensitivity: PartSensitivity | None = None
    scale: ExactScale | float
    parameter: Parameter | None = None
    epsilon: BothRelations | None
    rho: BothRelations
    standard_deviation: float
    error_95: Annotated[int, Field(description="P(|error| > error_95) ≤ 5 % for one value.")]

    @property
    def noise_scale(self) -> float:
        """The scale as a number, rounded to a double."""
        if isinstance(self.scale, float):
            return self.scale
        if self.scale.startswith("sqrt("):
            return math.sqrt(Fraction(self.scale[5:-1]))
        return float(Fraction(self.scale))


class Price(Wire):
    """Price of an audit; `debit`, the change-one price in the mandate's currency, is charged.

    `epsilon` is absent for mechanisms without one, such as Gaussian noise. `exploration_loss` is
    the largest loss of people, in units of reward, because they are shown other recommendations
    than their own. It is debited from the mandate's exploration limit. `assumes` names the
    assumptions of the guarantee that the platform cannot check.
    """

    epsilon: BothRelations | None
    rho: BothRelations
    currency: Currency
    debit: Amount
    exploration_loss: Amount = Decimal(0)
    assumes: list[Assumption] = []
    parts: list[PricePart]


class Advice(Wire):
    """Advice of the better mechanism at the same debit, with the reason."""

    mechanism: MechanismName
    why: str


class Quote(Wire):
    """A price, and the budget that the mandate would have left. A quote spends nothing.

    `remaining_…` are in the mandate's currency; `exploration_…` are the reward that people may
    still lose.
    """

    price: Price
    mandate_id: Identifier
    remaining_before: Amount
    remaining_after: Annotated[
        Decimal, Field(description="Negative if the mandate does not cover the loss.")
    ]
    exploration_before: Amount = Decimal(0)
    exploration_after: Annotated[
        Decimal, Field(description="Negative if the mandate does not cover the price.")
    ] = Decimal(0)
    covered: bool
    buys: Annotated[
        int, Field(ge=0, description="Number of such audits that the budget can pay for.")
    ]
    advice: Advice


class BatchQuote(Wire):
    """Several audits priced together, in the order in which they would be paid."""

    quotes: list[Quote]
    debits: dict[Currency, Amount]
    covered: Annotated[bool, Field(description="Whether the budget covers all of them.")]
