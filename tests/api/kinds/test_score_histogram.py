"""Bins against a slow and obvious model, and what the table of an audience is."""

import math
from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from api.kernel.errors import InvalidBinsError, UnsupportedAuditError
from api.kinds.building_blocks.score_bins import bin_of
from api.kinds.context import in_process_context
from api.kinds.registry import AudienceFacts
from api.kinds.score_histogram import ScoreHistogram
from api.platforms.fault_isolation import PlatformDownError
from api.platforms.interfaces import Persons, Platform
from openapi.resources import Edges, Levels, ScoreHistogramRequest
from privacy import waist
from privacy.tables.membership import Membership
from privacy.tables.price import ADD_REMOVE, Currency

values = st.floats(-5, 5, width=16) | st.integers(-5, 5).map(float)
increasing = st.lists(values, min_size=2, max_size=8, unique=True).map(sorted)
odd = st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 5e-324, 1e300, -1e300])


def obvious(score: float, bins: Edges | Levels) -> int:
    if isinstance(bins, Levels):
        return bins.levels.index(score) if score in bins.levels else len(bins.levels)
    last = len(bins.edges) - 2
    for number, (low, high) in enumerate(pairwise(bins.edges)):
        if low <= score < high or (number == last and score == high):
            return number
    return last + 1


@given(increasing, st.lists(values | odd), st.booleans())
@example([0.0, 0.5, 1.0], [0.0, 0.5, 1.0, -0.0, math.nextafter(1.0, 2.0), math.nan], False)
@example([-0.0, 1.0], [0.0, -0.0, 1.0], True)
def test_bins_are_the_obvious_ones(bounds: list[float], scores: list[float], levels: bool) -> None:
    bins: Edges | Levels = Levels(levels=bounds) if levels else Edges(edges=bounds)
    # Also scores on the edges and next to them.
    scores += bounds + [math.nextafter(b, way) for b in bounds for way in (-math.inf, math.inf)]
    found = bin_of(np.array(scores), bins)
    assert found.tolist() == [obvious(score, bins) for score in scores]


@pytest.mark.parametrize("bins", [1, 31, 32, 500])
def test_few_and_many_bins_are_told_apart_alike(bins: int) -> None:
    edges = Edges(edges=np.linspace(-1, 1, bins + 1).tolist())
    scores = [*edges.edges, *np.linspace(-1.1, 1.1, 777), math.nan, math.inf, -math.inf]
    found = bin_of(np.array(scores), edges)
    assert found.tolist() == [obvious(score, edges) for score in scores]


@pytest.mark.parametrize(
    "edges",
    [
        np.geomspace(1e-300, 1e300, 60),
        np.linspace(-1, 1, 60) * 1.7e308,
        np.arange(60) * 5e-324,
        np.nextafter(1, 2) + np.arange(60) * 2**-52,
        np.append(np.arange(59), 1e18),
        np.sort(np.random.default_rng(0).random(60)),
    ],
)
def test_many_bins_of_any_width_are_told_apart(edges: NDArray[np.float64]) -> None:
    bins = Edges(edges=edges.tolist())
    beside = np.nextafter(edges, np.inf), np.nextafter(edges, -np.inf)
    scores = np.concatenate([edges, *beside, edges[:-1] / 2 + edges[1:] / 2])
    assert bin_of(scores, bins).tolist() == [obvious(score, bins) for score in scores.tolist()]


def test_one_level_and_one_bin() -> None:
    assert bin_of(np.array([3.0, 2.9, math.nan]), Levels(levels=[3])).tolist() == [0, 1, 1]
    assert bin_of(np.array([0.0, 1.0, 1.1]), Edges(edges=[0, 1])).tolist() == [0, 0, 1]
    assert bin_of(np.empty(0), Edges(edges=[0, 1])).tolist() == []


class Tenths:
    """A platform on which person n scores n / 10."""

    model_digest = "sha256:" + "0" * 64
    score_range = (0.0, 1.0)
    context: Mapping[str, list[str | float]] = {"hour": [9.0, 21.0]}

    def score(
        self, content: Mapping[str, Any], persons: Persons, context: Mapping[str, str | float]
    ) -> np.ndarray[Any, np.dtype[np.float64]]:
        assert context == {"hour": 21.0}
        return persons / 10


def asked(**changes: Any) -> ScoreHistogramRequest:
    ids = {"content_id": "content_" + "0" * 30, "audience_id": "audience_" + "0" * 30}
    fields = {"bins": {"edges": [0, 0.5, 1]}, "epsilon": "1", "context": {"hour": 21}}
    return ScoreHistogramRequest.model_validate(ids | fields | changes)


PLATFORM = Platform("tenths", people=None, scores=Tenths())  # type: ignore[arg-type]
KIND = ScoreHistogram()
FACTS = AudienceFacts(labels=("g0", "g1"), groups_per_person=1, known_sizes=None)


def test_everybody_is_in_exactly_one_cell_of_their_group() -> None:
    request = asked()
    plan = KIND.plan(request, FACTS)
    membership = Membership.from_groups([np.array([1, 2, 5, 10, 11, -1, 2]), np.array([2, 7])], 1)
    tables = KIND.reduce(request, plan, [{}], membership, in_process_context(PLATFORM))
    assert tables["bins"].cells.tolist() == [[2, 2, 1], [0, 1, 0]]
    assert tables["sizes"].cells.tolist() == [5, 1]


