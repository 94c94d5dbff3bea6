"""Logs of opportunities: scored people, given opportunities, and outcomes.

`instajob`: candidates of jobs, notified where the score reaches a threshold. `pymk`: candidates in
members' lists, ranked by score and seen as far as the viewer scrolled; `pymk-viewers` has the same
rows as those of the viewers, for audits that protect the viewers. Outcomes exist only for given
opportunities. It has the methods of `api.platforms.interfaces`'s Logs, without importing them.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from platform_sim.draws.randomness import stream
from platform_sim.jobs.outcome_model import OutcomeModel, learn
from platform_sim.jobs.outcomes import Prejudice, expected_outcomes, realise_outcomes
from platform_sim.jobs.pairs import Pairs, job_pairs, list_pairs
from platform_sim.learned_model.bias import Bias
from platform_sim.people.demographics import ATTRIBUTES
from platform_sim.world import World

THRESHOLD = 0.3
_VERSION = 1
_MAKERS = {"instajob": job_pairs, "pymk": list_pairs}
_GIVEN = {"instajob": "notified", "pymk": "seen"}
# Log whose rows belong to the owners of lists, by the log with the same rows.
_VIEWERS = {"pymk-viewers": "pymk"}
_LEARNED_FROM = 400_000
_LEARNED_FROM_EACH = 20
_SCROLL_ON = 0.9
_ROWS_AT_ONCE = 65_536


@dataclass(frozen=True, eq=False)
class Logged:
    """One log, sorted by person. `truth` is E[Y] of each row, which is in no column."""

    table: pa.Table
    truth: NDArray[np.float64]


class Opportunities:
    """Both logs of a world, with about `rows` scored pairs each.

    `bias` is the model's, added to its scores; `prejudice` is people's, in the past from which the
    model learned and now. `told`: whether the model knows people's gender.
    """

    def __init__(
        self,
        world: World,
        *,
        rows: int = 200_000,
        bias: Bias | None = None,
        prejudice: Prejudice | None = None,
        told: bool = True,
    ) -> None:
        self.world = world
        self.rows = rows
        self.bias = bias
        self.prejudice = prejudice or Prejudice()
        self.told = told
        self._made: dict[str, Logged] = {}
        self._models: dict[str, OutcomeModel] = {}

    def logs(self) -> Mapping[str, Mapping[str, Any]]:
        """Return the public description of each log."""
        found = {name: self._public(name) for name in _MAKERS}
        for name, same in _VIEWERS.items():
            lists = {"query": "query", "place": "rank", "candidate": "candidate"}
            found[name] = {**found[same], "person": "viewer", "ranking": lists}
        return found

    def read(
        self, log: str, persons: NDArray[np.int64], columns: Sequence[str]
    ) -> Iterator[pa.RecordBatch]:
        """Yield all rows of these sorted and distinct people, in their order."""
        table = self.log(log).table.select(["person", *(c for c in columns if c != "person")])
        owners = table["person"].to_numpy()
        starts = np.searchsorted(owners, persons, side="left")
        counts = np.searchsorted(owners, persons, side="right") - starts
        before = np.cumsum(counts) - counts
        rows = np.arange(counts.sum()) + np.repeat(starts - before, counts)
        for start in range(0, len(rows), _ROWS_AT_ONCE):
            taken = table.take(pa.array(rows[start : start + _ROWS_AT_ONCE]))
            yield from taken.combine_chunks().to_batches()

    def log(self, name: str) -> Logged:
        """Return the log of this name, which is made at its first use."""
        if name not in (*_MAKERS, *_VIEWERS):
            raise ValueError(f"{name!r} is none of {', '.join((*_MAKERS, *_VIEWERS))}")
        if name not in self._made:
            same = _VIEWERS.get(name)
            self._made[name] = self._make(name) if same is None else _of_viewers(self.log(same))
        return self._made[name]

    def table(self, name: str, attribute: str = "gender") -> pa.Table:
        """Return the log as a researcher would hold it, with a column of the people's attribute."""
        made = self.log(name).table
        codes = self.world.demographics.codes(attribute)[made["person"].to_numpy()]
        return made.append_column(attribute, pa.array(ATTRIBUTES[attribute]).take(pa.array(codes)))

    def write(self, name: str, path: str | Path, attribute: str = "gender") -> None:
        """Write the log as Parquet."""
        pq.write_table(self.table(name, attribute), path)

    @cached_property
    def _genders(self) -> NDArray[np.int8]:
        return self.world.demographics.gender

    def _public(self, name: str) -> Mapping[str, Any]:
        most = max(self.world.people - 1, len(self.world.catalogue))
        return {
            "person": "candidate",
            "numbers": {"score": (0.0, 1.0), "outcome": (0.0, 1.0), "query": (0.0, float(most))},
            "words": {_GIVEN[name]: ("yes", "no")},
            "model_digest": self._digest(name),
            "traffic": None,
            # Lists that belong to a viewer are in the other log, which protects viewers and
            # candidates.
            "ranking": {"query": "query", "place": "rank"} if name == "instajob" else None,
        }

    def _digest(self, name: str) -> str:
        """Return the digest of the model's inputs, without learning the model."""
        recipe = (_VERSION, name, self.world, self.bias, self.prejudice, self.told)
        return f"sha256:{hashlib.sha256(repr(recipe).encode()).hexdigest()}"

    def _make(self, name: str) -> Logged:
        pairs = _MAKERS[name](self.world, self.rows, name)
        pairs = pairs.take(np.lexsort((pairs.query, pairs.person)))
        score = self._score(self.model(name), pairs)
        chances = self.prejudice.apply(pairs, self.world.demographics)
        outcome = realise_outcomes(chances, self.world.seed, name)
        rank = _ranks(pairs.query, score)
        given = score >= THRESHOLD if name == "instajob" else self._scrolled(pairs.query, rank)
        table = pa.table(
            {
                "person": pairs.person,
                "query": pairs.query,
                "score": score,
                "outcome": pa.array(outcome, mask=~given),
                _GIVEN[name]: pa.array(["no", "yes"]).take(pa.array(given.astype(np.int8))),
                "rank": rank.astype(np.int32),
            }
        )
        return Logged(table, expected_outcomes(chances))

    def model(self, name: str) -> OutcomeModel:
        """Return the model that scores the pairs of this log; it learns at the first call."""
        if name not in self._models:
            self._models[name] = self._learn(name)
        return self._models[name]

    def _learn(self, name: str) -> OutcomeModel:
        """Learn from past pairs, all of which had an opportunity."""
        rows = min(_LEARNED_FROM, _LEARNED_FROM_EACH * self.world.people)
        past = _MAKERS[name](self.world, rows, f"{name}/past")
        chances = self.prejudice.apply(past, self.world.demographics)
        outcomes = realise_outcomes(chances, self.world.seed, f"{name}/past")
        number = len(ATTRIBUTES["gender"]) if self.told else 1
        return learn(past.seen, outcomes, self._genders[past.person], number)

    def _score(self, model: OutcomeModel, pairs: Pairs) -> NDArray[np.float64]:
        score = model.score(pairs.seen, self._genders[pairs.person])
        if self.bias is not None:
            score = self.bias.apply(score, pairs.person, self.world.demographics, self.world.seed)
        return np.clip(score, 0.0, 1.0)

    def _scrolled(self, query: NDArray[np.int64], rank: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell whether each candidate was reached: viewers continue with the same probability at
        each.
        """
        rng = stream(self.world.seed, "pymk/scrolling")
        depth = rng.geometric(1 - _SCROLL_ON, self.world.people)
        return np.asarray(rank <= depth[query])


def _of_viewers(log: Logged) -> Logged:
    """Return the same rows, as those of the viewers: a list is its viewer's."""
    viewer, candidate = log.table["query"].to_numpy(), log.table["person"].to_numpy()
    order = pa.array(np.lexsort((candidate, viewer)))
    table = log.table.set_column(0, "person", log.table["query"])
    table = table.append_column("candidate", log.table["person"])
    return Logged(table.take(order), log.truth[order.to_numpy()])


def _ranks(query: NDArray[np.int64], score: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return ranks: 1 for the highest score of each query."""
    order = np.lexsort((-score, query))
    sorted_query = query[order]
    found = np.empty(len(query), np.int64)
    found[order] = np.arange(len(query)) - np.searchsorted(sorted_query, sorted_query) + 1
    return found
