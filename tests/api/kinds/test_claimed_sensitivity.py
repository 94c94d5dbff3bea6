"""Every kind claims the reach that its proof states: for groups, rows, slots and both relations.

Prices are ratios of two reaches, and do not show one that is too small in both: noise does. The
expected numbers are written out here by hand, from the proofs at the head of each kind.
"""

from fractions import Fraction
from typing import Any

import pytest

from api.kinds.registry import KINDS, AudienceFacts
from openapi.resources import REQUEST
from privacy import waist
from privacy.tables.bounded_table import Reach
from privacy.tables.price import ADD_REMOVE, Currency
from privacy.waist import LaplaceTree

IDS = {"audience_id": "audience_" + "0" * 30}
CONTENT = {"content_id": "content_" + "0" * 30}
BINS = {"bins": {"edges": [0, 0.5, 1]}}
OF_LOG = {"log": "jobs", "outcome_range": {"low": 0, "high": 1}}
UNIT = 2**20
# Σ w and Σ w² of the six moments of an outcome test, two of which are of 2²⁰, one of 2¹⁹ and three
# of 2¹⁸; and half of how far two rows of one cell are apart, 4·2⁴⁰ + 4·2³⁸ + 2³⁶·(1 + 4 + 1).
MOMENTS_L1 = 2 * 2**20 + 2**19 + 3 * 2**18
MOMENTS_L2 = (4 * 2**40 + 4 * 2**38 + 6 * 2**36) // 2


def bounds_of(table: str, request: dict[str, Any], **facts: Any) -> Any:
    audience = AudienceFacts(**{"labels": ("g0", "g1"), "known_sizes": (5, 5), **facts})
    plan = KINDS[request["kind"]].plan(REQUEST.validate_python(IDS | request), audience)
    return plan[table].bounds


@pytest.mark.parametrize("slots", [False, True])
@pytest.mark.parametrize("groups", [1, 2, 3])
@pytest.mark.parametrize(
    ("table", "request_"),
    [
        ("bins", CONTENT | BINS | {"kind": "score-histogram", "epsilon": "1"}),
        (
            "bins",
            CONTENT
            | BINS
            | {"kind": "score-histogram", "mechanism": "discrete-gaussian", "rho": "1"},
        ),
        ("cdf", CONTENT | BINS | {"kind": "score-cdf", "epsilon": "1"}),
        ("balances", BINS | {"kind": "balance-histogram", "epsilon": "1"}),
    ],
    ids=["histogram, Laplace", "histogram, Gaussian", "cdf", "balances"],
)
def test_a_person_is_one_of_the_counts_of_each_of_their_groups(
    table: str, request_: dict[str, Any], groups: int, slots: bool
) -> None:
    found = bounds_of(table, request_, groups_per_person=groups, fixed_slots=slots)
    cells = (2 if slots else 1) * groups
    assert found.added == Reach(cells, cells, 1)
    assert found.changed == Reach(2 * cells, 2 * cells, 1)


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_sizes_and_matches_move_by_one_in_each_group(groups: int) -> None:
    histogram = CONTENT | BINS | {"kind": "score-histogram", "epsilon": "1"}
    unknown = {"groups_per_person": groups, "known_sizes": None}
    for found in (
        bounds_of("sizes", histogram, **unknown),
        bounds_of("matched", {"kind": "match-count", "epsilon": "1"}, **unknown),
    ):
        assert found.shape == (2,)
        assert found.added == Reach(groups, groups, 1)
        assert found.changed == Reach(2 * groups, 2 * groups, 1)


LOG_CDF = BINS | {"kind": "log-cdf", "log": "jobs", "column": "score", "epsilon": "1"}
REO = {
    "kind": "reo",
    "log": "feed",
    "signals": ["like"],
    "creators": "region",
    "groups": ["north", "south"],
    "strategies": ["new"],
    "epsilon": "1",
}
OUTCOME = OF_LOG | BINS | {"kind": "outcome-test", "epsilon": "1"}


