"""What the platform multiplies by hidden weights: values per person, against a loop in Python."""

from collections.abc import Iterable, Mapping, Sequence
from math import exp
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from api.audits.kind import AudienceFacts
from api.audits.two_party import TwoParty, terms_of, values_of
from api.errors import InvalidBinsError, UnsupportedAuditError
from api.platform import Log, Persons, Platform
from openapi.models import TwoPartyRequest

ROWS = (
    # person, score, flagged, positive, outcome
    (1, 0.2, 1, 0, 0.5),
    (1, 0.9, 0, 1, 2.0),
    (2, 0.4, 1, 1, -3.0),
    (4, 0.7, 0, 0, 1.0),
    (4, 0.7, 1, 0, 0.25),
)
COLUMNS = ("person", "score", "flagged", "positive", "outcome")
PERSONS = np.array([4, 1, 3, 2])


class TinyLogs:
    def logs(self) -> Mapping[str, Log]:
        numbers = {"score": (0.0, 1.0), "flagged": (0.0, 1.0), "positive": (0.0, 1.0)}
        return {"decisions": Log(person="candidate", numbers={**numbers, "outcome": (-1.0, 1.0)})}

    def read(self, log: str, persons: Persons, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        rows = [row for row in ROWS if row[0] in persons]
        table = {name: [row[place] for row in rows] for place, name in enumerate(COLUMNS)}
        types = {"person": pa.int64()}
        yield pa.record_batch(
            {
                name: pa.array(table[name], types.get(name, pa.float64()))
                for name in ("person", *columns)
            }
        )


PLATFORM = Platform(name="tiny", people=None, logs=TinyLogs())  # type: ignore[arg-type]
FACTS = AudienceFacts(("g0",), 1, None, members=4, ordered=True)


def asked(rows_per_person: int = 2, **metric: Any) -> TwoPartyRequest:
    return TwoPartyRequest.model_validate(
        {
            "kind": "two-party",
            "audience_id": "audience_" + 30 * "0",
            "metric": {"log": "decisions", "rows_per_person": rows_per_person, **metric},
            "hidden_groups": 2,
            "epsilon": "1",
        }
    )


def of(person: int) -> list[tuple[float, ...]]:
    return [row[1:] for row in ROWS if row[0] == person]


def values(request: TwoPartyRequest) -> list[list[int]]:
    TwoParty().check(request, FACTS, PLATFORM)
    found = values_of(request, [], PLATFORM)(PERSONS)
    assert found.dtype == np.int64
    return [[int(cell) for cell in row] for row in found]


def test_false_positives() -> None:
    request = asked(name="false-positives", predicted="flagged", actual="positive")
    expected = [
        [
            len(of(person)),
            sum(not positive for _, _, positive, _ in of(person)),
            sum(flagged and not positive for _, flagged, positive, _ in of(person)),
        ]
        for person in PERSONS
    ]
    assert values(request) == expected


def test_outcomes_are_cut_and_scaled() -> None:
    limits = {"low": 0, "high": 1}
    request = asked(name="outcomes", outcome_range=limits, squares=True)

    def one(outcome: float) -> list[int]:
        part = min(max(outcome, 0), 1)
        return [1_000, int(part * 1_000 + 0.5), int(part**2 * 1_000 + 0.5)]

    expected = [np.sum([one(row[3]) for row in of(p)] or [[0] * 3], axis=0) for p in PERSONS]
    assert values(request) == [row.tolist() for row in expected]


def test_scores_of_positives_and_negatives_by_bin() -> None:
    request = asked(name="auc", actual="positive", edges=[0.5])
    # positive below, positive above, negative below, negative above
    assert values(request) == [[0, 0, 0, 2], [0, 1, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0]]


def test_kernels() -> None:
    request = asked(name="pot", outcome_range={"low": 0, "high": 1}, points=[0.5], bandwidth=0.2)

    def one(score: float, outcome: float) -> list[int]:
        weight = exp(-(((score - 0.5) / 0.2) ** 2) / 2)
        part = min(max(outcome, 0), 1)
        return [int(weight * 1_000 + 0.5), int(weight * part * 1_000 + 0.5)]

    expected = [np.sum([one(row[0], row[3]) for row in of(p)] or [[0, 0]], axis=0) for p in PERSONS]
    assert values(request) == [row.tolist() for row in expected]


def test_no_more_rows_of_a_person_than_asked_for_are_read() -> None:
    request = asked(1, name="false-positives", predicted="flagged", actual="positive")
    assert [row[0] for row in values(request)] == [1, 1, 0, 1]


def test_nobody_has_no_values() -> None:
    request = asked(name="false-positives", predicted="flagged", actual="positive")
    assert values_of(request, [], PLATFORM)(np.empty(0, np.int64)).shape == (0, 3)


def test_a_price_follows_from_what_was_declared_alone() -> None:
    request = asked(name="false-positives", predicted="flagged", actual="positive")
    [mechanism] = TwoParty().question(request, FACTS).values()
    # A person adds at most 2 rows to each of 3 cells, with weights that add up to 1,000.
    assert mechanism.bounds.added.l1 == 6_000
    assert mechanism.bounds.changed.l1 == 12_000
    terms = terms_of(request, FACTS, "audit_1")
    assert (terms.rows, terms.groups, terms.cells) == (4, 2, 3)


@pytest.mark.parametrize(
    ("metric", "error"),
    [
        ({"name": "auc", "actual": "positive", "edges": [0.5, 0.5]}, InvalidBinsError),
        ({"name": "outcomes", "outcome_range": {"low": 0, "high": 9}}, UnsupportedAuditError),
        ({"name": "auc", "actual": "absent", "edges": [0.5]}, UnsupportedAuditError),
    ],
)
def test_what_cannot_be_asked(metric: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match="Nothing was charged"):
        TwoParty().check(asked(**metric), FACTS, PLATFORM)


def test_groups_at_the_platform_and_taken_audiences_are_refused() -> None:
    request = asked(name="auc", actual="positive", edges=[0.5])
    for facts in (
        AudienceFacts(("g0",), 1, None, members=4),
        AudienceFacts(("g0", "g1"), 1, None, members=4, ordered=True),
        AudienceFacts(("g0",), 1, None, members=4, ordered=True, taken=True),
    ):
        with pytest.raises(UnsupportedAuditError):
            TwoParty().check(request, facts, PLATFORM)
