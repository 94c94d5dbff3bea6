"""Results of releases of logs, and the SDK's checks of the platform."""

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from auditor_client import InputError, LogCdfResult, OutcomeTestResult, ReceiptError
from auditor_client.audits.release_check import check_release_matches_request
from auditor_client.kinds.bias_size.result import BiasSizeResult, Corrections
from auditor_client.stats.noise_distributions import Gaussian, Laplace
from auditor_client.stats.outcome_moments import NAMES, OutcomeMoments
from openapi.resources import (
    BiasSizeRelease,
    BiasSizeRequest,
    Correction,
    Edges,
    GroupCdf,
    GroupMoments,
    GroupMoved,
    LogCdfRelease,
    LogCdfRequest,
    MomentUnits,
    OutcomeTestRelease,
    OutcomeTestRequest,
    Range,
)
from tests.auditor_client.examples import (
    AUDIENCE_ID,
    audit_for,
    common,
    key_set,
    part,
    platform_key,
    price_of,
    signed,
)
from tests.auditor_client.examples import (
    NAMES as GROUPS,
)
from tests.refusals import refuses

KEY = platform_key()
HALVES = Edges(edges=[0, 0.5, 1])
UNIT = Range(low=0, high=1)
UNITS = MomentUnits(
    count=1024, outcome=1024, score=512, score_squared=256, score_outcome=256, outcome_squared=256
)
ASKED = OutcomeTestRequest(
    kind="outcome-test",
    audience_id=AUDIENCE_ID,
    log="jobs",
    bins=HALVES,
    outcome_range=UNIT,
    rows_per_person=2,
    epsilon=Decimal(1),
)
CDF = LogCdfRequest(
    kind="log-cdf",
    audience_id=AUDIENCE_ID,
    log="jobs",
    column="score",
    bins=HALVES,
    epsilon=Decimal(1),
)
SIZE = BiasSizeRequest(
    kind="bias-size",
    audience_id=AUDIENCE_ID,
    log="jobs",
    bins=HALVES,
    corrections=[Correction(label=label, add=[0, 0]) for label in GROUPS],
    outcome_range=UNIT,
    epsilon=Decimal(1),
)


def outcomes(scale: float = 100.0, mechanism: Any = "discrete-laplace") -> OutcomeTestRelease:
    """Ten and twenty people a bin, of whom three in four and one in two turned out well."""
    groups = [
        GroupMoments(
            label=label,
            count=[people * 1024] * 2,
            outcome=[round(people * v * 1024)] * 2,
            score=[0, 512],
            score_squared=[256, 512],
            score_outcome=[0, 0],
            outcome_squared=[people * 256] * 2,
        )
        for label, people, v in (("g0", 10, 0.5), ("g1", 20, 0.0))
    ]
    made = OutcomeTestRelease(
        **common(),
        kind="outcome-test",
        log="jobs",
        bins=HALVES,
        outcome_range=UNIT,
        rows_per_person=2,
        units=UNITS,
        groups=groups,
        price=price_of(part("moments", scale, mechanism)),
    )
    return signed(made, KEY)


def running(*counts: list[float], bins: Edges = HALVES) -> LogCdfRelease:
    made = LogCdfRelease(
        **common(),
        kind="log-cdf",
        log="jobs",
        column="score",
        bins=bins,
        rows_per_person=1,
        groups=[
            GroupCdf(label=f"g{number}", cumulative=each) for number, each in enumerate(counts)
        ],
        price=price_of(part("cdf", 1.0, "laplace-tree")),
    )
    return signed(made, KEY)


def size(places: int | None = None, **changes: Any) -> BiasSizeRelease:
    ranks: dict[str, Any] = {} if places is None else {"given_ranks": 900, "corrected_ranks": 450}
    made = BiasSizeRelease(
        **common(),
        kind="bias-size",
        log="jobs",
        bins=HALVES,
        corrections=SIZE.corrections,
        slopes=None,
        outcome_range=UNIT,
        places=places,
        rows_per_person=1,
        unit=10,
        outcome=700,
        corrected_outcome=770,
        groups=[
            GroupMoved(label="g0", given=1_000, corrected=800, **ranks),
            GroupMoved(label="g1", given=500, corrected=700, **ranks),
        ],
        price=price_of(part("sums", 10.0)),
    )
    return signed(made.model_copy(update=changes), KEY)


