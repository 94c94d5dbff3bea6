"""What an audit costs, and what would be left."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from openapi.models.wire import Amount, Assumption, Identifier, Wire

Currency = Literal["epsilon", "rho"]
MechanismName = Literal["discrete-laplace", "discrete-gaussian", "laplace-tree", "report-noisy-max"]


class BothRelations(Wire):
    """The same release under both relations of differential privacy.

    `add_remove`: one person more or less. `change_one`: one person's data changed in any way.
    """

    add_remove: Amount
    change_one: Amount


class PricePart(Wire):
    """One table of a release: what it costs, and how large its error is."""

    name: str
    mechanism: MechanismName
    scale: float
    epsilon: BothRelations | None
    rho: BothRelations
    standard_deviation: float
    error_95: Annotated[int, Field(description="P(|error| > error_95) ≤ 5 % for one value.")]


class Price(Wire):
    """What an audit costs. `debit`, the change-one price in the mandate's currency, is charged.

    `epsilon` is absent where there is none, as for Gaussian noise. `exploration_loss` is the most
    that people may lose, in units of reward, by being shown other recommendations than their own:
    it is charged to the mandate's limit for it. `assumes` names what the promise rests on that the
    platform cannot check.
    """

    epsilon: BothRelations | None
    rho: BothRelations
    currency: Currency
    debit: Amount
    exploration_loss: Amount = Decimal(0)
    assumes: list[Assumption] = []
    parts: list[PricePart]


class Advice(Wire):
    """The better mechanism for the question at the same debit, and why."""

    mechanism: MechanismName
    why: str


class Quote(Wire):
    """A price, and what the mandate would have left. Asking spends nothing.

    `remaining_…` are in the mandate's currency, `exploration_…` what people may still lose.
    """

    price: Price
    mandate_id: Identifier
    remaining_before: Amount
    remaining_after: Annotated[Decimal, Field(description="Negative when it is not covered.")]
    exploration_before: Amount = Decimal(0)
    exploration_after: Annotated[Decimal, Field(description="Negative when it is not covered.")] = (
        Decimal(0)
    )
    covered: bool
    buys: Annotated[int, Field(ge=0, description="How many such audits the budget buys.")]
    advice: Advice


class BatchQuote(Wire):
    """Several audits priced together, in the order in which they would be paid."""

    quotes: list[Quote]
    debits: dict[Currency, Amount]
    covered: Annotated[bool, Field(description="Whether the budget covers all of them.")]
