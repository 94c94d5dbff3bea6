"""Logs of opportunities: what holds of every row, and whose bias is whose."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from auditor_client import outcome
from platform_sim import Bias, World
from platform_sim.jobs.opportunities import THRESHOLD, Opportunities
from platform_sim.jobs.outcomes import CREDIT, Prejudice

WORLD = World(5, people=20_000)
SELF_CENSORING = Prejudice(first={"woman": -0.6})
RECRUITERS = Prejudice(second={"woman": -0.9})


@cache
def _usual() -> Opportunities:
    return Opportunities(WORLD, rows=60_000)


@pytest.mark.parametrize("name", ["instajob", "pymk"])
def test_rows_are_sorted_and_outcomes_are_there_where_an_opportunity_was(name: str) -> None:
    table = _usual().log(name).table
    person, score = table["person"].to_numpy(), table["score"].to_numpy()
    assert (np.diff(person) >= 0).all()
    assert 0 < score.min() < score.max() < 1
    given = table["notified" if name == "instajob" else "seen"].to_pylist()
    assert table["outcome"].is_valid().to_pylist() == [word == "yes" for word in given]
    assert set(table["outcome"].drop_null().unique().to_pylist()) == {0.0, CREDIT, 1.0}
    pairs = np.stack([person, table["query"].to_numpy()], axis=1)
    assert len(np.unique(pairs, axis=0)) == len(pairs)
    assert 0.5 < len(table) / 60_000 < 1.1


def test_notifications_follow_the_threshold_and_lists_the_rank() -> None:
    jobs, lists = (_usual().log(name).table for name in ("instajob", "pymk"))
    given = np.array(jobs["notified"].to_pylist()) == "yes"
    assert (given == (jobs["score"].to_numpy() >= THRESHOLD)).all()
    data = lists.to_pandas().sort_values(["query", "rank"])
    assert (data.groupby("query").score.diff().dropna() <= 0).all()
    assert data.groupby("query").seen.apply(lambda words: "no,yes" not in ",".join(words)).all()


def test_lists_are_there_as_the_viewers_rows_too() -> None:
    public = _usual().logs()
    assert {name: log["person"] for name, log in public.items()} == {
        "instajob": "candidate", "pymk": "candidate", "pymk-viewers": "viewer"
    }  # fmt: skip
    of_candidates, of_viewers = (_usual().log(name) for name in ("pymk", "pymk-viewers"))
    viewers = of_viewers.table["person"].to_numpy()
    assert (np.diff(viewers) >= 0).all()
    assert (viewers == of_viewers.table["query"].to_numpy()).all()
    assert public["pymk-viewers"]["ranking"]["candidate"] == "candidate"
    assert public["instajob"]["ranking"] == {"query": "query", "place": "rank"}
    assert public["pymk"]["ranking"] is None
    columns = ["query", "candidate", "score", "rank"]
    listed = of_candidates.table.append_column("candidate", of_candidates.table["person"])
    rows = (
        table.select(columns).sort_by([(name, "ascending") for name in columns])
        for table in (listed, of_viewers.table)
    )
    assert next(rows).equals(next(rows))
    assert np.sort(of_viewers.truth) == pytest.approx(np.sort(of_candidates.truth))
    one = viewers[:1]
    batches = list(_usual().read("pymk-viewers", one, ["score", "outcome"]))
    read = pa.Table.from_batches(batches)
    assert len(read) == (viewers == one).sum()
    assert set(read["person"].to_pylist()) == set(one.tolist())


def test_the_score_is_learned_and_predicts() -> None:
    for name in ("instajob", "pymk"):
        made = _usual().log(name)
        score = made.table["score"].to_numpy()
        assert np.corrcoef(score, made.truth)[0, 1] > 0.8
        assert score.mean() == pytest.approx(made.truth.mean(), abs=0.02)


def test_the_same_seed_gives_the_same_log() -> None:
    one, other = (Opportunities(World(9, 2_000), rows=5_000) for _ in range(2))
    assert one.log("pymk").table.equals(other.log("pymk").table)
    assert one.logs() == other.logs()
    biased = Opportunities(World(9, 2_000), rows=5_000, bias=Bias("gender", {"woman": -0.1}))
    assert biased.logs()["pymk"]["model_digest"] != one.logs()["pymk"]["model_digest"]


def test_reading_gives_the_rows_of_those_asked_for() -> None:
    logs = _usual()
    table = logs.log("instajob").table
    asked = np.unique(table["person"].to_numpy())[3:300:7]
    read = pa.Table.from_batches(logs.read("instajob", asked, ["score", "outcome"]))
    wanted = table.filter(np.isin(table["person"].to_numpy(), asked))
    assert read.equals(wanted.select(["person", "score", "outcome"]))
    assert list(logs.read("instajob", np.array([], np.int64), ["score"])) == []
    assert list(logs.read("instajob", np.array([10**9]), ["score"])) == []
    with pytest.raises(ValueError, match=r"'feed'.*instajob, pymk"):
        logs.log("feed")


def test_what_is_public_describes_the_columns() -> None:
    for name, public in _usual().logs().items():
        table = _usual().log(name).table
        for column, (low, high) in public["numbers"].items():
            values = table[column].drop_null().to_numpy()
            assert low <= values.min() <= values.max() <= high
        for column, words in public["words"].items():
            assert set(table[column].unique().to_pylist()) <= set(words)
        assert public["model_digest"].startswith("sha256:")


def test_a_written_log_can_be_read_by_a_researcher(tmp_path: Path) -> None:
    _usual().write("pymk", tmp_path / "pymk.parquet")
    back = pq.read_table(tmp_path / "pymk.parquet")
    assert back.equals(_usual().table("pymk"))
    assert set(back["gender"].unique().to_pylist()) == {"woman", "man", "nonbinary"}


def _effects(name: str, **of_platform: Any) -> tuple[outcome.Tested, float]:
    """The test among women and men, and the true effect: on E[Y] in place of Y."""
    logs = Opportunities(WORLD, rows=150_000, **of_platform)
    table = logs.table(name).append_column("truth", pa.array(logs.log(name).truth))
    both = np.isin(table["gender"].to_numpy(zero_copy_only=False), ["woman", "man"])
    table = table.filter(both & table["outcome"].is_valid().to_numpy())
    names: dict[str, Any] = {"score": "score", "group": "gender", "bins": 5, "person": "person"}
    tested = outcome.test(outcome.from_frame(table, outcome="outcome", **names), reference="woman")
    true = outcome.test(outcome.from_frame(table, outcome="truth", **names), reference="woman")
    for each, exact in zip(tested.effects, true.effects, strict=True):
        # Five bins in each of eight logs at 1e-9 each: a false alarm below 1e-6.
        assert abs(each.estimate - exact.estimate) < 6.2 * each.se
    return tested, float(np.mean([each.estimate for each in true.effects]))


@pytest.mark.parametrize("name", ["instajob", "pymk"])
def test_the_models_own_bias_is_found_and_has_its_size(name: str) -> None:
    tested, true = _effects(name, bias=Bias("gender", {"woman": -0.08}))
    assert true == pytest.approx(-0.08, abs=0.025)
    assert tested.verdict(0.01) == "unfair"
    assert "under-predict woman relative to man" in tested.words(0.01)[1]


@pytest.mark.parametrize("prejudice", [SELF_CENSORING, RECRUITERS])
def test_prejudice_that_the_model_has_learned_is_not_the_models(prejudice: Prejudice) -> None:
    tested, true = _effects("instajob", prejudice=prejudice)
    assert abs(true) < 0.02
    assert tested.verdict(0.02) != "unfair"


def test_a_model_that_cannot_know_of_it_is_wrong_about_those_who_hold_back() -> None:
    tested, true = _effects("instajob", prejudice=SELF_CENSORING, told=False)
    assert true > 0.05  # women with equal scores apply less than it thinks
    assert tested.verdict(0.01) == "unfair"


def test_prejudice_names_groups_that_there_are() -> None:
    with pytest.raises(ValueError, match=r"\bgender\b.*\bwizard\b"):
        Prejudice(second={"wizard": 1.0})
