"""Lifetime caps in forecasts: the part that earlier audits of the same people have used.

The platform drops people who have reached their cap, and does not show this. An auditor knows their
own charges, which show when nobody of an audience can remain.
"""

import math
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from auditor_client.kinds.forecasts import Forecast
from openapi.resources import Audience, Audit, Price

_REFUNDED = "cancelled"


def rho_used(audits: Iterable[Audit], audience: Audience) -> Decimal:
    """Return the ρ that audits of this audience have debited from each of its people.

    `audits` are the auditor's own, newest first. No audit is older than its audience.
    """
    used = Decimal(0)
    for audit in audits:
        if audit.submitted_at < audience.created_at:
            break
        if audit.request.audience_id == audience.id and audit.state != _REFUNDED:
            used += audit.price.rho.change_one
    return used


def within_lifetime(
    forecast: Forecast, request: Any, price: Price, used: Decimal, cap: Decimal
) -> Forecast:
    """Return the forecast, or one that states that these people have reached their lifetime cap."""
    asked, left = price.rho.change_one, cap - used
    if not used or asked <= left:
        return forecast
    return Forecast(
        f"Your earlier audits of this audience have cost each of its people ρ {used:f} of "
        f"the {cap:f} that the platform allows in a lifetime. This one costs ρ {asked:f}, "
        "so it would count hardly any of them.",
        answers=False,
        enough=f"Use other people{_smaller(request, asked, left)}.",
        at_any_noise=True,
    )


def _smaller(request: Any, asked: Decimal, left: Decimal) -> str:
    """Return the ε or ρ that would fit, if the request has one number for all of its noise."""
    share = Fraction(left) / Fraction(asked)
    if share <= 0:
        return ""
    rho = getattr(request, "rho", None)
    if rho is not None:
        return f", or at most ρ {_rounded_down(float(rho * share))}"
    # ρ grows with the square of ε.
    epsilon = float(getattr(request, "epsilon", None) or 0) * math.sqrt(share)
    return f", or at most ε {_rounded_down(epsilon)}" if epsilon >= 0.01 else ""


def _rounded_down(value: float) -> str:
    return f"{math.floor(100 * value) / 100:g}"