def test_the_sums_come_in_ones_with_their_noise() -> None:
    moments = OutcomeTestResult(outcomes(), key_set(KEY), GROUPS).moments
    assert moments.groups == ("man", "woman")
    assert moments.sums.shape == (2, 2, len(NAMES))
    assert moments.sums[0, 1].tolist() == [10, 5, 1, 2, 0, 10]
    assert moments.rows_per_person == 2
    assert isinstance(moments.noise, Laplace)
    # Of scale 100 units, which are 1024 and 256 a row: 2 · scale², nearly.
    expected = 2 * (100 / np.array([1024, 1024, 512, 256, 256, 256])) ** 2
    np.testing.assert_allclose(moments.noise_variance, expected, rtol=1e-4)


def test_noise_of_very_many_units_is_stated_in_coarser_steps() -> None:
    wide = OutcomeTestResult(outcomes(3e7, "discrete-gaussian"), key_set(KEY), GROUPS).moments
    assert isinstance(wide.noise, Gaussian)
    assert wide.noise_variance[0] == pytest.approx((3e7 / 1024) ** 2)
    assert wide.sums[1, 0, 0] == 20


def test_the_frame_has_average_outcomes() -> None:
    frame = OutcomeTestResult(outcomes(), key_set(KEY), GROUPS).table().to_pylist()
    assert frame[0] == {"group": "man", "low": 0, "high": 0.5, "count": 10, "outcome": 0.75}
    assert frame[3]["outcome"] == 0.5


def test_edges_of_equally_full_bins() -> None:
    edges = Edges(edges=[step / 10 for step in range(11)])
    # All of the first group are below 0.3; noise let a count fall and one be negative.
    first = [-2.0, 20, 60, 59, 60, 60, 60, 60, 60, 60, 61]
    second = [0.0, 0, 0, 20, 20, 20, 20, 20, 60, 60, 60]
    found = LogCdfResult(running(first, second, bins=edges), key_set(KEY), GROUPS)
    assert found.quantile_edges(2) == [0, 0.3, 1]
    assert found.quantile_edges(1) == [0, 1]
    assert found.quantile_edges(50)[-1] == 1
    nothing = LogCdfResult(running([0.0] * 11, [0.0] * 11, bins=edges), key_set(KEY), GROUPS)
    assert nothing.quantile_edges(4) == [0, 0.1, 1]
    with refuses(InputError, "no-bins"):
        found.quantile_edges(0)


def test_changes_in_percent_with_limits_that_count_the_noise() -> None:
    found = BiasSizeResult(size(), key_set(KEY), GROUPS)
    moved = found.notifications()
    assert (moved["man"].before, moved["man"].after) == (100, 80)
    assert moved["man"].value == pytest.approx(-20)
    assert moved["woman"].value == pytest.approx(40)
    # Four sums, q = exp(-1/10): 2 q^45 / (1 + q) is just below 0.05 / 4, and 45 units are 4.5.
    assert moved["man"].low == pytest.approx(100 * ((80 - 4.5) / (100 + 4.5) - 1))
    assert moved["man"].high == pytest.approx(100 * ((80 + 4.5) / (100 - 4.5) - 1))
    assert found.outcome().value == pytest.approx(10)
    with refuses(InputError, "no-ranks", "places"):
        found.ranks()
    with pytest.raises(InputError, match="delta"):
        found.notifications(delta=0)


def test_limits_of_gaussian_noise() -> None:
    price = price_of(part("sums", 10.0, "discrete-gaussian"))
    moved = BiasSizeResult(size(price=price), key_set(KEY), GROUPS).notifications()
    # Four sums: 2 exp(-t²/200) is 0.05 / 4 at t = 31.9, and 32 units are 3.2.
    assert moved["man"].low == pytest.approx(100 * ((80 - 3.2) / (100 + 3.2) - 1))


def test_average_ranks() -> None:
    found = BiasSizeResult(size(20), key_set(KEY), GROUPS).ranks()
    # 90 parts of 20 places of 100 rows, then 45 of 80.
    assert found["man"].before == pytest.approx(18)
    assert found["man"].after == pytest.approx(45 * 20 / 80)
    assert found["man"].low < found["man"].value < found["man"].high