def test_sizes_are_bought_unless_they_are_known_or_not_wanted() -> None:
    known = AudienceFacts(("g0",), 1, known_sizes=(5,))
    assert KIND.plan(asked(), FACTS).keys() == {"bins", "sizes"}
    assert KIND.plan(asked(), known).keys() == {"bins"}
    assert KIND.plan(asked(size_epsilon=0), FACTS).keys() == {"bins"}


def test_the_price_depends_on_declared_bounds_alone() -> None:
    for groups in (1, 2, 100):
        facts = AudienceFacts(tuple(f"g{n}" for n in range(groups)), 3, None)
        plan = KIND.plan(asked(epsilon="0.3", size_epsilon="0.1"), facts)
        assert plan["bins"].bounds.shape == (groups, 3)
        # Three groups a person: noise of scale 3 / epsilon.
        assert plan["bins"].scale == pytest.approx(10)
        assert plan["sizes"].scale == pytest.approx(30)


@pytest.mark.parametrize(
    "bins",
    [{"edges": [0, 0]}, {"edges": [1, 0]}, {"edges": [0, 0.5, 0.5, 1]}, {"levels": [1, 1]}],
)
def test_bins_that_do_not_increase_are_refused(bins: dict[str, list[float]]) -> None:
    with pytest.raises(InvalidBinsError):
        KIND.check(asked(bins=bins), FACTS, PLATFORM)


def test_what_a_platform_cannot_freeze_is_refused() -> None:
    KIND.check(asked(), FACTS, PLATFORM)
    for context in ({"hour": 3}, {"weather": "rain"}):
        with pytest.raises(UnsupportedAuditError):
            KIND.check(asked(context=context), FACTS, PLATFORM)
    with pytest.raises(UnsupportedAuditError):
        KIND.check(asked(), FACTS, Platform("mute", people=None))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "currency", "for_bins", "for_sizes"),
    [
        ({"epsilon": "1"}, "epsilon", "1", "0.25"),
        ({"epsilon": "1", "size_epsilon": "0.7"}, "epsilon", "1", "0.7"),
        ({"epsilon": "0.000002"}, "epsilon", "0.000002", "0.000001"),
        ({"mechanism": "discrete-gaussian", "rho": "0.8"}, "rho", "0.8", "0.05"),
        ({"mechanism": "discrete-gaussian", "rho": "0.8", "size_rho": "0.3"}, "rho", "0.8", "0.3"),
        ({"mechanism": "discrete-gaussian", "rho": "0.000003"}, "rho", "0.000003", "0.000001"),
    ],
)
def test_bins_and_sizes_cost_what_is_asked_for_each(
    changes: dict[str, Any], currency: Currency, for_bins: str, for_sizes: str
) -> None:
    """Sizes get a quarter of epsilon, a sixteenth of rho, and a millionth at least."""
    unset = {"epsilon": None} if "rho" in changes else {}
    plan = KIND.plan(asked(**unset, **changes), FACTS)
    found = [plan[name].price.amount(currency, ADD_REMOVE) for name in ("bins", "sizes")]
    assert found == [Fraction(for_bins), Fraction(for_sizes)]
    total = waist.price(plan)
    assert total.amount(currency, ADD_REMOVE) == Fraction(for_bins) + Fraction(for_sizes)
    assert total.debit(currency) == 2 * (Fraction(for_bins) + Fraction(for_sizes))


def test_the_description_of_a_size_says_how_it_is_known() -> None:
    """An exact size is told only where it is public."""
    known = AudienceFacts(("g0", "g1"), 1, known_sizes=(5, 6))
    cells = {"bins": np.array([[1, 2, 3], [4, 5, 6]]), "sizes": np.array([70, 80])}
    sizes = [
        [group.size.model_dump(exclude_none=True) for group in shown["groups"]]
        for shown in (
            KIND.present(asked(), known, [], {"bins": cells["bins"]}),
            KIND.present(asked(), FACTS, [], cells),
            KIND.present(asked(), FACTS, [], {"bins": cells["bins"]}),
        )
    ]
    assert sizes == [
        [{"kind": "known", "value": 5}, {"kind": "known", "value": 6}],
        [{"kind": "noisy", "value": 70}, {"kind": "noisy", "value": 80}],
        [{"kind": "bins"}, {"kind": "bins"}],
    ]


class Silent(Tenths):
    """A platform whose model answers for nobody."""

    def score(
        self, content: Mapping[str, Any], persons: Persons, context: Mapping[str, str | float]
    ) -> np.ndarray[Any, np.dtype[np.float64]]:
        raise ConnectionError("down")


@pytest.mark.parametrize("people", [[], [1, 2]])
def test_a_model_that_is_down_fails_whether_anybody_matched_or_not(people: list[int]) -> None:
    """An audience of nobody must not be told from others by its success (R2)."""
    platform = Platform("silent", people=None, scores=Silent())  # type: ignore[arg-type]
    membership = Membership.from_groups([np.array(people, np.int64)] * 2, 1)
    with pytest.raises(PlatformDownError):
        KIND.reduce(
            asked(), KIND.plan(asked(), FACTS), [{}], membership, in_process_context(platform)
        )
