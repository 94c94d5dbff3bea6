"""The values per person that hidden weights multiply, compared with a loop in Python."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import exp
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from api.catalogue.codebook import log_offers
from api.kernel.errors import InvalidBinsError, UnsupportedAuditError
from api.kinds.protocol import AudienceFacts
from api.kinds.two_party import TwoParty, terms_of, values_of
from api.platforms.interfaces import Log, Persons, Platform, Ranking
from openapi.resources import TwoPartyRequest
from tests.refusals import refuses

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
SHOWN = (
    # viewer, query, rank, candidate, score, outcome; 9 is a stranger to the audience
    (1, 7, 1, 2, 0.9, 0.0),
    (1, 7, 2, 4, 0.8, 1.0),
    (1, 7, 3, 9, 0.7, 1.0),
    (9, 8, 1, 3, 0.9, 1.0),
    (9, 8, 2, 1, 0.9, 0.0),
    (3, 7, 1, None, 0.9, 1.0),
    (3, 7, 2, 2, 0.5, 1.0),
    (3, 7, 3, 1, 0.4, None),
)
SHOWN_COLUMNS = ("person", "query", "rank", "candidate", "score", "outcome")
# Of jobs: no viewer, and rows of candidates.
RANKED = tuple((row[3], *row[1:3], None, *row[4:]) for row in SHOWN if row[3] is not None)


class TinyLogs:
    def logs(self) -> Mapping[str, Log]:
        numbers = {"score": (0.0, 1.0), "flagged": (0.0, 1.0), "positive": (0.0, 1.0)}
        scored = {"score": (0.0, 1.0), "outcome": (0.0, 1.0)}
        people, items = Ranking("query", "rank", "candidate"), Ranking("query", "rank")
        return {
            "decisions": Log(person="candidate", numbers={**numbers, "outcome": (-1.0, 1.0)}),
            "people shown": Log(person="viewer", numbers=scored, ranking=people),
            "items shown": Log(person="viewer", numbers=scored, ranking=items),
            "people ranked": Log(person="candidate", numbers=scored, ranking=items),
        }

    def read(self, log: str, persons: Persons, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        every, names = SOURCES.get(log, (SHOWN, SHOWN_COLUMNS))
        rows = [row for row in every if row[0] in persons]
        whole = {"person", "query", "rank", "candidate"}
        yield pa.record_batch(
            {
                name: pa.array(
                    [row[names.index(name)] for row in rows],
                    pa.int64() if name in whole else pa.float64(),
                )
                for name in ("person", *columns)
            }
        )


SOURCES: dict[str, tuple[tuple[Any, ...], tuple[str, ...]]] = {
    "decisions": (ROWS, COLUMNS),
    "people ranked": (RANKED, SHOWN_COLUMNS),
}
PLATFORM = Platform(name="tiny", people=None, logs=TinyLogs())  # type: ignore[arg-type]
FACTS = AudienceFacts(("g0",), 1, None, members=4, ordered=True)


def asked(rows_per_person: int = 2, **metric: Any) -> TwoPartyRequest:
    return asked_of_lists(log="decisions", rows_per_person=rows_per_person, **metric)


def asked_of_lists(**metric: Any) -> TwoPartyRequest:
    return TwoPartyRequest.model_validate(
        {
            "kind": "two-party",
            "audience_id": "audience_" + 30 * "0",
            "metric": metric,
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


def test_of_more_rows_than_one_person_may_have_some_are_drawn() -> None:
    request = asked(rows_per_person=1, name="auc", actual="positive", edges=[0.5])
    assert [len(of(person)) for person in PERSONS] == [2, 2, 0, 1]
    assert [sum(row) for row in values(request)] == [1, 1, 0, 1]


def test_ndcg_is_of_viewers_and_of_candidates_of_the_audience() -> None:
    request = asked_of_lists(
        name="ndcg", log="people shown", per_viewer=2, per_candidate=2, length=3
    )
    # 1 is shown 2 and 4, of whom the second was worth more; 3 is shown 2 alone, and 9 is nobody.
    worse = round(1_000 / np.log2(3))
    assert values(request) == [[0, 0], [1_000, worse], [1_000, 1_000], [0, 0]]


def test_ndcg_of_items() -> None:
    request = asked_of_lists(name="ndcg", log="items shown", per_viewer=2, length=2)
    worse = round(1_000 / np.log2(3))
    assert values(request) == [[0, 0], [1_000, worse], [1_000, 1_000], [0, 0]]


def test_gaps_between_neighbours_go_to_one_side() -> None:
    lists = {"name": "lot", "log": "people shown", "per_viewer": 1, "per_candidate": 2, "ranks": 2}
    limits = {"low": 0, "high": 1}
    above = asked_of_lists(**lists, relevance_range=limits)
    assert values(above) == [[0, 0], [0, 0], [0, 0], [-1_000, 1_000]]
    below = asked_of_lists(**lists, relevance_range=limits, side="below")
    assert values(below) == [[-1_000, 1_000], [0, 0], [0, 0], [0, 0]]


def test_gaps_in_lists_that_are_nobodys() -> None:
    limits = {"low": 0, "high": 1}
    request = asked_of_lists(
        name="lot", log="people ranked", per_candidate=3, ranks=2, relevance_range=limits
    )
    # Of query 7 two rows claim the second place, which is nobody's; of query 8, 3 is above 1.
    assert values(request) == [[0, 0], [0, 0], [1_000, 1_000], [0, 0]]


def test_kernels() -> None:
    request = asked_of_lists(
        name="pot",
        log="people shown",
        per_viewer=3,
        per_candidate=2,
        outcome_range={"low": 0, "high": 1},
        points=[0.5],
        bandwidth=0.2,
    )

    def one(score: float, outcome: float) -> list[int]:
        weight = exp(-(((score - 0.5) / 0.2) ** 2) / 2)
        return [int(weight * 1_000 + 0.5), int(weight * outcome * 1_000 + 0.5)]

    two = np.sum([one(0.9, 0.0), one(0.5, 1.0)], axis=0).tolist()
    assert values(request) == [one(0.8, 1.0), [0, 0], [0, 0], two]


def test_numbers_beyond_the_public_range_are_clipped_to_it() -> None:
    class Beyond(TinyLogs):
        def read(self, log: str, persons: Persons, columns: Sequence[str]) -> Any:
            for batch in super().read(log, persons, columns):
                beyond = pa.array([7.0] * len(batch), pa.float64())
                yield batch.set_column(batch.schema.get_field_index("score"), "score", beyond)

    request = asked_of_lists(
        name="pot",
        log="people shown",
        per_viewer=3,
        per_candidate=2,
        outcome_range={"low": 0, "high": 1},
        points=[1.0],
        bandwidth=0.2,
    )
    found = values_of(request, [], replace(PLATFORM, logs=Beyond()))(PERSONS)
    # Every score counts as 1, where the kernel is 1: one place of 4, and two of 2.
    assert found.tolist() == [[1_000, 1_000], [0, 0], [0, 0], [2_000, 1_000]]


def test_every_audit_draws_lists_by_a_secret_of_its_own() -> None:
    class Many(TinyLogs):
        """Person 1 has twelve lists. What is relevant is in another place of each."""

        def read(self, log: str, persons: Persons, columns: Sequence[str]) -> Any:
            places = [(q, r) for q in range(12) for r in range(12) if 1 in persons]
            query, rank = np.reshape(places, (-1, 2)).T.astype(np.int64)
            whole = {"person": np.ones_like(query), "query": query, "rank": rank + 1}
            names = ("person", *columns)
            yield pa.record_batch(
                {n: pa.array(whole.get(n, (query == rank).astype(float))) for n in names}
            )

    request = asked_of_lists(name="ndcg", log="items shown", per_viewer=1, length=12)
    logs = replace(PLATFORM, logs=Many())
    drawn = {values_of(request, [], logs)(np.array([1]))[0, 1] for _ in range(20)}
    # Twenty draws of twelve lists are the same with probability 12^-19, below 1e-20.
    assert len(drawn) > 1


def test_lists_that_an_adapter_cannot_read_are_not_there() -> None:
    class Broken(TinyLogs):
        def read(self, log: str, persons: Persons, columns: Sequence[str]) -> Any:
            if 1 in persons:
                raise ValueError("no rows of 1")
            return super().read(log, persons, columns)

    request = asked_of_lists(name="ndcg", log="items shown", per_viewer=2, length=2)
    found = values_of(request, [], replace(PLATFORM, logs=Broken()))(PERSONS)
    assert found.tolist() == [[0, 0], [0, 0], [1_000, 1_000], [0, 0]]
    # Of nobody else either, if 1 is all there is.
    alone = values_of(request, [], replace(PLATFORM, logs=Broken()))(np.array([1]))
    assert alone.tolist() == [[0, 0]]


def test_rows_of_people_who_were_not_asked_about_do_not_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An adapter that answers about everybody in each batch has each list counted once."""

    class Talkative(TinyLogs):
        def read(self, log: str, persons: Persons, columns: Sequence[str]) -> Any:
            return super().read(log, PERSONS, columns)

    request = asked_of_lists(name="ndcg", log="items shown", per_viewer=2, length=2)
    told = values(request)
    monkeypatch.setattr("api.kinds.building_blocks.ranked_lists.BATCH", 1)
    found = values_of(request, [], replace(PLATFORM, logs=Talkative()))(PERSONS)
    assert found.tolist() == told


