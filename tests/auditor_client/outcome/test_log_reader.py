"""Own rows: quantiles and edges, what is left out, and clear words for what cannot be used."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from auditor_client import InputError, outcome
from tests.auditor_client.outcome.logs import COLUMNS, log
from tests.refusals import refuses


def test_sums_are_those_of_the_rows_from_every_kind_of_table() -> None:
    table = log(500, seed=1)
    data = table.to_pandas()
    for frame in (table, data, pl.DataFrame(data), pl.DataFrame(data).lazy()):
        moments = outcome.from_frame(frame, **COLUMNS, bins=[0, 0.5, 1])
        a, low = data.group == "a", data.score < 0.5
        rows = data[a & low]
        u, v = (rows.score - 0.25) / 0.25, 2 * rows.outcome - 1
        wanted = [len(rows), v.sum(), u.sum(), (u**2).sum(), (u * v).sum(), (v**2).sum()]
        assert moments.sums[0, 0] == pytest.approx(wanted)
        assert moments.groups == ("a", "b")
        assert moments.binary


def test_deciles_hold_a_tenth_of_the_rows_each() -> None:
    moments = outcome.from_frame(log(2_000, seed=2), **COLUMNS)
    assert moments.sums[:, :, 0].sum(axis=0) == pytest.approx([200] * 10, abs=1)


def test_with_a_threshold_quantiles_are_of_those_who_passed_it() -> None:
    moments = outcome.from_frame(log(2_000, seed=2), **COLUMNS, bins=4, threshold=0.5)
    assert moments.edges[0] == 0.5
    counts = moments.sums[:, :, 0].sum(axis=0)
    assert counts == pytest.approx([counts.sum() / 4] * 4, abs=2)
    assert outcome.test(moments, threshold=0.5).tested == (0,)
    with refuses(InputError, "no-row-above-the-threshold", 2):
        outcome.from_frame(log(20, seed=2), **COLUMNS, threshold=2.0)


def test_rows_without_an_outcome_or_outside_of_the_edges_are_left_out() -> None:
    table = log(1_000, seed=3).to_pandas()
    table.loc[:99, "outcome"] = None
    moments = outcome.from_frame(table, **COLUMNS, bins=[0.4, 0.6, 0.8])
    kept = table.dropna().score.between(0.4, 0.8)
    assert moments.sums[:, :, 0].sum() == kept.sum()
    assert moments.left_out == 900 - kept.sum()


def test_outcomes_of_three_values_are_not_binary_and_keep_their_range() -> None:
    table = pd.DataFrame(
        {"score": [0.1, 0.9] * 3, "outcome": [0, 0.4, 1] * 2, "group": list("aabbab")}
    )
    moments = outcome.from_frame(table, **COLUMNS, bins=1)
    assert not moments.binary
    assert moments.outcome_range == (0, 1)
    wide = outcome.from_frame(table.assign(outcome=[0, 3, 5, 1, 2, 4]), **COLUMNS, bins=1)
    assert wide.outcome_range == (0, 5)


def test_one_score_for_everybody_is_one_bin() -> None:
    table = log(400, seed=4).to_pandas().assign(score=0.7)
    found = outcome.test(outcome.from_frame(table, **COLUMNS))
    means = table.groupby("group").outcome.mean()
    assert found.effects[0].estimate == pytest.approx(means["b"] - means["a"])


@pytest.mark.parametrize(
    ("change", "options", "case", "named"),
    [
        ({}, {"score": "points"}, "no-such-column", ["'points'", "score"]),
        ({"score": ["high"] * 40}, {}, "not-numbers", ["'score'"]),
        ({"score": [np.nan] * 40}, {}, "not-finite", [40, "'score'"]),
        ({"outcome": [None] * 40}, {}, "no-outcomes", ["'outcome'"]),
        (
            {"outcome": [2.0] * 40},
            {"outcome_range": (0.0, 1.0)},
            "outcome-out-of-range",
            [40, 0, 1],
        ),
        ({"outcome": [7.0] * 40}, {}, "constant-outcome", [7]),
        ({"group": ["a"] * 40}, {}, "one-group", ["'group'", "(a)"]),
        ({"group": [None] + ["a"] * 39}, {}, "missing-values", [1, "'group'"]),
        ({}, {"bins": [0.5, 0.2]}, "not-increasing", []),
        ({}, {"bins": 0}, "number-of-bins", [1, 1000]),
        ({"score": [0.1] * 20 + [0.9] * 20}, {"bins": [0.5, 1]}, "empty-group", ["of a"]),
        ({}, {"bins": 1000, "person": "score"}, "number-of-bins-with-persons", [150]),
    ],
)
def test_what_cannot_be_used_is_said(
    change: dict[str, Any], options: dict[str, Any], case: str, named: list[object]
) -> None:
    good = {
        "score": np.linspace(0, 1, 40),
        "outcome": [0.0, 1.0] * 20,
        "group": ["a"] * 20 + ["b"] * 20,
    }
    with refuses(InputError, case, *named):
        outcome.from_frame(pd.DataFrame({**good, **change}), **{**COLUMNS, **options})


def test_a_table_is_asked_for() -> None:
    with refuses(InputError, "not-a-table", "pandas", "Polars", "Arrow"):
        outcome.from_frame("rows.csv", **COLUMNS)


def test_a_person_may_be_in_several_groups() -> None:
    table = pa.table(
        {
            "score": [0.2, 0.3, 0.6, 0.7, 0.4],
            "outcome": [1.0, 0.0, 1.0, 1.0, 0.0],
            "group": ["a", "b", "a", "b", "b"],
            "person": ["p", "p", "p", "q", "q"],
        }
    )
    personal = outcome.from_frame(table, **COLUMNS, bins=[0, 0.5, 1], person="person").personal
    assert personal is not None
    assert personal.clusters.tolist() == [2, 2]
    assert personal.people.tolist() == [[1, 1], [2, 1]]
    # Of p, in the first bin, n = 1 in a and n = 1 in b: their product, and that of q, who has 0·1
    assert personal.products[0, 0, 0, 5] == 1
    # p has a row of a in each bin
    assert personal.products[0, 0, 1, 0] == 1


def test_rows_that_share_a_job_are_warned_of_with_the_figure() -> None:
    rng = np.random.default_rng(4)
    table = log(400, seed=5).append_column("job", pa.array(rng.integers(0, 20, 400)))
    moments = outcome.from_frame(table, **COLUMNS, bins=2, query="job")
    assert moments.shared is not None
    assert (moments.shared.rows, moments.shared.queries) == (400, 20)
    words = outcome.test(moments).words()
    [warning] = [each for each in words if "WARNING" in each]
    assert "400 rows share 20 jobs" in warning
    assert "21 %" in warning


def test_rows_alone_in_their_query_are_not_warned_of() -> None:
    table = log(400, seed=5)
    alone = table.append_column("query", pa.array(np.arange(400)))
    # Each list is one person's: persons as clusters cover it.
    own = alone.set_column(
        alone.column_names.index("person"), "person", pa.array(np.arange(400) // 4)
    ).set_column(alone.column_names.index("query"), "query", pa.array(np.arange(400) // 2))
    for frame, person in ((alone, None), (own, "person")):
        moments = outcome.from_frame(frame, **COLUMNS, bins=2, query="query", person=person)
        assert moments.shared is not None
        assert moments.shared.rows == 0
        assert not any("21 %" in each for each in outcome.test(moments).words())
    # Nobody said which rows share a query: the words say what that assumes.
    assert any(
        "21 %" in each for each in outcome.test(outcome.from_frame(alone, **COLUMNS)).words()
    )