def test_corrections_are_what_the_regression_of_each_bin_predicts() -> None:
    rng = np.random.default_rng(5)
    score = rng.random(4_000)
    group = rng.integers(0, 2, 4_000)
    outcome = 0.1 + 0.5 * score + 0.2 * group
    edges = np.array([0, 0.5, 1])
    place = (score >= 0.5).astype(int)
    u = (2 * score - edges[place] - edges[place + 1]) / 0.5
    v = 2 * outcome - 1
    each = (np.ones_like(u), v, u, u * u, u * v, v * v)
    cell = group * 2 + place
    sums = np.stack([np.bincount(cell, x) for x in each], axis=1, dtype=np.float64)
    found = Corrections.of(OutcomeMoments(("a", "b"), (0, 0.5, 1), (0, 1), sums.reshape(2, 2, 6)))
    np.testing.assert_allclose(found.slopes, [0.5, 0.5], atol=1e-6)
    np.testing.assert_allclose(found.add["a"], [0.1, 0.1], atol=1e-6)
    np.testing.assert_allclose(found.add["b"], [0.3, 0.3], atol=1e-6)


def test_a_bin_with_too_few_outcomes_is_corrected_as_the_nearest_that_has_enough() -> None:
    rng = np.random.default_rng(6)
    score, group = rng.uniform(0.4, 0.6, 2_000), rng.integers(0, 2, 2_000)
    outcome = 0.1 + 0.5 * score + 0.2 * group
    u, v = (2 * score - 1) / 0.2, 2 * outcome - 1
    each = (np.ones_like(u), v, u, u * u, u * v, v * v)
    middle = np.stack([np.bincount(group, x) for x in each], axis=1, dtype=np.float64)
    empty = np.zeros_like(middle)
    edges = (0, 0.4, 0.6, 0.8, 1)
    sums = np.stack([empty, middle, empty, empty], axis=1)
    found = Corrections.of(OutcomeMoments(("a", "b"), edges, (0, 1), sums))
    np.testing.assert_allclose(found.slopes, [0.5] * 4, atol=1e-6)
    np.testing.assert_allclose(found.add["a"], [0.1] * 4, atol=1e-6)
    np.testing.assert_allclose(found.add["b"], [0.3] * 4, atol=1e-6)
    with refuses(InputError, "few-outcomes-in-a-bin"):
        Corrections.of(OutcomeMoments(("a", "b"), edges, (0, 1), np.zeros_like(sums)))


@pytest.mark.parametrize(
    ("asked", "made"), [(ASKED, outcomes()), (CDF, running([1, 2, 3], [0, 1, 2])), (SIZE, size())]
)
def test_a_release_of_what_was_asked_for_passes(asked: Any, made: Any) -> None:
    check_release_matches_request(made, audit_for(asked, made.price), [], None, ["g0", "g1"])


@pytest.mark.parametrize(
    ("asked", "made", "named"),
    [
        (ASKED, outcomes().model_copy(update={"log": "others"}), "log"),
        (ASKED, outcomes().model_copy(update={"rows_per_person": 1}), "rows per person"),
        (ASKED, outcomes().model_copy(update={"outcome_range": Range(low=0, high=2)}), "range"),
        (ASKED, outcomes().model_copy(update={"bins": Edges(edges=[0, 1])}), "bins"),
        (ASKED, outcomes(mechanism="discrete-gaussian"), "mechanism"),
        (ASKED.model_copy(update={"bins": Edges(edges=[0, 1])}), outcomes(), "number of sums"),
        (CDF, running([1, 2], [1, 2]), "bins"),
        (CDF.model_copy(update={"column": "outcome"}), running([1, 2, 3]), "log"),
        (CDF.model_copy(update={"rows_per_person": 3}), running([1, 2, 3]), "rows per person"),
        (SIZE, size(20), "places"),
        (SIZE, size(corrections=SIZE.corrections[:1]), "corrections"),
    ],
)
def test_a_release_of_something_else_is_caught(asked: Any, made: Any, named: str) -> None:
    with refuses(ReceiptError, "not-what-was-asked", named):
        check_release_matches_request(made, audit_for(asked, made.price), [], None)


def test_the_size_of_a_bias_says_that_only_the_audience_competes() -> None:
    found = BiasSizeResult(size(), key_set(KEY), GROUPS)
    assert "understates" in found.numbers()["caution"]
    assert "audience" in found.numbers()["caution"]
