"""The sums of an outcome test against a slow and obvious model, and what one person can change."""

from collections.abc import Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.kernel.errors import InvalidBinsError, UnsupportedAuditError
from api.kinds.building_blocks.log_rows import SelectedRows
from api.kinds.context import in_process_context
from api.kinds.outcome_test import OutcomeTest
from api.kinds.outcome_test import moments as moments_by_group
from api.kinds.registry import KINDS, AudienceFacts, offered
from api.platforms.interfaces import Platform
from openapi.resources import LogCdfRequest, OutcomeTestRequest
from privacy import waist
from privacy.plans.outcome_test import MOMENT_UNITS
from privacy.tables.bounded_table import Cells, Reach
from privacy.tables.membership import Membership
from tests.logs.parquet import opportunities, written
from tests.refusals import refuses

KIND = OutcomeTest()
FACTS = AudienceFacts(labels=("g0", "g1"), groups_per_person=1, known_sizes=None)
EDGES = [0.2, 0.5, 0.6, 1.0]
unit_numbers = st.floats(0, 1, width=32)
rows_of_a_log = st.lists(st.tuples(unit_numbers, unit_numbers), max_size=20)


def asked(**changes: Any) -> OutcomeTestRequest:
    fields = {
        "kind": "outcome-test",
        "audience_id": "audience_" + "0" * 30,
        "log": "jobs",
        "bins": {"edges": EDGES},
        "outcome_range": {"low": 0, "high": 1},
        "epsilon": "1",
    }
    return OutcomeTestRequest.model_validate(fields | changes)


def rows(of: list[tuple[float, float]]) -> SelectedRows:
    score, outcome = np.array(of, np.float64).reshape(-1, 2).T
    return SelectedRows(np.arange(len(of)), {"score": score, "outcome": outcome}, {})


def moments(request: OutcomeTestRequest, of: SelectedRows) -> Cells:
    return moments_by_group(request, of, 0, 1).reshape(-1, len(MOMENT_UNITS))


def obvious(of: list[tuple[float, float]], low: float, high: float) -> list[list[int]]:
    """The sums by bin, one row at a time."""
    table = [[0] * len(MOMENT_UNITS) for _ in EDGES[1:]]
    for score, outcome in of:
        for number, (start, stop) in enumerate(pairwise(EDGES)):
            if start <= score < stop or score == stop == EDGES[-1]:
                u = 2 * (score - start) / (stop - start) - 1
                v = 2 * (min(max(outcome, low), high) - low) / (high - low) - 1
                each = (1, v, u, u * u, u * v, v * v)
                for place, (value, unit) in enumerate(
                    zip(each, MOMENT_UNITS.values(), strict=True)
                ):
                    table[number][place] += round(unit * value)
    return table


def test_groups_are_counted_apart() -> None:
    mixed = rows([(0.3, 1.0), (0.55, 0.0), (0.9, 0.5), (0.1, 1.0)])
    apart = [mixed.take(np.array(which)) for which in ([0, 3], [1, 2])]
    found = moments_by_group(asked(), mixed, np.array([0, 1, 1, 0]), 2)
    assert np.array_equal(found, np.stack([moments(asked(), each) for each in apart]))


@given(rows_of_a_log, st.sampled_from([(0.0, 1.0), (0.25, 0.75), (0.0, 0.1)]))
def test_the_sums_are_the_obvious_ones(
    of: list[tuple[float, float]], limits: tuple[float, float]
) -> None:
    low, high = limits
    request = asked(outcome_range={"low": low, "high": high})
    # Rounding in another order may move each row by one unit.
    expected = np.array(obvious(of, low, high))
    assert np.abs(moments(request, rows(of)) - expected).max() <= len(of)


def test_ends_that_no_float_can_tell_apart_or_hold_apart_do_no_harm() -> None:
    for edges in ([-1.7e308, 1.7e308], [0.0, 5e-324], [-1.7e308, 0.0, 1.7e308]):
        found = moments(asked(bins={"edges": edges}), rows([(0.0, 0.5), (1.0, 1.0), (0.5, 0.0)]))
        assert (np.abs(found) <= 3 * np.array(list(MOMENT_UNITS.values()))).all()


