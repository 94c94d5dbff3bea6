import numpy as np
import pytest

from privacy.errors import BoundsError
from privacy.metric_values import (
    NOBODY,
    AdjacentRanks,
    Bins,
    Caps,
    FalsePositives,
    Kernels,
    Layout,
    Ndcg,
    Outcomes,
    RankGaps,
    SampledPairs,
    ScoreBins,
    sum_by_person,
)
from tests.refusals import refuses


def test_false_positives_have_both_denominators() -> None:
    rows = FalsePositives().rows([True, True, False, False], [False, True, False, True])
    assert rows.tolist() == [[1, 1, 1], [1, 0, 0], [1, 1, 0], [1, 0, 0]]


@pytest.mark.parametrize("events", [1, 3])
def test_the_largest_rows_of_a_metric_fit_its_layout(events: int) -> None:
    """A row that does not fit would count as nothing."""
    flagged = FalsePositives(events)
    spread = Outcomes(0.0, 1.0, events=events, squares=True)
    bins, scores = Bins((0.0, 1.0), events), ScoreBins((0.5,), events)
    for metric, row in (
        (flagged, flagged.rows([True], [False])),
        (spread, spread.rows([1.0])),
        (bins, bins.rows([0.5])),
        (scores, scores.rows([0.5], [True])),
    ):
        most = events * row
        assert metric.layout.clip(most).tolist() == most.tolist()
        assert np.abs(most).sum() == metric.layout.total


def test_outcomes_are_cut_to_their_range() -> None:
    metric = Outcomes(-1.0, 3.0, scale=8, squares=True)
    rows = metric.rows([-5.0, -1.0, 1.0, 3.0, 9.0, np.nan])
    assert rows[:, 1].tolist() == [0, 0, 4, 8, 8, 0]
    assert rows[:, 2].tolist() == [0, 0, 2, 8, 8, 0]
    assert rows[:, 0].tolist() == [8] * 6
    assert metric.layout.cells == ("people", "outcome", "squares")


def test_bins_hold_everybody_once() -> None:
    metric = Bins((0.0, 0.5, 1.0))
    rows = metric.rows([-0.1, 0.0, 0.49, 0.5, 1.0, 1.1, np.nan])
    assert rows.argmax(axis=1).tolist() == [2, 0, 0, 1, 1, 2, 2]
    assert rows.sum(axis=1).tolist() == [1] * 7


def test_ndcg_by_hand() -> None:
    everybody = np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]])
    relevance = np.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    rows = Ndcg(Caps(length=3), scale=10**6).rows(relevance, everybody)
    worst = (1 / np.log2(3) + 3 / 2) / (3 + 1 / np.log2(3))
    assert rows[0].tolist() == [10**6, round(worst * 10**6)]
    assert rows[1].tolist() == [10**6, 10**6]
    assert rows[2].tolist() == [0, 0]


def test_a_blank_takes_nothing_from_a_perfect_list() -> None:
    relevance = np.array([[2.0, 1.0, 1.0]])
    rows = Ndcg(Caps(length=3)).rows(relevance, np.array([[1, NOBODY, 3]]))
    assert rows.tolist() == [[1000, 1000]]


def test_neighbours_differ_by_normalised_relevance() -> None:
    relevance = np.array([[1.0, 0.0, 2.0], [1.0, 1.0, 0.0]])
    found = AdjacentRanks(ranks=3, scale=1000).rows(
        relevance, np.array([[1, 2, 3], [4, NOBODY, 6]])
    )
    ideal = 3 + 1 / np.log2(3)
    assert found.members.tolist() == [[1, 2], [2, 3]]
    assert found.cell.tolist() == [0, 1]
    assert found.unit.tolist() == [0, 0]
    assert found.values.tolist() == [
        [round(1000 / ideal), 1000],
        [round(-2000 / ideal), 1000],
    ]


def test_relevance_may_come_normalised() -> None:
    metric = AdjacentRanks(ranks=2, scale=100, most=5.0, normalised=True)
    found = metric.rows(np.array([[0.25, 3.5]]), np.array([[0, 1]]))
    assert found.values[0, 0] == -325
    with refuses(BoundsError, "relevances", 2):
        metric.rows(np.zeros((1, 3)), np.zeros((1, 3), np.int64))


