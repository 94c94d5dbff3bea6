from typing import Any

import pytest

from api.kinds.envy_freeness.algorithms import Terms, TermsError
from api.kinds.envy_freeness.algorithms.terms import require_arms

GOOD: dict[str, Any] = {"delta": 0.05, "epsilon": 0.05, "alpha": 0.1}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[("delta", value) for value in (0, -0.1, 0.5, 1, float("nan"))],
        *[("epsilon", value) for value in (0, -0.1, 1.1, float("nan"))],
        *[("alpha", value) for value in (0, -0.1, 1.1, float("nan"))],
        *[("omega", value) for value in (0, 1)],
        *[("sigma", value) for value in (0.49, float("nan"), float("inf"))],
        ("bounds", "loose"),
        ("ceiling", 0),
    ],
)
def test_terms_out_of_range_are_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(TermsError, match=rf"^{name}\b"):
        Terms(**{**GOOD, name: value})


def test_the_ends_of_the_ranges_are_allowed() -> None:
    assert Terms(delta=0.49, epsilon=1, alpha=1, ceiling=1).alpha == 1


def test_envy_needs_somebody_else() -> None:
    with pytest.raises(TermsError, match=r"^arms\b"):
        require_arms(0)
