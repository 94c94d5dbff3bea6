"""Every metric of the service through the real protocol: what is decrypted is the plain sum."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from nacl.public import PrivateKey

from auditor_client import two_party
from auditor_client.two_party import Ratios, SoftGroupSums
from privacy.metric_values import (
    AdjacentRanks,
    Bins,
    Caps,
    FalsePositives,
    Integers,
    Kernels,
    Layout,
    ListRows,
    MemberRows,
    Ndcg,
    Outcomes,
    RankGaps,
    SampledPairs,
    ScoreBins,
    every_score,
)
from tests.auditor_client.two_party.plain import SCALE, soft
from validation.plaintext_bootstrap import sums_of

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
        "outcomes": Case(_OUTCOMES.layout, _OUTCOMES.rows(score * 9 - 4)),
        "bins": Case(_BINS.layout, _BINS.rows(score)),
        "auc": Case(_AUC.layout, _AUC.rows(score, actual)),
    }
    rows = listed(rng)
    for name, metric in (("kernels", _KERNELS), ("ndcg", _NDCG), ("gaps", _GAPS)):
        made[name] = Case(metric.layout, metric.values(rows, PEOPLE))
    return made


def listed(rng: np.random.Generator) -> ListRows:
    """Lists of four, in which people are twice, or strangers."""
    return ListRows.of(
        np.arange(PEOPLE),
        viewer=np.repeat(rng.integers(0, PEOPLE, 80), 4),
        query=np.repeat(np.arange(80), 4),
        position=np.tile(np.arange(4), 80),
        candidate=rng.integers(-1, PEOPLE, 320),
        numbers=rng.random((320, 2)),
    )


_ERO = FalsePositives()
_OUTCOMES = Outcomes(-2, 5, squares=True)
_BINS = Bins((0.0, 0.3, 0.9))
_AUC = ScoreBins((0.2, 0.5))
_KERNELS = Kernels((0.2, 0.8), 0.2)
_NDCG = Ndcg(Caps(1, 2, 4))
_GAPS = RankGaps(ranks=4, candidate=2)


def encrypted(weights: Integers, persons: Integers, found: list[Case], scale: int = SCALE) -> Any:
    """All cells in one run, without noise, as only a test may have them."""
    layouts = [case.layout for case in found]
    values = np.hstack([case.layout.clip(case.values) for case in found])
    terms = protocol.RunTerms(
        audit="aud_every_metric",
        rows=len(weights),
        groups=weights.shape[1],
        cells=values.shape[1],
        weights=protocol.Entries(low=0, high=scale, total=scale),
        values=protocol.Entries(
            low=min(layout.low for layout in layouts),
            high=max(layout.high for layout in layouts),
            total=sum(layout.total for layout in layouts),
        ),
        moved=max(layout.moved for layout in layouts),
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


def everybody(rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Soft weights of everybody in any order, and of strangers."""
    probabilities, _ = soft(rng, PEOPLE + STRANGERS, 3)
    # Largest remainders keep each row at exactly the scale.
    weights = protocol.weights_of(np.asarray(probabilities), SCALE)
    persons = np.concatenate([rng.permutation(PEOPLE), np.full(STRANGERS, -1)]).astype(np.int64)
    return weights, persons


def strangers(rng: np.random.Generator) -> tuple[Integers, Integers]:
    weights, persons = everybody(rng)
    return weights, np.full_like(persons, -1)


def one_person(rng: np.random.Generator) -> tuple[Integers, Integers]:
    weights, persons = everybody(rng)
    return weights[:1], persons[:1]


def the_same_twice(rng: np.random.Generator) -> tuple[Integers, Integers]:
    weights, persons = everybody(rng)
    return np.concatenate([weights, weights[::-1]]), np.concatenate([persons, persons[::-1]])


def no_weight(rng: np.random.Generator) -> tuple[Integers, Integers]:
    weights, persons = everybody(rng)
    return np.zeros_like(weights), persons


@pytest.mark.parametrize("upload", [everybody, strangers, one_person, the_same_twice, no_weight])
def test_what_is_decrypted_equals_the_plain_computation_exactly(upload: Any) -> None:
    rng = np.random.default_rng(41)
    made = cases(rng)
    assert made["gaps"].values.min() < 0
    weights, persons = upload(rng)
    sums = np.asarray(encrypted(weights, persons, list(made.values())))
    start = 0
    for name, case in made.items():
        plain = by_hand(weights, persons, case.values)
        cells = sums[:, start : start + len(plain[0])]
        start += len(plain[0])
        assert cells.tolist() == plain, name
        one, other = (SoftGroupSums.of("abc", case.layout, each, SCALE) for each in (cells, plain))
        for reading in _READINGS.get(name, ()):
            assert str(reading(one).averages(0.05)) == str(reading(other).averages(0.05))