def test_a_price_of_lists_counts_everybody_in_them() -> None:
    alone = asked_of_lists(name="ndcg", log="items shown", per_viewer=2, length=3)
    met = asked_of_lists(name="ndcg", log="people shown", per_viewer=2, per_candidate=1, length=3)
    reaches = [TwoParty().plan(each, FACTS)["sums"].bounds.added.l1 for each in (alone, met)]
    # Two lists of one's own; and with people in them, one list of another's, and 2 · 3 that change.
    assert reaches == [1_000 * 2 * 2_000, 1_000 * 2 * (2_000 + 7_000)]


def test_a_price_of_candidates_counts_the_displaced() -> None:
    request = asked_of_lists(name="ndcg", log="items shown", per_viewer=2, length=3)
    hidden = replace(FACTS, candidates=50)
    one, both = (TwoParty().plan(request, facts)["sums"].bounds for facts in (FACTS, hidden))
    assert both.added.l1 == 2 * one.added.l1
    assert both.changed.l1 == 2 * one.changed.l1


def test_no_more_rows_of_a_person_than_asked_for_are_read() -> None:
    request = asked(1, name="false-positives", predicted="flagged", actual="positive")
    assert [row[0] for row in values(request)] == [1, 1, 0, 1]


def test_nobody_has_no_values() -> None:
    request = asked(name="false-positives", predicted="flagged", actual="positive")
    assert values_of(request, [], PLATFORM)(np.empty(0, np.int64)).shape == (0, 3)