def neighbours(rng: np.random.Generator, k: int, m: int) -> Iterator[tuple[Any, Any]]:
    """Tables of an audience before and after one person's rows come, go or change."""
    corners = list(product((0.2, 0.49999, 1.0, 0.1), (0.0, 1.0)))
    others = [[corners[i] for i in rng.integers(len(corners), size=4)] for _ in range(2)]

    def table(own: list[tuple[float, float]], groups: tuple[int, ...]) -> Any:
        cells = np.stack([moments(asked(), rows(each)) for each in others])
        for group in groups:
            cells[group] += moments(asked(), rows(own[:m]))
        return cells

    sets = [(0,), (1,)] if k == 1 else [(0,), (1,), (0, 1)]
    for _ in range(30):
        one, other = ([corners[i] for i in rng.integers(len(corners), size=m)] for _ in range(2))
        first, second = (sets[i] for i in rng.integers(len(sets), size=2))
        yield table(one, first), table(other, second)
    # All rows in the two worst corners of one cell, and across cells and groups.
    for a, b, first, second in product(corners, corners, sets, sets):
        yield table([a] * m, first), table([b] * m, second)


@pytest.mark.parametrize(("k", "m"), [(1, 1), (2, 1), (1, 3), (2, 3)])
def test_nobody_moves_the_table_further_than_its_bounds(k: int, m: int) -> None:
    rng = np.random.default_rng(7)
    facts = AudienceFacts(("g0", "g1"), k, None)
    bounds = KIND.plan(asked(rows_per_person=m), facts)["moments"].bounds
    furthest = np.zeros(3)
    nobody = np.stack([moments(asked(), rows([]))] * 2)
    for one, other in neighbours(rng, k, m):
        moved = np.abs(one - other).astype(object)
        reach = np.array([moved.sum(), (moved**2).sum(), moved.max()], float)
        furthest = np.maximum(furthest, reach)
        assert moved.sum() <= bounds.changed.l1
        assert (moved**2).sum() <= bounds.changed.l2_squared
        assert moved.max() <= bounds.changed.linf
    for group in range(2):
        alone = nobody.copy()
        alone[group] = moments(asked(), rows([(0.2, 0.0)] * m))
        assert np.abs(alone).sum() * k == bounds.added.l1
        assert (alone.astype(object) ** 2).sum() * k <= bounds.added.l2_squared
    # The bound in L1 is met, so it is no larger than it must be.
    assert furthest[0] == bounds.changed.l1


@pytest.mark.parametrize("mechanism", ["discrete-laplace", "discrete-gaussian"])
@pytest.mark.parametrize(("k", "m", "slots"), [(1, 1, False), (2, 3, False), (1, 2, True)])
def test_the_price_is_what_was_asked_and_twice_that_for_a_change(
    mechanism: str, k: int, m: int, slots: bool
) -> None:
    currency: Any = "rho" if mechanism == "discrete-gaussian" else "epsilon"
    amounts = {"epsilon": None, "rho": None, currency: "0.3"}
    request = asked(mechanism=mechanism, rows_per_person=m, **amounts)
    facts = AudienceFacts(("g0", "g1", "g2"), k, None, fixed_slots=slots)
    price = waist.price(KIND.plan(request, facts))
    assert price.amount(currency, "add-remove") * 10 == 3
    assert price.amount(currency, "change-one") * 10 == 6


def test_a_sample_of_exact_size_has_twice_the_noise() -> None:
    drawn = AudienceFacts(("g0", "g1"), 1, None, fixed_slots=True)
    one, other = (KIND.plan(asked(), facts)["moments"] for facts in (FACTS, drawn))
    assert other.scale == pytest.approx(2 * one.scale)


def test_everybody_counts_with_at_most_their_rows(tmp_path: Path) -> None:
    logs = written(tmp_path, opportunities(np.arange(200), rows_per_person=5))
    platform = Platform("logs", people=None, logs=logs)  # type: ignore[arg-type]
    membership = Membership((np.arange(80), np.arange(80, 300)), 1)
    for m in (1, 4, 9):
        request = asked(rows_per_person=m, bins={"edges": [0, 1]})
        plan = KIND.plan(request, FACTS)
        table = KIND.reduce(request, plan, [], membership, in_process_context(platform))["moments"]
        counts = table.cells[:, 0, 0] / MOMENT_UNITS["count"]
        assert counts.tolist() == [80 * min(m, 5), 120 * min(m, 5)]


def test_the_rows_drawn_are_a_fair_sample(tmp_path: Path) -> None:
    log = opportunities(np.arange(4_000), rows_per_person=4)
    platform = Platform("logs", people=None, logs=written(tmp_path, log))  # type: ignore[arg-type]
    request = asked(bins={"edges": [0, 1]})
    membership = Membership((np.arange(4_000), np.empty(0, np.int64)), 1)
    plan = KIND.plan(request, FACTS)
    table = KIND.reduce(request, plan, [], membership, in_process_context(platform))["moments"]
    mean = table.cells[0, 0, 1] / table.cells[0, 0, 0]
    # v = ±1 about its mean over all rows: 4,000 draws err by 6 deviations with probability 2e-9.
    assert abs(mean - (2 * log["outcome"].mean() - 1)) < 6 / np.sqrt(4_000)


