"""Prospects of an audit for its price page: what it can tell, and the errors of its numbers.

They are the SDK's own, so that page and command say the same. Importing this imports SciPy.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from auditor_client.kinds.forecasts import Forecast, ForecastAudience
from auditor_client.kinds.lifetime_caps import rho_used, within_lifetime
from auditor_client.kinds.registry import auditor_kind
from auditor_client.kinds.stated_errors import StatedError
from openapi.kinds.unions import AnyRequest
from openapi.resources import Audience, Audit, Catalogue, Quote


@dataclass(frozen=True)
class Prospect:
    """Forecast of an audit, and the error of each part of its release."""

    forecast: Forecast
    errors: tuple[StatedError, ...]


def prospect_of(
    request: AnyRequest,
    quote: Quote,
    audience: Audience,
    catalogue: Catalogue,
    earlier: Iterable[Audit],
) -> Prospect:
    """Return what an audit can tell; `earlier` are the auditor's own audits, newest first."""
    kind, price = auditor_kind(request.kind), quote.price
    told = kind.forecast(request, ForecastAudience.of(audience), catalogue)
    used, cap = rho_used(earlier, audience), catalogue.limits.rho_per_person
    forecast = within_lifetime(told, request, price, used, cap)
    return Prospect(forecast, kind.errors(request, price))
