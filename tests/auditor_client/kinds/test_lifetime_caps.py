"""Forecasts for people whose lifetime cap earlier audits have used up."""

from datetime import datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from auditor_client.audits.offers import Offer
from auditor_client.errors import InputError
from auditor_client.kinds.forecasts import Forecast
from auditor_client.kinds.lifetime_caps import rho_used, within_lifetime
from openapi.kinds.registry import CONTRACTS
from tests.refusals import refuses

SEALED = datetime.fromisoformat("2026-01-02T00:00:00+00:00")
GOOD = Forecast("It will be known.", answers=True)
CAP = Decimal(10)


def costing(rho: str) -> Any:
    return SimpleNamespace(rho=SimpleNamespace(change_one=Decimal(rho)))


def audit(audience: str, rho: str, state: str = "released", hours: int = 1) -> Any:
    return SimpleNamespace(
        request=SimpleNamespace(audience_id=audience),
        state=state,
        price=costing(rho),
        submitted_at=SEALED + timedelta(hours=hours),
    )


def request(**fields: Any) -> Any:
    contract = CONTRACTS["match-count"]
    return contract.request.model_validate(contract.example | fields)


def test_only_charges_of_the_same_audience_count() -> None:
    audience: Any = SimpleNamespace(id="ours", created_at=SEALED)
    audits = [
        audit("ours", "2"),
        audit("theirs", "4"),
        audit("ours", "8", state="cancelled"),
        audit("ours", "0.5", state="failed"),
        audit("ours", "1", hours=-1),  # older than the audience: the list ends here
        audit("ours", "16"),
    ]
    assert rho_used(audits, audience) == Decimal("2.5")


@pytest.mark.parametrize(("used", "asked"), [("0", "11"), ("8", "2"), ("2", "2")])
def test_people_within_the_cap_are_forecast_as_before(used: str, asked: str) -> None:
    assert within_lifetime(GOOD, request(), costing(asked), Decimal(used), CAP) is GOOD


def test_people_above_the_cap_are_named_before_the_payment() -> None:
    told = within_lifetime(GOOD, request(epsilon="1"), costing("2"), Decimal("9.5"), CAP)
    assert (told.answers, told.at_any_noise) == (False, True)
    assert "9.5" in told.sentence
    # Half a rho is left, a quarter of the price: half of the epsilon.
    assert told.enough.endswith("at most ε 0.5.")
    nothing_left = within_lifetime(GOOD, request(), costing("2"), CAP, CAP)
    assert nothing_left.enough == "Use other people."


def test_they_are_refused_with_any_epsilon() -> None:
    told = within_lifetime(GOOD, request(), costing("2"), CAP, CAP)
    offer = Offer(request(), SimpleNamespace(), told)  # type: ignore[arg-type]
    with refuses(InputError, "cannot-answer", "--yes"):
        offer.refuse_hopeless({"epsilon": "1"})
