"""Offers: the price and the forecast of an audit before it is paid."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from auditor_client.errors import InputError
from auditor_client.kinds.forecasts import Forecast
from openapi.kinds.parameters import parameters_of
from openapi.kinds.unions import AnyRequest
from openapi.prices import Quote


@dataclass(frozen=True)
class Offer:
    """Request with its price and forecast; `first` is the price of a preceding audit."""

    request: AnyRequest
    quote: Quote
    forecast: Forecast
    first: Quote | None = None
    covered: bool = True

    @property
    def debit(self) -> Decimal:
        """Return the total debit of the mandate."""
        return self.quote.price.debit + (self.first.price.debit if self.first else 0)

    def as_json(self) -> dict[str, Any]:
        """Return the quote, with the forecast and the price of a first audit."""
        forecast = {
            "sentence": self.forecast.sentence,
            "answers": self.forecast.answers,
            "enough": self.forecast.enough,
        }
        return {
            "kind": self.request.kind,
            **self.quote.model_dump(),
            "covered": self.covered,
            "debit": self.debit,
            "first": self.first.model_dump() if self.first else None,
            "forecast": forecast,
        }

    def refuse_hopeless(self, said: Mapping[str, Any]) -> None:
        """Refuse defaults that cannot answer; who gives another ε or ρ has chosen.

        People whom no choice of noise helps are refused with any ε.
        """
        chosen = self._noise_chosen(said) and not self.forecast.at_any_noise
        if self.forecast.answers is not False or chosen:
            return
        raise InputError(
            f"{self.forecast} Nothing was paid. To ask for it nevertheless, give --yes.",
            case="cannot-answer",
        )

    def _noise_chosen(self, said: Mapping[str, Any]) -> bool:
        """Return whether the noise is another one than by default: commands give defaults too."""
        usual = {each.name: each.default for each in parameters_of(type(self.request))}
        given = {name: said[name] for name in ("epsilon", "rho") if said.get(name) is not None}
        return any(str(value) != str(usual.get(name)) for name, value in given.items())
