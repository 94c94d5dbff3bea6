"""Assumptions of a charge, from its request and its audience alone."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from api.kinds.registry import KINDS
from api.platforms.interfaces import Platform
from openapi.resources import REQUEST
from privacy.plans import PLANS, assumptions
from tests.privacy.ledger.test_parts import IDS, REQUESTS

# Kinds that read rows of a log, each of which belongs to one person and may be about others.
OF_ROWS = {"outcome-test", "log-cdf", "bias-size", "reo"}
JOBS = {"jobs": SimpleNamespace(person="viewer")}
# All that the rules of a kind ask of a platform.
WITH_LOGS = cast("Platform", SimpleNamespace(logs=SimpleNamespace(logs=lambda: JOBS)))


def complete(asked: dict[str, Any]) -> dict[str, Any]:
    written: dict[str, Any] = REQUEST.validate_python(IDS | asked).model_dump(mode="json")
    return written


@pytest.mark.parametrize("kind", PLANS)
def test_weights_are_assumed_where_they_are_hidden_and_displacement_where_size_is_exact(
    kind: str,
) -> None:
    request = {"kind": kind, "metric": {"name": "score-histogram"}}
    weights = ["bounded-weights"] if kind == "two-party" else []
    rows = ["other-people-in-rows"] if kind in OF_ROWS else []
    assert assumptions(request, fixed_slots=False) == [*weights, *rows]
    assert assumptions(request, fixed_slots=True) == [*weights, "uncounted-displacement", *rows]


@pytest.mark.parametrize("asked", REQUESTS, ids=lambda asked: asked["kind"])
def test_kinds_whose_rules_do_not_protect_others_state_the_assumption(
    asked: dict[str, Any],
) -> None:
    """DESIGN: a release that does not cover some of the people it depends on lists it."""
    request = REQUEST.validate_python(IDS | asked)
    rules = " ".join(KINDS[request.kind].rules(request, WITH_LOGS))
    uncovered = "are not protected" in rules or "is not counted" in rules
    found = assumptions(complete(asked), fixed_slots=False)
    assert ("other-people-in-rows" in found) == uncovered


@pytest.mark.parametrize("metric", [None, "ndcg", {}, {"name": "of-tomorrow"}])
def test_a_metric_that_is_not_known_is_taken_to_read_rows(metric: Any) -> None:
    request = {"kind": "two-party", "metric": metric}
    assert "other-people-in-rows" in assumptions(request, fixed_slots=False)