def test_rank_gaps_are_signed_and_of_the_side_asked_about() -> None:
    metric = RankGaps(ranks=3, high=4.0, scale=100)
    two = np.array([[4.0, 1.0], [1.0, 3.0], [4.0, 1.0]])
    pairs = np.array([[7, 8], [8, 9], [7, NOBODY]])
    rows = metric.rows(np.array([0, 1, 0]), two, pairs)
    assert rows.tolist() == [[75, 0, 100, 0], [0, -50, 0, 100], [0] * 4]


def test_relevance_beyond_the_range_is_clipped_in_a_gap() -> None:
    metric = RankGaps(ranks=2, low=1.0, high=4.0, scale=100)
    relevance = np.array([[9.0, 1.0], [-5.0, 4.0], [np.nan, 4.0]])
    rows = metric.rows(np.zeros(3, np.int64), relevance, np.array([[1, 2]] * 3))
    assert rows.tolist() == [[100, 100], [-100, 100], [-100, 100]]


def test_kernels_weigh_by_distance() -> None:
    metric = Kernels((0.0, 1.0), 0.5, low=0.0, high=2.0, scale=1000)
    rows = metric.rows([0.0, 1.0, np.nan], [2.0, 1.0, 2.0])
    far = round(1000 * np.exp(-2))
    assert rows.tolist() == [[1000, far, 1000, far], [far, 1000, round(far / 2), 500], [0] * 4]


@pytest.mark.parametrize("bandwidth", [0.01, 0.1, 1.0])
def test_kernel_rows_stay_within_their_total(bandwidth: float) -> None:
    metric = Kernels(tuple(np.linspace(0, 1, 11)), bandwidth)
    rows = metric.rows(np.linspace(-0.5, 1.5, 4001), np.ones(4001))
    assert rows.sum(axis=1).max() <= metric.layout.total
    # Not by much more than needed.
    assert metric.layout.total < 1.6 * rows.sum(axis=1).max() + 100


def test_score_bins_count_positives_and_negatives() -> None:
    metric = ScoreBins((0.3, 0.6))
    rows = metric.rows([0.1, 0.3, 0.7, np.nan], [True, False, True, False])
    assert rows.argmax(axis=1).tolist() == [0, 4, 2, 3]
    assert metric.layout.cells[:2] == ("positive 0", "positive 1")


def test_sampled_pairs_are_of_a_positive_and_a_negative() -> None:
    rng = np.random.default_rng(2)
    actual, score = rng.random(500) < 0.4, rng.integers(0, 5, 500)
    found = SampledPairs(buckets=40, rounds=6).rows(np.arange(500), np.arange(500), score, actual)
    above, below = found.members.T
    assert actual[above].all()
    assert not actual[below].any()
    apart = np.sign(score[above].astype(int) - score[below])
    assert found.values[:, 0].tolist() == (apart + 1).tolist()
    assert np.bincount(found.members.ravel()).max() <= 6
    assert len(above) > 200


def test_events_add_up_by_person_and_strangers_do_not_count() -> None:
    rows = np.array([[1, 2], [10, 20], [100, 200]])
    assert sum_by_person(rows, np.array([1, -1, 1]), 3).tolist() == [[0, 0], [101, 202], [0, 0]]


def test_what_lies_beyond_the_bounds_is_cut() -> None:
    layout = Layout(("a", "b"), 1, -2, 3, 4)
    found = layout.clip(np.array([[9, 0], [-9, 1], [3, 3], [1, 2]]))
    assert found.tolist() == [[3, 0], [-2, 1], [0, 0], [1, 2]]


def test_declarations_that_make_no_sense_are_refused() -> None:
    for wrong in (
        lambda: Bins((1.0, 0.0)),
        lambda: Outcomes(1.0, 1.0),
        lambda: Kernels((), 0.1),
        lambda: Kernels((0.1,), 0.0),
        lambda: ScoreBins(()),
        lambda: SampledPairs(0, 1),
        lambda: RankGaps(ranks=1),
        lambda: Ndcg(Caps(viewer=None)),
        lambda: Kernels((0.1,), 0.1, caps=Caps(candidate=None)),
        lambda: SampledPairs(1, 1, scale=3),
        lambda: Layout((), 1, 0, 1, 1),
        lambda: Layout(("a", "a"), 1, 0, 1, 1),
        lambda: Layout(("a",), 1, 1, 2, 1),
    ):
        with pytest.raises(BoundsError):
            wrong()
