"""Two-party audits: the sums of weights times values, before they are encrypted.

The auditor's weights are the same in all worlds: rows named by a person's first identifiers have
all their weight in the first hidden group, the others in the last. The platform's side is its own:
the join of rows and people, the values, and how they are clipped.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from math import nan
from typing import Any

import numpy as np
from hypothesis import strategies as st

from api.kinds.two_party import SUMS, terms_of, values_of
from api.operations.sensitivity.audiences import SearchedAudience, Source
from api.operations.sensitivity.compare import Cells
from api.operations.sensitivity.families import Size
from api.operations.sensitivity.people import PeopleWorld
from api.operations.sensitivity.running import CONTENTS, coupled
from privacy.tables.price import Relation
from tests.privacy_audit.sensitivity.kinds import log_cdf, scores
from tests.privacy_audit.sensitivity.kinds.rows import (
    is_sampled,
    larger,
    others_with_rows,
    with_rows,
    with_same_rows,
)
from tests.privacy_audit.sensitivity.options import CONTENT_ID, EXACT, Option, shares, worlds
from tests.privacy_audit.sensitivity.running import platform_of

KIND = "two-party"
SOURCES: tuple[Source, ...] = ("upload", "confirmed", "hidden")
JOBS: list[Any] = [
    (score, outcome, 0.0, "north") for score, outcome in product((0.2, 1.2, 2.0), (0.0, 1.0, nan))
]
# The bounds of a hidden audience count a change as a removal and an addition, each of two people.
_DISPLACED = ("false positives, 2 rows", "outcomes", "outcomes, 2 rows, squares", "AUC, 2 rows")
_HIDDEN = shares(1.0, 0.5)


@dataclass(frozen=True)
class Exchanged(Option):
    """An option whose table is made by the party: the service never has it in the clear."""

    def tables(self, world: PeopleWorld) -> Mapping[str, Cells]:
        terms = terms_of(self.request, self.audience.facts, "audit")
        with coupled(world.seed):
            persons = self.audience.rows(world)
            contents = CONTENTS[: len(self.request.content_ids)]
            read = values_of(self.request, contents, platform_of(world))
            values = np.zeros((len(persons), terms.cells), np.int64)
            values[persons >= 0] = terms.values.clip(read(persons[persons >= 0]))
        return {SUMS: self._weights(len(persons)).T @ values}

    def _weights(self, rows: int) -> Cells:
        found = np.zeros((rows, self.request.hidden_groups), np.int64)
        first = np.arange(rows) < rows // self.audience.groups
        found[np.arange(rows), np.where(first, 0, self.request.hidden_groups - 1)] = (
            self.request.weight_scale
        )
        return found


def audience_of(source: Source, size: Size) -> SearchedAudience:
    return SearchedAudience(source, people=size.people, ordered=True)


def asked_for(metric: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    return {"metric": metric, "hidden_groups": 2, "weight_scale": 10, "epsilon": "1", **changes}


def attained(source: Source) -> Mapping[Relation, float]:
    return _HIDDEN if source == "hidden" else EXACT


def options(size: Size) -> list[Option]:
    found = []
    for source in SOURCES:
        audience = audience_of(source, size)
        found += [
            _option(f"{name}, {source}", asked_for(metric), audience, size)
            for name, metric in _metrics(size).items()
            if source == "upload" or name == "histogram" or _is_tried(name, source)
        ]
    upload = audience_of("upload", size)
    changes: dict[str, dict[str, Any]] = {
        "another weight scale": {"weight_scale": 3},
        "another price": {"epsilon": "0.5"},
    }
    changes |= {"three hidden groups": {"hidden_groups": 3}}
    histogram = _metrics(size)["histogram"]
    found += [
        _option(name, asked_for(histogram, **each), upload, size) for name, each in changes.items()
    ]
    unordered = replace(upload, ordered=False)
    sample = SearchedAudience("sample", people=size.people + 1)
    for name, audience in (("without its order", unordered), ("sample", sample)):
        refused = _option(name, asked_for(histogram), audience, size)
        found.append(replace(refused, refused=True))
    return found


def _is_tried(name: str, source: Source) -> bool:
    """Whether a metric is also tried where people displace each other: one of each sort is."""
    return source == "hidden" and name in _DISPLACED


def _metrics(size: Size) -> dict[str, dict[str, Any]]:
    """Metrics of single people; those of lists are in `lists`."""
    score = {"name": "score-histogram", "content_id": CONTENT_ID, "bins": scores.edges(size)}
    flagged = {"name": "false-positives", "log": "jobs", "predicted": "score", "actual": "outcome"}
    outcomes = {"name": "outcomes", "log": "jobs", "outcome_range": {"low": 0, "high": 1}}
    auc = {"name": "auc", "log": "jobs", "actual": "outcome", "edges": [1.0, 1.5][: size.bins - 1]}
    return {
        "histogram": score,
        "histogram at night": score | {"context": {"hour": "night"}},
        "histogram, one bin": score | {"bins": {"edges": [0, 3]}},
        "false positives": flagged,
        "false positives, 2 rows": flagged | {"rows_per_person": 2},
        "false positives, swapped": flagged | {"predicted": "outcome", "actual": "score"},
        "false positives, only north": flagged | {"where": {"place": ["north"]}},
        "false positives, items": flagged
        | {"log": "items", "predicted": "relevance", "actual": "outcome"},
        "outcomes": outcomes,
        "outcomes, 2 rows, squares": outcomes | {"rows_per_person": 2, "squares": True},
        "outcomes, only north": outcomes | {"where": {"place": ["north"]}},
        "scores as outcomes": outcomes
        | {"outcome": "score", "outcome_range": {"low": 0, "high": 2}},
        "outcomes, items": outcomes | {"log": "items"},
        "AUC": auc,
        "AUC, 2 rows": auc | {"rows_per_person": 2, "edges": [0.5]},
        "AUC, swapped": auc | {"score": "outcome", "actual": "score"},
        "AUC, only north": auc | {"where": {"place": ["north"]}},
        "AUC, items": auc | {"log": "items", "score": "rank"},
    }


def _option(name: str, asked: dict[str, Any], audience: SearchedAudience, size: Size) -> Option:
    metric = asked["metric"]
    if metric["name"] == "score-histogram":
        humans, strategy = scores.scored(audience, size), scores.larger(audience)
        others, sampled = humans, False
    else:
        items: list[Any] = [(0, rank, *both) for rank in (1, 2) for both in product((0, 1), (0, 1))]
        letters = items if metric["log"] == "items" else [*JOBS, (0.2, 1.0, 0.0, "south")]
        most = metric.get("rows_per_person", 1)
        few = letters if most == 1 else [letters[at] for at in (3, 7, 1)]
        humans = with_rows(audience, few, most)
        sampled = is_sampled(most)
        others = (
            with_same_rows(audience, [letters[3], letters[7]], most)
            if sampled
            else others_with_rows(audience, letters, most)
        )
        rows = st.sampled_from(items) if metric["log"] == "items" else log_cdf.ROWS
        strategy = larger(audience, rows)
    look = worlds(audience, humans, others, size)
    attains = attained(audience.source)
    return Exchanged(KIND, name, asked, audience, look, strategy, attains, sampled=sampled)