def by_hand(weights: Integers, persons: Integers, values: Integers) -> list[list[int]]:
    """Row by row in Python's integers; somebody's second row counts nothing."""
    found = [[0] * values.shape[1] for _ in range(weights.shape[1])]
    seen = {-1}
    for row, person in zip(weights.tolist(), persons.tolist(), strict=True):
        if person not in seen:
            for group, weight in enumerate(row):
                for cell, value in enumerate(values[person].tolist()):
                    found[group][cell] += weight * value
        seen.add(person)
    return found


def test_everybody_together_is_the_sum_over_groups() -> None:
    rng = np.random.default_rng(43)
    weights, persons = everybody(rng)
    for case in cases(rng).values():
        found = np.array(by_hand(weights, persons, case.values)).sum(axis=0)
        assert found.tolist() == (SCALE * case.values.sum(axis=0)).tolist()


@pytest.mark.parametrize("name", ["ero", "outcomes", "bins", "auc", "kernels", "ndcg", "gaps"])
def test_values_at_their_bounds_neither_overflow_nor_are_cut(name: str) -> None:
    layout = cases(np.random.default_rng(44))[name].layout
    most = min(layout.high, layout.total)
    values = np.zeros((PEOPLE, len(layout.cells)), np.int64)
    values[:, 0], values[: PEOPLE // 2, 0] = most, layout.low
    weights = np.full((PEOPLE, 1), SCALE)
    sums = encrypted(weights, np.arange(PEOPLE), [Case(layout, values)])
    assert int(sums[0, 0]) == SCALE * (PEOPLE // 2) * (most + layout.low)


def test_products_of_all_pairs_would_carry_eq_8() -> None:
    """A row for each pair of people: exact, and as long as the square of the people."""
    rng, people = np.random.default_rng(45), 12
    weights = protocol.weights_of(rng.dirichlet([1, 1], people), 100)
    above, below = np.divmod(np.arange(people**2), people)
    products = np.einsum("ia,ib->iab", weights[above], weights[below]).reshape(-1, 4)
    lists = np.array([rng.permutation(people)[:3] for _ in range(20)])
    rows = AdjacentRanks(ranks=3, scale=50).rows(rng.random((20, 3)), lists)
    values = np.zeros((people**2, 2), np.int64)
    np.add.at(values, rows.members @ np.array([people, 1]), rows.values)
    layout = Layout(("gap", "pairs"), 50, -1000, 1000, 2000)
    sums = encrypted(products, np.arange(people**2), [Case(layout, values)], scale=100**2)
    tuples = ((0, 0), (0, 1), (1, 0), (1, 1))
    plain = sums_of(rows, weights, tuples, 2, repetitions=2)[0].sum(axis=1)
    assert np.asarray(sums).tolist() == plain.tolist()


def two_teams(rows: MemberRows, weights: Integers, tuples: tuple[tuple[int, ...], ...]) -> Any:
    """The sums by the protocol of two teams."""
    library = pytest.importorskip("replications.paper_5.two_teams")
    terms = library.LibraryTerms(
        study="every metric",
        members=len(weights),
        people=len(weights),
        rows=len(rows.cell),
        groups=weights.shape[1],
        tuples=tuples,
        columns=rows.values.shape[1],
        cells=int(rows.cell.max()) + 1,
        weights=protocol.Entries(low=0, high=SCALE, total=SCALE),
        values=protocol.Entries(low=-(10**6), high=10**6, total=2 * 10**6),
        least_rows=1,
    )
    tokens = b"".join(number.to_bytes(32, "big") for number in range(len(weights)))
    places = library.Places(rows.members, rows.cell)
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
        plain = sums_of(rows, weights, tuples, cells, repetitions=2, seed=1)
        assert sums.tolist() == plain[0].tolist()


def _first_kernel(sums: SoftGroupSums) -> Ratios:
    return two_party.kernel_averages(sums, 0)


def _second_gap(sums: SoftGroupSums) -> Ratios:
    return two_party.rank_gaps(sums, 1)


_READINGS = {
    "ero": (two_party.false_flags, two_party.false_positive_rates),
    "outcomes": (two_party.outcomes,),
    "ndcg": (two_party.ndcg,),
    "kernels": (_first_kernel,),
    "gaps": (_second_gap,),
}
