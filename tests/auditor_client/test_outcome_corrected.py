"""The size of a bias: redistribution after correction, on logs where the answer is known."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from auditor_client import InputError, outcome

NAMES: dict[str, Any] = {"score": "score", "outcome": "outcome", "group": "group", "query": "query"}
THRESHOLD = 0.5
QUERIES = 400


def _log(bias: float, *, lists: bool = False, seed: int = 1) -> pa.Table:
    """Candidates whose outcome is q, for sure; scores of b fall short of it by `bias`."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(QUERIES), 40)
    b = rng.random(len(query)) < 0.5
    q = rng.uniform(0.1, 0.9, len(query))
    score = q - bias * b
    given = score >= THRESHOLD
    if lists:
        order = np.lexsort((-score, query))
        rank = np.empty(len(query), np.int64)
        rank[order] = np.tile(np.arange(40), QUERIES)
        given = rank < 15
    return pa.table(
        {
            "score": score,
            "outcome": pa.array(q, mask=~given),
            "group": np.where(b, "b", "a"),
            "query": query,
            "q": q,
        }
    )


def test_notifications_go_to_those_who_were_under_scored() -> None:
    found = outcome.notifications(_log(0.15), **NAMES, threshold=THRESHOLD)
    a, b = found.groups["a"], found.groups["b"]
    assert a.before + b.before == a.after + b.after
    # At q >= .5 of [.1, .9] a had half of its people, b (q >= .65) 31 %.
    assert a.before / b.before == pytest.approx(0.5 / 0.3125, rel=0.05)
    best, gain = _by_q(0.15)
    assert (a.after, b.after) == pytest.approx(best, rel=0.01)
    assert b.percent > 20
    assert found.outcome.percent == pytest.approx(gain, rel=0.01)


def _by_q(bias: float) -> tuple[tuple[int, int], float]:
    """Of each group, how many are among as many of each query with the largest q; and the gain."""
    table = _log(bias).to_pandas()
    sent = table.score >= THRESHOLD
    table["place"] = table.groupby("query").q.rank(ascending=False)
    best = table[table.place <= sent.groupby(table["query"]).sum()[table["query"]].to_numpy()]
    counts = best.group.value_counts()
    return (counts["a"], counts["b"]), 100 * (best.q.sum() / table.q[sent].sum() - 1)


def test_a_fair_score_is_left_almost_as_it_is() -> None:
    found = outcome.notifications(_log(0.0), **NAMES, threshold=THRESHOLD)
    assert found.groups["a"].percent == pytest.approx(0, abs=1e-9)
    ranks = outcome.ranks(_log(0.0, lists=True), **NAMES)
    assert ranks["a"].difference == pytest.approx(0, abs=1e-9)


def test_the_under_scored_move_up_in_lists() -> None:
    found = outcome.ranks(_log(0.15, lists=True), **NAMES)
    assert found["b"].difference < -0.5
    assert found["a"].difference > 0.5
    # Once corrected, both are spread alike over the fifteen places that are seen.
    assert found["a"].after == pytest.approx(found["b"].after, abs=0.4)


def test_rows_above_the_threshold_need_outcomes() -> None:
    with pytest.raises(InputError, match="have no outcome"):
        outcome.notifications(_log(0.0), **NAMES, threshold=0.4)


def test_a_group_without_outcomes_is_refused() -> None:
    table = _log(0.0)
    nobody = pa.table({"score": [0.1], "group": ["c"], "query": [0], "q": [0.1]})
    with pytest.raises(InputError, match="No row of c has an outcome"):
        outcome.ranks(pa.concat_tables([table, nobody], promote_options="default"), **NAMES)


def test_too_many_bins_are_refused() -> None:
    few = _log(0.0).slice(0, 120)
    with pytest.raises(InputError, match="fewer bins"):
        outcome.notifications(few, **NAMES, threshold=THRESHOLD, bins=40)
