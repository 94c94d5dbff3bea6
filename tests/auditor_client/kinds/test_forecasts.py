"""Forecasts of every kind, and the errors that a price states in the units people think in."""

import pytest

from auditor_client.kinds.building_blocks.planned_noise import planned_parts
from auditor_client.kinds.forecasts import ForecastAudience
from auditor_client.kinds.registry import auditor_kind
from openapi.kinds.registry import CONTRACTS
from openapi.resources import Catalogue
from tests.auditor_client.audiences.test_client import CATALOGUE
from tests.auditor_client.examples import part, price_of

OFFERED = Catalogue.model_validate(CATALOGUE)
FEW = ForecastAudience({"woman": 2, "man": 2})
MANY = ForecastAudience({"woman": 200_000, "man": 200_000})


@pytest.mark.parametrize("name", CONTRACTS)
def test_a_forecast_tells_few_people_from_many(name: str) -> None:
    contract = CONTRACTS[name]
    request = contract.request.model_validate(contract.example)
    few = auditor_kind(name).forecast(request, FEW, OFFERED)
    many = auditor_kind(name).forecast(request, MANY, OFFERED)
    assert (few.answers, many.answers) == (False, name != "envy-freeness")
    assert few.enough, f"{name} does not say what would be enough"
    assert few.sentence.endswith(".")


def test_an_envy_forecast_is_good_once_targets_are_enough() -> None:
    contract = CONTRACTS["envy-freeness"]
    asked = contract.request.model_validate(contract.example | {"targets": 65, "arms": 40})
    assert auditor_kind("envy-freeness").forecast(asked, MANY, OFFERED).answers


def test_the_default_outcome_test_on_two_thousand_people_each_is_refused() -> None:
    contract = CONTRACTS["outcome-test"]
    edges = [step / 10 for step in range(11)]
    asked = contract.request.model_validate(contract.example | {"bins": {"edges": edges}})
    told = auditor_kind("outcome-test").forecast(
        asked, ForecastAudience({"woman": 2000, "man": 2000}), OFFERED
    )
    assert told.answers is False
    assert "9 bins" in told.enough


def test_an_reo_that_cannot_call_a_platform_fair_is_refused_with_enough_people() -> None:
    """The penalty of 4,000 people is off by more than the four-fifths rule allows."""
    contract = CONTRACTS["reo"]
    asked = contract.request.model_validate(contract.example)
    told = auditor_kind("reo").forecast(
        asked, ForecastAudience({"woman": 2000, "man": 2000}), OFFERED
    )
    assert told.answers is False
    assert "people" in told.enough


@pytest.mark.parametrize(
    ("kind", "stated", "counted"),
    [
        (
            "envy-freeness",
            {"counts": (6, 6), "duration": (900, 900), "cost": (383_453_731, 383_454)},
            None,
        ),
        ("outcome-test", {"moments": (3_145_728, 3.0)}, "rows"),
        ("bias-size", {"sums": (2_097_152, 2.0)}, "rows"),
        ("match-count", {"matched": (3, 3)}, "people"),
        ("reo", {"counts": (4, 4)}, "rows"),
    ],
)
def test_a_price_states_errors_in_people_rows_and_reward(
    kind: str, stated: dict[str, tuple[int, float]], counted: str | None
) -> None:
    contract = CONTRACTS[kind]
    request = contract.request.model_validate(contract.example)
    price = price_of(*(part(name, error=units) for name, (units, _) in stated.items()))
    for error in auditor_kind(kind).errors(request, price):
        assert error.error_95 == pytest.approx(stated[error.part][1], abs=0.5)
        assert counted is None or error.counted == counted


def test_the_error_of_what_people_may_lose_is_in_reward() -> None:
    contract = CONTRACTS["envy-freeness"]
    request = contract.request.model_validate(contract.example)
    price = price_of(part("cost", error=383_453_731))
    [error] = auditor_kind("envy-freeness").errors(request, price)
    assert str(error) == "±383,454 reward of all people together (95 %)"


def test_the_plan_has_the_error_that_the_service_states() -> None:
    contract = CONTRACTS["match-count"]
    request = contract.request.model_validate(contract.example | {"epsilon": "1"})
    assert planned_parts(request, FEW)["matched"].error_95 == 3
