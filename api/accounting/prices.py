"""Prices for the accounting: exact amounts, and the parts that a charge states."""

from fractions import Fraction
from typing import Any

from openapi.resources import Price
from privacy.tables.price import ADD_REMOVE, CHANGE_ONE, INFINITE, ExactPrice

# The fields of a part that the ledger states (docs/reference/ledger.md, format 3).
_STATED = {"name", "mechanism", "bounds", "sensitivity", "scale", "parameter"}


def exact_price(price: Price) -> ExactPrice:
    """Return the price of a charge as exact amounts."""
    amounts = {}
    for currency, both in (("epsilon", price.epsilon), ("rho", price.rho)):
        for relation, name in ((ADD_REMOVE, "add_remove"), (CHANGE_ONE, "change_one")):
            amount = INFINITE if both is None else Fraction(getattr(both, name))
            amounts[currency, relation] = amount
    private = ExactPrice(amounts)  # type: ignore[arg-type]  # keys are literals, which mypy widens
    return private + ExactPrice.exploration(Fraction(price.exploration_loss))


def stated_parts(price: Price) -> list[dict[str, Any]]:
    """Return the parts of a price that a charge states, from which the price can be recomputed."""
    return [part.model_dump(mode="json", include=_STATED) for part in price.parts]