@pytest.mark.parametrize("slots", [False, True])
@pytest.mark.parametrize("groups", [1, 2, 3])
@pytest.mark.parametrize("rows", [1, 2, 5])
@pytest.mark.parametrize(
    ("table", "request_", "row"),
    [
        ("cdf", LOG_CDF, Reach(1, 1, 1)),
        ("counts", REO, Reach(1, 1, 1)),
        (
            "counts",
            REO | {"epsilon": None, "mechanism": "discrete-gaussian", "rho": "1"},
            Reach(1, 1, 1),
        ),
        ("moments", OUTCOME, Reach(MOMENTS_L1, MOMENTS_L2, UNIT)),
        (
            "moments",
            OUTCOME | {"epsilon": None, "mechanism": "discrete-gaussian", "rho": "1"},
            Reach(MOMENTS_L1, MOMENTS_L2, UNIT),
        ),
    ],
    ids=["log-cdf", "reo", "reo, Gaussian", "outcome-test", "outcome-test, Gaussian"],
)
def test_rows_of_a_person_fall_on_one_another_in_each_of_their_groups(
    table: str, request_: dict[str, Any], row: Reach, rows: int, groups: int, slots: bool
) -> None:
    asked = request_ | {"rows_per_person": rows}
    found = bounds_of(table, asked, groups_per_person=groups, fixed_slots=slots)
    people = 2 if slots else 1
    assert found.added.l1 == people * groups * rows * row.l1
    assert found.added.l2_squared == people * groups * rows**2 * row.l2_squared
    assert found.changed.l1 == 2 * found.added.l1
    assert found.changed.l2_squared == 2 * found.added.l2_squared


@pytest.mark.parametrize("slots", [False, True])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(("places", "furthest"), [(None, 4), (3, 10)])
def test_bias_size_counts_the_people_whom_a_row_displaces(
    places: int | None, furthest: int, rows: int, slots: bool
) -> None:
    request = (
        OF_LOG
        | BINS
        | {
            "kind": "bias-size",
            "corrections": [{"label": label, "add": [0, 0]} for label in ("g0", "g1")],
            "rows_per_person": rows,
            "places": places,
            "epsilon": "1",
        }
    )
    found = bounds_of("sums", request, groups_per_person=1, fixed_slots=slots)
    people = 2 if slots else 1
    assert found.added.l1 == people * furthest * rows * UNIT
    assert found.changed.l1 == 2 * found.added.l1
    # Cells are not apart: norms add up, not their squares.
    assert found.changed.l2_squared == (4 if slots else 1) * 4 * furthest * rows**2 * UNIT**2


@pytest.mark.parametrize(
    ("groups", "slots", "leaves"), [(1, False, 1), (2, False, 2), (2, True, 4)]
)
def test_the_noise_of_a_cdf_is_that_of_all_levels(groups: int, slots: bool, leaves: int) -> None:
    """Three bins of two levels, root and leaves, or of three."""
    audience = AudienceFacts(("g0",), groups, (5,), fixed_slots=slots)
    for request in (
        CONTENT | BINS | {"kind": "score-cdf", "epsilon": "1"},
        LOG_CDF | {"rows_per_person": 1},
    ):
        asked = REQUEST.validate_python(IDS | request)
        tree = KINDS[asked.kind].plan(asked, audience)["cdf"]
        assert isinstance(tree, LaplaceTree)
        levels = {2: 3, 3: 2}[tree.branching]
        assert tree.scale == pytest.approx(levels * leaves)


BIAS = (
    OF_LOG
    | BINS
    | {
        "kind": "bias-size",
        "corrections": [{"label": label, "add": [0, 0]} for label in ("g0", "g1")],
    }
)
GAUSSIAN = {"epsilon": None, "mechanism": "discrete-gaussian", "rho": "0.3"}
LAPLACE = {"epsilon": "0.3"}
HISTOGRAM = CONTENT | BINS | {"kind": "score-histogram"}


@pytest.mark.parametrize("slots", [False, True])
@pytest.mark.parametrize(
    ("table", "request_", "times"),
    [
        ("bins", HISTOGRAM | LAPLACE, 2),
        ("bins", HISTOGRAM | GAUSSIAN, 2),
        ("cdf", CONTENT | BINS | {"kind": "score-cdf"} | LAPLACE, 2),
        ("balances", BINS | {"kind": "balance-histogram"} | LAPLACE, 2),
        ("matched", {"kind": "match-count"} | LAPLACE, 2),
        ("cdf", LOG_CDF | LAPLACE, 2),
        ("counts", REO | LAPLACE, 2),
        ("counts", REO | GAUSSIAN, 2),
        ("moments", OUTCOME | LAPLACE, 2),
        ("moments", OUTCOME | GAUSSIAN, 2),
        ("sums", BIAS | LAPLACE, 2),
        ("sums", BIAS | GAUSSIAN, 2),
    ],
)
def test_a_table_costs_what_was_asked_and_twice_that_for_a_change(
    table: str, request_: dict[str, Any], times: int, slots: bool
) -> None:
    audience = AudienceFacts(("g0", "g1"), 1, (5, 5), fixed_slots=slots)
    asked = REQUEST.validate_python(IDS | request_)
    plan = KINDS[asked.kind].plan(asked, audience)
    assert list(plan) == [table]
    currency: Currency = "rho" if request_.get("rho") else "epsilon"
    price = waist.price(plan)
    assert price.amount(currency, ADD_REMOVE) == Fraction("0.3")
    assert price.debit(currency) == times * Fraction("0.3")