def test_a_price_follows_from_what_was_declared_alone() -> None:
    request = asked(name="false-positives", predicted="flagged", actual="positive")
    [mechanism] = TwoParty().plan(request, FACTS).values()
    # A person adds at most 2 rows to each of 3 cells, with weights that add up to 1,000.
    assert mechanism.bounds.added.l1 == 6_000
    assert mechanism.bounds.changed.l1 == 12_000
    terms = terms_of(request, FACTS, "audit_1")
    assert (terms.rows, terms.groups, terms.cells) == (4, 2, 3)


@pytest.mark.parametrize(
    ("metric", "error", "case"),
    [
        (
            {"name": "auc", "actual": "positive", "edges": [0.5, 0.5]},
            InvalidBinsError,
            "metric-bounds",
        ),
        (
            {"name": "outcomes", "outcome_range": {"low": 0, "high": 9}},
            UnsupportedAuditError,
            "range",
        ),
        (
            {"name": "auc", "actual": "absent", "edges": [0.5]},
            UnsupportedAuditError,
            "no-such-numbers",
        ),
    ],
)
def test_what_cannot_be_asked(metric: dict[str, Any], error: type[Exception], case: str) -> None:
    with refuses(error, case, "charged"):
        TwoParty().check(asked(**metric), FACTS, PLATFORM)


@pytest.mark.parametrize(
    ("log", "caps", "case", "named"),
    [
        ("decisions", {"per_viewer": 1}, "no-ranked-lists", "'decisions'"),
        (
            "items shown",
            {"per_viewer": 1, "per_candidate": 1},
            "per_candidate-of-nobody",
            "per_candidate",
        ),
        ("people shown", {"per_viewer": 1}, "per_candidate-missing", "per_candidate"),
        (
            "people ranked",
            {"per_viewer": 1, "per_candidate": 1},
            "per_viewer-of-nobody",
            "per_viewer",
        ),
        ("absent", {"per_viewer": 1}, "no-such-log", "'absent'"),
    ],
)
def test_caps_must_fit_who_is_in_the_lists(
    log: str, caps: dict[str, int], case: str, named: str
) -> None:
    request = asked_of_lists(name="ndcg", log=log, relevance="outcome", **caps)
    with refuses(UnsupportedAuditError, case, named):
        TwoParty().check(request, FACTS, PLATFORM)


def test_a_receipt_states_the_caps_of_those_who_are_people() -> None:
    request = asked_of_lists(name="ndcg", log="items shown", per_viewer=2)
    rules = " ".join(TwoParty().rules(request, PLATFORM))
    assert "At most 2 lists of a person count" in rules
    assert "places of other people's lists," not in rules


def test_the_catalogue_says_which_sides_are_people() -> None:
    offers = {offer.name: offer.ranking for offer in log_offers(PLATFORM)}
    assert offers.pop("decisions") is None
    sides = {name: (each.viewers, each.candidates) for name, each in offers.items() if each}
    assert sides == {
        "people shown": (True, True),
        "items shown": (True, False),
        "people ranked": (False, True),
    }


def test_groups_at_the_platform_and_taken_audiences_are_refused() -> None:
    request = asked(name="auc", actual="positive", edges=[0.5])
    for facts in (
        AudienceFacts(("g0",), 1, None, members=4),
        AudienceFacts(("g0", "g1"), 1, None, members=4, ordered=True),
        AudienceFacts(("g0",), 1, None, members=4, ordered=True, taken=True),
    ):
        with pytest.raises(UnsupportedAuditError):
            TwoParty().check(request, facts, PLATFORM)
