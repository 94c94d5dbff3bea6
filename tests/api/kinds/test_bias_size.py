"""The effect of a corrected allocation, compared with a slow model, and the reach of one row."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.kernel.errors import UnsupportedAuditError
from api.kinds.bias_size import BiasSize, Scored, moved
from api.kinds.context import in_process_context
from api.kinds.registry import AudienceFacts
from api.platforms.interfaces import Log, Platform
from openapi.resources import BiasSizeRequest
from privacy import waist
from privacy.plans.bias_size import BIAS_UNIT
from privacy.tables.membership import Membership
from tests.logs.parquet import ParquetLogs, written
from tests.refusals import refuses

KIND = BiasSize()
FACTS = AudienceFacts(("g0", "g1"), 1, None)
LOG = Log("candidate", {"score": (0.0, 1.0), "outcome": (0.0, 1.0), "query": (0.0, 9.0)})
# Group, person, query, score, and outcome where there was an opportunity.
Row = tuple[int, int, int, float, float | None]
tenths = st.integers(0, 10).map(lambda n: n / 10)
row = st.tuples(
    st.integers(0, 1), st.integers(0, 50), st.integers(0, 2), tenths, st.none() | tenths
)
logs_of_rows = st.lists(row, max_size=14, unique_by=lambda each: (each[1], each[2]))


def asked(**changes: Any) -> BiasSizeRequest:
    fields = {
        "kind": "bias-size",
        "audience_id": "audience_" + "0" * 30,
        "log": "jobs",
        "bins": {"edges": [0.2, 0.5, 0.9]},
        "corrections": [
            {"label": "g1", "add": [0.3, 0.1]},
            {"label": "g0", "add": [0.0, -0.1]},
        ],
        "outcome_range": {"low": 0, "high": 1},
        "epsilon": "1",
    }
    return BiasSizeRequest.model_validate(fields | changes)


def columns(of: list[Row]) -> Scored:
    group, person, query, score, outcome = zip(*of, strict=True) if of else [()] * 5
    outcomes = [np.nan if each is None else each for each in outcome]
    return Scored(
        np.array(group, np.intp),
        np.array(person, np.int64),
        np.array(query, np.float64),
        np.array(score, np.float64),
        np.array(outcomes, np.float64),
    )


def obvious(of: list[Row], places: int | None) -> list[int]:
    """One query after the other, by sorting lists."""
    add = {0: (0.0, -0.1), 1: (0.3, 0.1)}
    counts = {(what, group): 0 for what in range(4) for group in range(2)}
    outcomes = [0, 0]

    def corrected(each: Row) -> float:
        return min(max(1.0 * each[3] + add[each[0]][int(each[3] >= 0.5)], 0.0), 1.0)

    for query in {each[2] for each in of}:
        pool = [each for each in of if each[2] == query]
        given = [each for each in pool if each[4] is not None]
        number = min(len(given), places or len(given))
        was = sorted(given, key=lambda each: (-each[3], each[1]))[:number]
        will = sorted(pool, key=lambda each: (-corrected(each), -each[3], each[1]))[:number]
        for what, these in enumerate((was, will)):
            for rank, each in enumerate(these, start=1):
                counts[what, each[0]] += BIAS_UNIT
                counts[what + 2, each[0]] += round(rank * (BIAS_UNIT / (places or 1)))
                outcomes[what] += round(BIAS_UNIT * (corrected(each) if what else each[4] or 0.0))
    width = 2 if places is None else 4
    return [counts[what, group] for group in range(2) for what in range(width)] + outcomes


@given(logs_of_rows, st.sampled_from([None, 1, 2, 5]))
def test_the_sums_are_the_obvious_ones(of: list[Row], places: int | None) -> None:
    assert moved(asked(places=places), columns(of), 2).tolist() == obvious(of, places)


def test_corrected_scores_are_clipped_before_they_are_compared() -> None:
    """Corrected to 1.02 and 1.01, both are 1: the higher score comes first, as among equals."""
    corrections = [{"label": "g0", "add": [0, 0.02]}, {"label": "g1", "add": [0, 0.1]}]
    of: list[Row] = [(0, 1, 0, 0.99, 1.0), (1, 2, 0, 0.92, None)]
    given_0, corrected_0, given_1, corrected_1, *_ = moved(
        asked(corrections=corrections), columns(of), 2
    ).tolist()
    assert (given_0, corrected_0, given_1, corrected_1) == (BIAS_UNIT, BIAS_UNIT, 0, 0)


@settings(max_examples=150)
@given(logs_of_rows, row, st.sampled_from([None, 1, 2, 3, 8]))
def test_one_row_more_moves_the_table_no_further_than_its_bounds(
    of: list[Row], new: Row, places: int | None
) -> None:
    request = asked(places=places)
    of = [each for each in of if each[1:3] != new[1:3]]
    before, after = (moved(request, columns(each), 2) for each in (of, [*of, new]))
    [mechanism] = KIND.plan(request, FACTS).values()
    bound, apart = mechanism.bounds.added, np.abs(after - before)
    assert apart.sum() <= bound.l1
    assert apart.max() <= bound.linf
    # Half of what `Bounds.rows` allows, which keeps the other half for a change.
    assert 2 * (apart**2).sum() <= bound.l2_squared


@settings(max_examples=150)
@given(logs_of_rows, row, row, st.sampled_from([None, 1, 2, 3, 8]))
def test_a_row_that_becomes_another_moves_it_no_further_than_a_change(
    of: list[Row], one: Row, other: Row, places: int | None
) -> None:
    request = asked(places=places)
    of = [each for each in of if each[1:3] not in (one[1:3], other[1:3])]
    before, after = (moved(request, columns([*of, new]), 2) for new in (one, other))
    [mechanism] = KIND.plan(request, FACTS).values()
    bound, apart = mechanism.bounds.changed, np.abs(after - before)
    assert apart.sum() <= bound.l1
    assert apart.max() <= bound.linf
    assert (apart**2).sum() <= bound.l2_squared


def furthest(places: int | None, lengths: int) -> int:
    """The furthest that one row was seen to move the table, of many random logs."""
    rng = np.random.default_rng(3)
    request, most = asked(places=places, corrections=OPPOSITE), 0
    for _ in range(400):
        size = int(rng.integers(1, lengths))
        of: list[Row] = [
            (int(group), person, 0, round(float(score), 2), float(outcome))
            for person, (group, score, outcome) in enumerate(
                zip(
                    rng.integers(0, 2, size),
                    rng.random(size),
                    rng.integers(0, 2, size),
                    strict=True,
                )
            )
        ]
        new: Row = (int(rng.integers(2)), 99, 0, round(float(rng.random()), 2), 1.0)
        tables = (moved(request, columns(each), 2) for each in (of, [*of, new]))
        before, after = tables
        most = max(most, int(np.abs(after - before).sum()))
    return most


OPPOSITE = [{"label": "g0", "add": [1, 1]}, {"label": "g1", "add": [-1, -1]}]


def test_the_bounds_are_nearly_met() -> None:
    # Without places the bound of 4 is met; with places, 8 of 10 are seen by chance alone.
    assert furthest(None, 8) == 4 * BIAS_UNIT
    assert 7 * BIAS_UNIT < furthest(6, 20) <= 10 * BIAS_UNIT


def test_the_price_is_what_was_asked_and_twice_that_for_a_change() -> None:
    for slots in (False, True):
        facts = AudienceFacts(("g0", "g1"), 1, None, fixed_slots=slots)
        plan = KIND.plan(asked(epsilon="0.3", rows_per_person=3, places=5), facts)
        price = waist.price(plan)
        assert price.amount("epsilon", "add-remove") * 10 == 3
        assert price.amount("epsilon", "change-one") * 10 == 6
        assert plan["sums"].scale == pytest.approx((60 if slots else 30) / 0.3 * BIAS_UNIT)


def test_gaussian_noise_is_priced_by_how_far_a_change_goes() -> None:
    gaussian = {"mechanism": "discrete-gaussian", "rho": "0.5", "epsilon": None}
    for places, f in ((None, 4), (5, 10)):
        for slots, most in ((False, 4 * f), (True, 16 * f)):
            facts = AudienceFacts(("g0", "g1"), 1, None, fixed_slots=slots)
            plan = KIND.plan(asked(**gaussian, rows_per_person=3, places=places), facts)
            assert plan["sums"].bounds.changed.l2_squared == most * (3 * BIAS_UNIT) ** 2
            price = waist.price(plan)
            assert price.amount("rho", "add-remove") * 2 == price.amount("rho", "change-one") == 1


def test_rows_without_an_outcome_had_no_opportunity(tmp_path: Path) -> None:
    rows = {
        "person": [1, 2, 3, 4],
        "query": [7, 7, 7, 7],
        "score": [0.8, 0.6, 0.5, 0.4],
        "outcome": [1.0, 0.0, None, None],
    }
    logs = written(tmp_path, rows, LOG)
    platform = Platform("logs", people=None, logs=logs)  # type: ignore[arg-type]
    KIND.check(asked(), FACTS, platform)
    membership = Membership((np.array([1, 2]), np.array([3, 4])), 1)
    plan = KIND.plan(asked(), FACTS)
    table = KIND.reduce(asked(), plan, [], membership, in_process_context(platform))["sums"]
    # Corrected scores: 0.7, 0.5, 0.6, 0.7: of the two of highest score one is of each group.
    given, corrected = table.cells[:4].reshape(2, 2).T // BIAS_UNIT
    assert (given.tolist(), corrected.tolist()) == ([2, 0], [1, 1])
    shown = KIND.present(asked(), FACTS, (), {"sums": table.cells})
    assert [group.given_ranks for group in shown["groups"]] == [None, None]
    assert shown["outcome"] == BIAS_UNIT


@pytest.mark.parametrize(
    ("changes", "k", "case", "named"),
    [
        ({"corrections": [{"label": "g0", "add": [0, 0]}]}, 1, "corrections", []),
        ({"query": "job"}, 1, "no-such-numbers", ["'job'"]),
        ({"outcome_range": {"low": 0, "high": 2}}, 1, "range", [0.0, 1.0]),
        ({}, 2, "several-groups-per-person", []),
    ],
)
def test_what_cannot_be_asked_is_refused(
    tmp_path: Path, changes: dict[str, Any], k: int, case: str, named: list[object]
) -> None:
    rows = {"person": [1], "query": [7], "score": [0.8], "outcome": [1.0]}
    platform = Platform("logs", people=None, logs=written(tmp_path, rows, LOG))  # type: ignore[arg-type]
    with refuses(UnsupportedAuditError, case, *named):
        KIND.check(asked(**changes), AudienceFacts(("g0", "g1"), k, None), platform)


def test_a_correction_needs_a_number_for_each_bin() -> None:
    with pytest.raises(ValueError, match=r"\b2\b"):
        asked(slopes=[1])


def read(folder: Path, request: BiasSizeRequest, outcomes: list[float], log: Log = LOG) -> Any:
    """The sums of a log in which each of two people has all rows, each of a query of its own."""
    rows = len(outcomes)
    frame = pl.DataFrame(
        {
            "person": np.repeat([1, 2], rows),
            "query": np.tile(np.arange(rows) % 10.0, 2),
            "score": np.full(2 * rows, 0.6),
            "outcome": np.tile(outcomes, 2),
        }
    )
    people: Any = None
    frame.write_parquet(folder / "jobs.parquet")
    platform = Platform("logs", people, logs=ParquetLogs(folder, {"jobs": log}))
    membership = Membership((np.array([1]), np.array([2])), 1)
    [sums] = KIND.reduce(
        request, KIND.plan(request, FACTS), [], membership, in_process_context(platform)
    ).values()
    return sums.cells


@pytest.mark.parametrize("most", [1, 2, 3])
def test_nobody_has_more_rows_than_declared(most: int, tmp_path: Path) -> None:
    found = read(tmp_path, asked(rows_per_person=most), [1.0] * 6)
    given = found[[0, 2]]
    assert given.tolist() == [most * BIAS_UNIT] * 2


def test_outcomes_beyond_the_range_asked_for_are_clipped_to_it(tmp_path: Path) -> None:
    """The public range is wider than the one by which outcomes were priced."""
    wide = replace(LOG, numbers={**LOG.numbers, "outcome": (-50.0, 50.0)})
    request = asked(rows_per_person=4)
    found = read(tmp_path, request, [40.0, -40.0, 0.5, 1.0], wide)
    # Two people: 1, 0, 0.5 and 1.
    assert found[-2] == 2 * 2.5 * BIAS_UNIT
