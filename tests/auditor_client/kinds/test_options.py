from decimal import Decimal

import pytest

from auditor_client.errors import InputError
from auditor_client.kinds.options import equal_edges, parse_bins
from auditor_client.transport.decimals import to_decimal
from openapi.resources import Edges, Levels, ScoreRange
from tests.refusals import refuses

UNIT = ScoreRange(low=0, high=1)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [(1, "1"), (1.0, "1"), (0.1, "0.1"), ("0.25", "0.25"), (Decimal("0.000001"), "0.000001")],
)
def test_epsilon_is_the_number_that_was_typed(typed: object, meant: str) -> None:
    assert to_decimal(typed) == Decimal(meant)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "typed", [0.1 + 0.2, 1 / 3, "0.0000001", "nan", "inf", "one", float("nan")]
)
def test_epsilon_is_never_rounded(typed: object) -> None:
    is_number = not (typed != typed or typed in ("nan", "inf", "one"))
    with refuses(InputError, "too-many-decimals" if is_number else "not-a-number", "epsilon"):
        to_decimal(typed)  # type: ignore[arg-type]


def test_equal_edges_are_exact() -> None:
    edges = equal_edges(10, UNIT)
    assert edges == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]


def test_bins_may_be_a_number_edges_or_levels() -> None:
    assert parse_bins(2, None, UNIT) == Edges(edges=[0, 0.5, 1])
    assert parse_bins([0, 0.1, 1], None, UNIT) == Edges(edges=[0, 0.1, 1])
    assert parse_bins(100, [1, 2, 3], UNIT) == Levels(levels=[1, 2, 3])


@pytest.mark.parametrize("bins", [0, -1, [0], [0, 0, 1], [1, 0], 1001])
def test_bins_that_cannot_be_are_refused(bins: int | list[float]) -> None:
    with pytest.raises(InputError):
        parse_bins(bins, None, UNIT)


def test_levels_must_increase() -> None:
    with refuses(InputError, "not-increasing"):
        parse_bins(100, [1, 1, 2], UNIT)
