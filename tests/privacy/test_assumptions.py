"""Assumptions of a charge, from its kind and its audience alone."""

import pytest

from privacy.plans import PLANS, assumptions


@pytest.mark.parametrize("kind", PLANS)
def test_weights_are_assumed_where_they_are_hidden_and_displacement_where_size_is_exact(
    kind: str,
) -> None:
    weights = ["bounded-weights"] if kind == "two-party" else []
    assert assumptions(kind, fixed_slots=False) == weights
    assert assumptions(kind, fixed_slots=True) == [*weights, "uncounted-displacement"]
