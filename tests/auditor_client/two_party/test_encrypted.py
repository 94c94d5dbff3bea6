"""Every metric of the service through the real protocol: what is decrypted is the plain sum."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from nacl.public import PrivateKey

from auditor_client import two_party
from auditor_client.two_party import Ratios, Sums
from privacy.values import (
    AdjacentRanks,
    Bins,
    Caps,
    FalsePositives,
    Integers,
    Kernels,
    Layout,
    MemberRows,
    Ndcg,
    Outcomes,
    RankGaps,
    SampledPairs,
    ScoreBins,
    capped,
    every_score,
    summed,
)
from tests.auditor_client.two_party.plain import SCALE, soft

protocol = pytest.importorskip("privacy.two_party")

PEOPLE, STRANGERS = 60, 5


@dataclass(frozen=True)
class Case:
    layout: Layout
    values: Integers


def cases(rng: np.random.Generator) -> dict[str, Case]:
    """Values of every metric for the same people; relevance and gaps of both signs."""
    actual, flagged = rng.random((2, PEOPLE)) < 0.5
    score = rng.random(PEOPLE)
    made = {
        "ero": Case(_ERO.layout, _ERO.rows(flagged, actual)),
        "outcomes": Case(_OUTCOMES.layout, _OUTCOMES.rows(score * 9)),
        "bins": Case(_BINS.layout, _BINS.rows(score)),
        "kernels": Case(_KERNELS.layout, _KERNELS.rows(score, actual)),
        "auc": Case(_AUC.layout, _AUC.rows(score, actual)),
    }
    event, viewer = np.arange(80), rng.integers(0, PEOPLE, 80)
    lists, relevance = rng.integers(-1, PEOPLE, (80, 4)), rng.integers(0, 3, (80, 4)).astype(float)
    kept = capped(event, viewer, lists, _NDCG.caps)
    rows = _NDCG.rows(relevance[kept.events], kept.candidates)
    made["ndcg"] = Case(_NDCG.layout, summed(rows, viewer[kept.events], PEOPLE))
    rank, two, pair = _GAPS.pairs(event, relevance, lists)
    kept = capped(event, viewer, pair, _GAPS.caps)
    gaps = _GAPS.rows(rank[kept.events], two[kept.events], kept.candidates)
    made["gaps"] = Case(_GAPS.layout, summed(gaps, _GAPS.owner(kept.candidates), PEOPLE))
    return made


_ERO = FalsePositives()
_OUTCOMES = Outcomes(-2, 5, squares=True)
_BINS = Bins((0.0, 0.3, 0.9))
_AUC = ScoreBins((0.2, 0.5))
_KERNELS = Kernels((0.2, 0.8), 0.2)
_NDCG = Ndcg(Caps(1, 2, 4))
_GAPS = RankGaps(ranks=4, high=2.0, candidate=2)


def encrypted(weights: Integers, persons: Integers, found: list[Case]) -> Any:
    """All cells in one run, without noise, as only a test may have them."""
    layouts = [case.layout for case in found]
    values = np.hstack([case.layout.cut(case.values) for case in found])
    terms = protocol.Terms(
        audit="aud_every_metric",
        rows=len(weights),
        groups=weights.shape[1],
        cells=values.shape[1],
        weights=protocol.Entries(low=0, high=SCALE, total=SCALE),
        values=protocol.Entries(
            low=min(layout.low for layout in layouts),
            high=max(layout.high for layout in layouts),
            total=sum(layout.total for layout in layouts),
        ),
        moved_rows=max(layout.moved_rows for layout in layouts),
        noise=0,
    )
    key = bytes(PrivateKey.generate().public_key)
    auditor = protocol.AuditorParty(terms, weights, regulator_key=key)
    platform = protocol.PlatformParty(
        terms,
        protocol.Uploaded(persons),
        lambda chosen: values[chosen],
        lambda table: table.plus(np.zeros(table.bounds.shape, np.int64)),
    )
    message = auditor.start()
    while message is not None:
        message = auditor.receive(platform.receive(message))
    return auditor.sums


def test_what_is_decrypted_equals_the_plain_computation_exactly() -> None:
    rng = np.random.default_rng(41)
    made = cases(rng)
    # Largest remainders keep each row at exactly the scale.
    probabilities, _ = soft(rng, PEOPLE + STRANGERS, 3)
    weights = protocol.weights_of(np.asarray(probabilities), SCALE)
    persons = np.concatenate([rng.permutation(PEOPLE), np.full(STRANGERS, -1)]).astype(np.int64)
    sums = encrypted(weights, persons, list(made.values()))
    matched = weights[:PEOPLE]
    start = 0
    for name, case in made.items():
        plain = matched.T @ case.values[persons[:PEOPLE]]
        cells = np.asarray(sums)[:, start : start + plain.shape[1]]
        start += plain.shape[1]
        assert cells.tolist() == plain.tolist(), name
        one, other = (
            Sums.of(probabilities.columns, case.layout, each, SCALE) for each in (cells, plain)
        )
        for reading in _READINGS.get(name, ()):
            assert reading(one).averages(0.05) == reading(other).averages(0.05)
        # Everybody together is the sum over groups, whatever the weights.
        assert plain.sum(axis=0).tolist() == (SCALE * case.values.sum(axis=0)).tolist()


def two_teams(rows: MemberRows, weights: Integers, tuples: tuple[tuple[int, ...], ...]) -> Any:
    """The sums of the sample and of three resamples, by the protocol of two teams."""
    library = pytest.importorskip("privacy.two_party.library")
    terms = library.LibraryTerms(
        study="every metric",
        members=len(weights),
        people=len(weights),
        rows=len(rows.cell),
        groups=weights.shape[1],
        tuples=tuples,
        columns=rows.values.shape[1],
        cells=int(rows.cell.max()) + 1,
        units=int(rows.unit.max()) + 1,
        weights=protocol.Entries(low=0, high=SCALE, total=SCALE),
        values=protocol.Entries(low=-(10**6), high=10**6, total=2 * 10**6),
        resamples=3,
    )
    tokens = b"".join(number.to_bytes(32, "big") for number in range(len(weights)))
    places = library.Places(rows.members, rows.cell, rows.unit)
    tester = library.TesterParty(terms, tokens, weights)
    client = library.ClientParty(terms, tokens, library.ClientRows(places, rows.values))
    message = tester.start()
    while message is not None:
        message = tester.receive(client.receive(message))
    return client.sums


def test_rows_of_two_teams_give_the_plain_sums_too() -> None:
    rng = np.random.default_rng(42)
    probabilities, _ = soft(rng, PEOPLE, 2)
    weights = protocol.weights_of(np.asarray(probabilities), SCALE)
    score, actual = rng.integers(0, 5, PEOPLE), rng.random(PEOPLE) < 0.5
    # Lists without anybody twice, as `capped` leaves them.
    lists = np.array([rng.permutation(PEOPLE)[:4] for _ in range(12)])
    relevance = rng.integers(0, 3, (12, 4)).astype(float)
    numbers = np.arange(PEOPLE)
    pairs = SampledPairs(buckets=8, rounds=2).rows(numbers, numbers, score, actual)
    for rows, tuples in (
        (AdjacentRanks(ranks=4).rows(relevance, lists), ((0, 1), (1, 0))),
        (pairs, ((0, 0), (1, 1))),
        (every_score(numbers, score, actual), ((0,), (1,))),
    ):
        sums = two_teams(rows, weights, tuples)
        cells = int(rows.cell.max()) + 1
        plain = two_party.sums_of(rows, weights, tuples, cells, repetitions=2, seed=1)
        assert sums[0].tolist() == plain[0].tolist()
        assert sums.shape == (4, *plain.shape[1:])


def _first_kernel(sums: Sums) -> Ratios:
    return two_party.kernel_averages(sums, 0)


def _second_gap(sums: Sums) -> Ratios:
    return two_party.rank_gaps(sums, 1)


_READINGS = {
    "ero": (two_party.false_flags, two_party.false_positive_rates),
    "outcomes": (two_party.outcomes,),
    "ndcg": (two_party.ndcg,),
    "kernels": (_first_kernel,),
    "gaps": (_second_gap,),
}
