from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from platform_sim import SOFTWARE_JOB, SimulatedPlatform, World
from platform_sim.content.catalogue import Piece
from platform_sim.content.view_context import moments
from platform_sim.learned_model.history import History
from platform_sim.learned_model.relevance import learn

Context = Mapping[str, str | float]


def _rows(history: History, rows: NDArray[np.intp]) -> History:
    return History(*(getattr(history, name)[rows] for name in History.__dataclass_fields__))


def _auc(scores: NDArray[np.float64], clicked: NDArray[np.bool_]) -> float:
    """The chance that a clicked view outscores one that was not (ties do not occur)."""
    ranks = np.argsort(np.argsort(scores)) + 1
    hits = int(clicked.sum())
    wins = float(ranks[clicked].sum()) - hits * (hits + 1) / 2
    return wins / (hits * (clicked.size - hits))


def _held_out_auc(world: World, catalogue: tuple[Piece, ...]) -> float:
    """Learn on three quarters of the content, test on the rest, which the model never saw."""
    numbers = np.arange(len(catalogue))
    old, new = numbers[numbers % 4 > 0], numbers[numbers % 4 == 0]
    model = learn(tuple(catalogue[row] for row in old), _rows(world.history, old), world.seen)
    later = _rows(world.history, new)
    when = moments(later.hours, later.computers)
    views = np.concatenate([world.seen[later.viewers], when], axis=2)
    effects = [model.weights @ model.reader.read(catalogue[row].content) for row in new]
    scores = np.einsum("cvi,ci->cv", views, np.stack(effects))
    return _auc(scores.ravel(), later.clicked.ravel())


def test_model_predicts_clicks_on_new_content_and_reads_its_words(
    ordinary: SimulatedPlatform,
) -> None:
    world = ordinary.world
    silent = tuple(
        Piece(p.topic, {**p.content, "title": "", "text": "", "attributes": {}})
        for p in world.catalogue
    )
    with_words, without = (_held_out_auc(world, told) for told in (world.catalogue, silent))
    # 20,000 views: the standard error of an AUC is below .005.
    assert with_words > 0.70
    assert with_words > without + 0.05
    assert without > 0.55


def test_a_job_is_scored_by_its_words(fair: SimulatedPlatform, noon: Context) -> None:
    engineers = np.flatnonzero(fair.world.qualified("software"))
    nurses = np.flatnonzero(fair.world.qualified("nursing"))
    for title, suited, others in (
        ("Software engineer", engineers, nurses),
        ("Registered nurse", nurses, engineers),
    ):
        job: dict[str, object] = {
            "kind": "job",
            "title": title,
            "text": "",
            "attributes": {},
            "image": None,
        }
        assert fair.score(job, suited, noon).mean() > fair.score(job, others, noon).mean() + 0.05


def test_attributes_and_image_count(fair: SimulatedPlatform, noon: Context) -> None:
    engineers = np.flatnonzero(fair.world.qualified("software"))
    plain = {**SOFTWARE_JOB, "attributes": {}}
    seen = {**SOFTWARE_JOB, "image": b"png"}
    scores = [fair.score(job, engineers, noon).mean() for job in (plain, SOFTWARE_JOB, seen)]
    assert len(set(scores)) == 3


def test_scores_are_finite_in_range_and_spread(fair: SimulatedPlatform, noon: Context) -> None:
    everybody = np.arange(fair.world.people)
    long = {**SOFTWARE_JOB, "kind": "other", "text": "software python " * 600}
    for content in (SOFTWARE_JOB, long, {"kind": "other", "title": "?"}):
        scores = fair.score(content, everybody, noon)
        assert scores.dtype == np.float64
        assert np.isfinite(scores).all()
        assert scores.min() > 0
        assert scores.max() < 1
    able = fair.score(SOFTWARE_JOB, np.flatnonzero(fair.world.qualified("software")), noon)
    counts, _ = np.histogram(able, np.linspace(0, 1, 21))
    assert (counts > 0.02 * len(able)).sum() >= 10
    assert counts.max() < 0.2 * len(able)


def test_score_of_a_subset_is_the_subset_of_scores(
    fair: SimulatedPlatform, noon: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    everybody = np.arange(fair.world.people)
    scores = fair.score(SOFTWARE_JOB, everybody, noon)
    some = np.random.default_rng(1).choice(everybody, 4_321)
    assert np.array_equal(fair.score(SOFTWARE_JOB, some, noon), scores[some])
    monkeypatch.setattr("platform_sim.learned_model.relevance._PEOPLE_AT_ONCE", 977)
    assert np.array_equal(fair.score(SOFTWARE_JOB, everybody, noon), scores)
    assert len(fair.score(SOFTWARE_JOB, everybody[:0], noon)) == 0