def test_only_rows_with_the_words_asked_for(tmp_path: Path) -> None:
    log = opportunities(np.arange(200), rows_per_person=3)
    platform = Platform("logs", people=None, logs=written(tmp_path, log))  # type: ignore[arg-type]
    request = asked(rows_per_person=9, where={"week": ["1", "3"]}, bins={"edges": [0, 1]})
    membership = Membership((np.arange(200), np.empty(0, np.int64)), 1)
    table = KIND.reduce(
        request, KIND.plan(request, FACTS), [], membership, in_process_context(platform)
    )
    expected = np.isin(log["week"], ["1", "3"]).sum()
    assert table["moments"].cells[0, 0, 0] == expected * MOMENT_UNITS["count"]


@pytest.mark.parametrize(
    ("changes", "case", "named"),
    [
        ({"log": "other"}, "no-such-log", ["'other'"]),
        ({"score": "relevance"}, "no-such-numbers", ["'relevance'"]),
        ({"outcome": "week"}, "no-such-numbers", ["'week'"]),
        ({"where": {"week": ["1", "9"]}}, "no-such-words", ["'9'", "'week'", "3"]),
        ({"where": {"month": ["1"]}}, "no-such-words", ["'month'", "week"]),
        ({"outcome_range": {"low": 0, "high": 2}}, "range", [0.0, 1.0]),
        ({"outcome_range": {"low": 1, "high": 0}}, "range", [0.0, 1.0]),
        ({"outcome_range": {"low": 0.5, "high": 0.5}}, "range", [0.0, 1.0]),
    ],
)
def test_what_the_log_does_not_have_is_refused(
    tmp_path: Path, changes: dict[str, Any], case: str, named: list[object]
) -> None:
    logs = written(tmp_path, opportunities(np.arange(3)))
    platform = Platform("logs", people=None, logs=logs)  # type: ignore[arg-type]
    KIND.check(asked(), FACTS, platform)
    with refuses(UnsupportedAuditError, case, *named):
        KIND.check(asked(**changes), FACTS, platform)


def test_bins_that_do_not_increase_and_platforms_without_logs_are_refused(tmp_path: Path) -> None:
    logs = written(tmp_path, opportunities(np.arange(3)))
    platform = Platform("logs", people=None, logs=logs)  # type: ignore[arg-type]
    with pytest.raises(InvalidBinsError):
        KIND.check(asked(bins={"edges": [0.5, 0.5]}), FACTS, platform)
    mute = Platform("mute", people=None)  # type: ignore[arg-type]
    with refuses(UnsupportedAuditError, "no-logs"):
        KIND.check(asked(), FACTS, mute)
    assert set(offered(platform)) - set(offered(mute)) >= {"outcome-test", "log-cdf"}


def test_the_running_counts_of_a_log_are_those_of_its_rows(tmp_path: Path) -> None:
    log = opportunities(np.arange(300), rows_per_person=2)
    platform = Platform("logs", people=None, logs=written(tmp_path, log))  # type: ignore[arg-type]
    kind = KINDS["log-cdf"]
    body = asked().model_dump(include={"audience_id", "log", "bins", "epsilon"})
    request = LogCdfRequest(**body, kind="log-cdf", column="score", rows_per_person=2)
    plan = kind.plan(request, FACTS)
    membership = Membership((np.arange(300), np.empty(0, np.int64)), 1)
    [table] = kind.reduce(request, plan, [], membership, in_process_context(platform)).values()
    inside, _ = np.histogram(log["score"], EDGES)
    assert table.cells[0].tolist() == [*inside, 600 - inside.sum()]
    # Two rows, which may fall on one another.
    assert table.bounds.added == Reach(2, 4, 2)
    assert table.bounds.changed == Reach(4, 8, 4)


def test_every_row_is_rounded_before_it_is_added() -> None:
    """A sum of rounded rows moves by whole units, whatever else is in it."""
    rows = SelectedRows(
        np.arange(3),
        {"score": np.full(3, 0.5), "outcome": np.full(3, 1 / 3)},
        {},
    )
    request = asked(bins={"edges": [0, 1]}, outcome_range={"low": 0, "high": 1})
    sums = moments_by_group(request, rows, 0, 1)[0, 0].tolist()
    found = dict(zip(MOMENT_UNITS, sums, strict=True))
    assert found["count"] == 3 * MOMENT_UNITS["count"]
    assert found["outcome"] == 3 * round(-MOMENT_UNITS["outcome"] / 3)
    assert found["outcome_squared"] == 3 * round(MOMENT_UNITS["outcome_squared"] / 9)
