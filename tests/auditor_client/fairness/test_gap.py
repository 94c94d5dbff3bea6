"""The fairness gap: estimate, coverage, verdicts, and what must never be said."""

import math
import time
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from auditor_client.fairness import gap_bounds
from auditor_client.fairness.bin_tests import GroupCounts
from auditor_client.fairness.gap import FairnessGap, Verdict, fairness_gap
from auditor_client.planning.power_simulation import discrete_laplace
from auditor_client.stats.group_size import GroupSizeEstimate
from auditor_client.stats.noise import Gaussian, Laplace, gaussian_at
from validation.gap_coverage import DELTA, Case, audit
from validation.verdicts import errors

Floats = NDArray[np.float64]


def release(
    generator: np.random.Generator,
    people: tuple[int, ...],
    shares: list[Floats],
    epsilon: float,
    sizes: str,
) -> dict[str, Any]:
    """Arguments for `fairness_gap` as an audit would give them."""
    counts = {
        f"g{i}": [
            int(c)
            for c in generator.multinomial(n, p) + discrete_laplace(generator, epsilon, len(p))
        ]
        for i, (n, p) in enumerate(zip(people, shares, strict=True))
    }
    given: dict[str, Any] = {"counts": counts, "epsilon": epsilon}
    if sizes == "known":
        given["sizes"] = {f"g{i}": n for i, n in enumerate(people)}
    if sizes == "noisy":
        noises = discrete_laplace(generator, epsilon / 4, len(people))
        given["noisy_sizes"] = {f"g{i}": n + int(noises[i]) for i, n in enumerate(people)}
        given["size_epsilon"] = epsilon / 4
    return given


def apart(bins: int, gap: float, filled: int) -> list[Floats]:
    base = np.zeros(bins)
    base[:filled] = (1 - gap) / filled
    one, other = base.copy(), base.copy()
    one[0] += gap
    other[1] += gap
    return [one, other]


def test_efg_is_the_largest_difference_of_noisy_shares() -> None:
    gap = fairness_gap({"a": [10, 20, 70], "b": [40, 30, 130]}, {"a": 100, "b": 200}, epsilon=1)
    assert gap.efg == pytest.approx(0.1)
    assert (gap.groups, gap.bin) == (("b", "a"), 0)


def test_all_pairs_count() -> None:
    tables = {"a": [50, 50], "b": [45, 55], "c": [90, 10]}
    gap = fairness_gap(tables, dict.fromkeys(tables, 100), epsilon=4)
    assert gap.efg == pytest.approx(0.45)
    assert gap.groups == ("c", "b") or gap.groups == ("b", "c")
    assert gap.low > 0.2


@pytest.mark.long
@pytest.mark.parametrize("sizes", ["known", "noisy", "estimated"])
@pytest.mark.parametrize(
    ("people", "shares", "epsilon"),
    [
        ((60, 60), apart(2, 0.0, 2), 1.0),
        ((150, 150), apart(20, 0.0, 20), 1.0),
        ((270, 180), apart(10, 0.0, 2), 1.0),  # a fair platform at match rates .9 and .6
        ((90, 300), apart(5, 0.3, 3), 0.5),
        ((40, 40), apart(8, 0.6, 8), 4.0),
    ],
)
def test_limits_miss_no_more_often_than_delta_says(
    people: tuple[int, ...], shares: list[Floats], epsilon: float, sizes: str
) -> None:
    runs, delta = 25 if sizes == "estimated" else 50, 0.2
    generator = np.random.default_rng(11)
    gaps = [
        fairness_gap(
            **release(generator, people, shares, epsilon, sizes), delta=delta, criterion="bins"
        )
        for _ in range(runs)
    ]
    truth = float(np.abs(shares[0] - shares[1]).max())
    # 15 cases, 2 sides, each by a binomial test at 1e-8: fails falsely in less than 3e-7.
    most = stats.binom.ppf(1 - 1e-8, runs, delta / 2)
    assert sum(gap.low > truth + 1e-12 for gap in gaps) <= most
    assert sum(gap.high < truth - 1e-12 for gap in gaps) <= most


@pytest.mark.long
@pytest.mark.parametrize("sizes", ["known", "noisy", "estimated"])
@pytest.mark.parametrize(
    ("people", "shares", "sigma2"),
    [((60, 60), apart(2, 0.0, 2), 1.0), ((90, 300), apart(10, 0.3, 3), 8.0)],
)
def test_gaussian_limits_miss_no_more_often_than_delta_says(
    people: tuple[int, ...], shares: list[Floats], sigma2: float, sizes: str
) -> None:
    runs, delta, generator = 25, 0.3, np.random.default_rng(12)
    noise, own = Gaussian(sigma2), Gaussian(16 * sigma2)
    truth = float(np.abs(shares[0] - shares[1]).max())
    low = high = 0
    for _ in range(runs):
        counts = {
            str(i): [
                int(c) for c in generator.multinomial(n, p) + noise.simulated(generator, len(p))
            ]
            for i, (n, p) in enumerate(zip(people, shares, strict=True))
        }
        known = {str(i): n for i, n in enumerate(people)} if sizes == "known" else None
        bought = own.simulated(generator, 2)
        noisy = {str(i): n + int(bought[i]) for i, n in enumerate(people)}
        gap = fairness_gap(
            counts,
            known,
            delta=delta,
            noise=noise,
            noisy_sizes=noisy if sizes == "noisy" else None,
            size_noise=own,
            criterion="bins",
        )
        low, high = low + (gap.low > truth + 1e-12), high + (gap.high < truth - 1e-12)
    # 6 cases, 2 sides, each by a binomial test at 1e-8: fails falsely in less than 2e-7.
    assert max(low, high) <= stats.binom.ppf(1 - 1e-8, runs, delta / 2)


def test_gaussian_noise_of_one_variance_is_about_as_good_as_laplace_noise_of_it() -> None:
    counts, sizes = {"a": [60, 60, 80], "b": [60, 65, 75]}, {"a": 200, "b": 200}
    laplace = fairness_gap(counts, sizes, epsilon=1)
    gaussian = fairness_gap(counts, sizes, noise=Gaussian(Laplace(1.0).variance))
    assert gaussian.high == pytest.approx(laplace.high, abs=0.01)
    assert fairness_gap(counts, sizes, noise=gaussian_at("1/2")) == fairness_gap(
        counts, sizes, noise=Gaussian(1.0)
    )


def test_noisy_sizes_may_have_gaussian_noise() -> None:
    counts = {"a": [60, 60, 80], "b": [60, 65, 75]}
    noisy = {"a": 200, "b": 200}
    gap = fairness_gap(counts, noise=Gaussian(1), noisy_sizes=noisy, size_noise=Gaussian(16))
    assert gap.high < fairness_gap(counts, noise=Gaussian(1)).high
    with pytest.raises(ValueError, match="size_epsilon"):
        fairness_gap(counts, noise=Gaussian(1), noisy_sizes=noisy)


def test_interval_is_not_wasteful() -> None:
    # Two bins, known sizes, a gap of .3: the upper limit should miss in about delta/2 = .1 of runs.
    # P(none in 200) < 1e-6 for a rate of .07.
    generator, shares = np.random.default_rng(3), apart(2, 0.3, 2)
    missed = 0
    for _ in range(200):
        given = release(generator, (200, 200), shares, 4.0, "known")
        tables = [tuple(table) for table in given["counts"].values()]
        groups = [GroupCounts(t, GroupSizeEstimate(sum(t), 2, 4.0, known=200), 4.0) for t in tables]
        missed += gap_bounds.certify_within(groups, 0.2, 0.3)
    assert missed >= 1


def test_quick_verdicts_agree_with_the_limits() -> None:
    generator = np.random.default_rng(12)
    for gap in (0.0, 0.2, 0.4, 0.6):
        for sizes in ("known", "noisy", "estimated"):
            given = release(generator, (250, 200), apart(5, gap, 3), 1.0, sizes)
            found = fairness_gap(**given)
            noisy = given.get("noisy_sizes", {})
            known = given.get("sizes", {})
            groups = [
                GroupCounts(
                    tuple(table),
                    GroupSizeEstimate(sum(table), 5, 1.0, known.get(name), noisy.get(name), 0.25),
                    1.0,
                )
                for name, table in given["counts"].items()
            ]
            assert gap_bounds.certify_within(groups, 0.05, min(found.high + 1e-9, 1.0))
            assert not gap_bounds.certify_within(groups, 0.05, found.high - 0.02)
            assert not gap_bounds.certify_beyond(groups, 0.05, min(found.low + 0.02, 1.0))
            assert found.low == 0 or gap_bounds.certify_beyond(groups, 0.05, found.low - 1e-9)


@pytest.mark.long
@pytest.mark.parametrize("sizes", ["known", "noisy"])
def test_verdicts_at_the_planned_size(sizes: str) -> None:
    # Power is above .95 at 300 (known) and 400 (noisy) people: 8 of 15 suffice, which fails falsely
    # in less than 1e-6.
    generator, people = np.random.default_rng(8), 300 if sizes == "known" else 400
    expected: list[tuple[float, Verdict]] = [(0.0, "fair"), (0.4, "unfair")]
    for gap, verdict in expected:
        shares = apart(20, gap, 3)
        found = [
            fairness_gap(**release(generator, (people, people), shares, 1.0, sizes)).verdict(0.2)
            for _ in range(15)
        ]
        assert found.count(verdict) >= 8


@pytest.mark.parametrize("people", [30, 100, 300, 1000, 20_000])
@pytest.mark.parametrize("bins", [2, 10, 100])
def test_uploaded_instead_of_scored_people_never_looks_fair(people: int, bins: int) -> None:
    # 30 % matched and a gap of .5: a verdict of fair would need to misjudge 70 % of the people.
    generator, shares = np.random.default_rng(people + bins), apart(bins, 0.5, min(bins, 10))
    for _ in range(5):
        given = release(generator, (people * 3 // 10, people * 3 // 10), shares, 1.0, "estimated")
        gap = fairness_gap(**given, sizes={"g0": people, "g1": people})
        assert gap.verdict(0.2) != "fair"
        assert gap.high > 0.5 or gap.verdict(0.2) == "inconclusive"


def test_a_noisy_uploaded_number_never_looks_fair() -> None:
    generator, shares = np.random.default_rng(2), apart(10, 0.5, 10)
    given = release(generator, (150, 150), shares, 1.0, "estimated")
    gap = fairness_gap(**given, noisy_sizes={"g0": 500, "g1": 500}, size_epsilon=0.25)
    assert gap.verdict(0.2) != "fair"


@pytest.mark.parametrize("sizes", [None, {"g0": 0, "g1": 0}, {"g0": 300, "g1": 300}])
@pytest.mark.parametrize("bins", [1, 2, 100])
def test_nobody_left_says_nothing(bins: int, sizes: dict[str, int] | None) -> None:
    gap = fairness_gap({"g0": [0] * bins, "g1": [0] * bins}, sizes)
    assert (gap.low, gap.high) == (0.0, 1.0)
    assert gap.verdict(0.2) == "inconclusive"


def test_noise_alone_says_nothing() -> None:
    # The lower limit of a size is wrong in at most .0025; seeds are fixed.
    generator = np.random.default_rng(4)
    for _ in range(20):
        counts = {g: discrete_laplace(generator, 1.0, 20).tolist() for g in ("g0", "g1")}
        assert fairness_gap(counts).verdict(0.2) == "inconclusive"


def test_negative_counts_and_sizes_do_not_crash() -> None:
    for sizes in (None, {"a": -5, "b": 3}, {"a": 10, "b": 10}):
        gap = fairness_gap({"a": [-8, -3], "b": [-1, -20]}, sizes)
        assert gap.verdict(0.1) == "inconclusive"


def test_counts_that_contradict_their_size_say_nothing() -> None:
    gap = fairness_gap({"a": [500, 500], "b": [500, 500]}, {"a": 300, "b": 300})
    assert (gap.low, gap.high) == (0.0, 1.0)


@pytest.mark.parametrize("epsilon", [None, math.inf])
def test_without_noise(epsilon: float | None) -> None:
    counts, sizes = {"a": [30, 70], "b": [50, 50]}, {"a": 100, "b": 100}
    gap = fairness_gap(counts, sizes, epsilon=epsilon)
    assert gap.low < 0.2 < gap.high
    assert gap.high < 0.35
    assert fairness_gap(counts, epsilon=epsilon).high == pytest.approx(gap.high, abs=0.05)


@pytest.mark.parametrize("epsilon", [Decimal("0.5"), Fraction(1, 2), "0.5", "1/2"])
def test_epsilon_in_any_exact_form(epsilon: Any) -> None:
    counts = {"a": [30, 70], "b": [50, 50]}
    assert fairness_gap(counts, epsilon=epsilon) == fairness_gap(counts, epsilon=0.5)


def test_more_noise_or_fewer_people_widen_the_interval() -> None:
    def width(people: int, epsilon: float, delta: float = 0.05) -> float:
        table = [people // 2, people // 2]
        gap = fairness_gap(
            {"a": table, "b": table}, {"a": people, "b": people}, epsilon=epsilon, delta=delta
        )
        return gap.high - gap.low

    assert width(100, 1) > width(400, 1) > width(1600, 1)
    assert width(200, 0.1) > width(200, 0.5) > width(200, 4)
    assert width(200, 1, 0.01) > width(200, 1, 0.1)


def test_what_is_known_of_sizes_narrows_the_interval() -> None:
    counts = {"a": [60, 60, 80], "b": [60, 65, 75]}
    known = fairness_gap(counts, {"a": 200, "b": 200})
    noisy = fairness_gap(counts, noisy_sizes={"a": 200, "b": 200}, size_epsilon=1)
    estimated = fairness_gap(counts)
    assert known.high < noisy.high < estimated.high


def test_some_sizes_may_be_known_and_others_not() -> None:
    counts = {"a": [160, 140], "b": [155, 145], "c": [150, 150]}
    gap = fairness_gap(counts, {"a": 300}, noisy_sizes={"b": 301}, size_epsilon=0.5)
    assert 0 <= gap.low <= gap.high < 0.4


@pytest.mark.parametrize("people", [100, 1000, 1_000_000])
def test_a_usual_release_is_answered_at_once(people: int) -> None:
    generator, shares = np.random.default_rng(6), apart(100, 0.1, 50)
    given = release(generator, (people, people), shares, 1.0, "known")
    fairness_gap(**given)
    start = time.process_time()
    fairness_gap(**given)
    # A tenth of a second on an idle machine; the rest is for a busy one.
    assert time.process_time() - start < 1.0


def some_gap() -> FairnessGap:
    return FairnessGap(0.2, 0.1504, 0.2496, ("a", "b"), 3, 0.05, at_least=0.16, at_most=0.24)


def test_a_verdict_is_each_limit_alone_against_alpha() -> None:
    gap = some_gap()
    assert [gap.verdict(alpha) for alpha in (0.15, 0.16, 0.2, 0.24)] == [
        "unfair",
        "inconclusive",
        "inconclusive",
        "fair",
    ]
    assert gap.explain(0.1).startswith("Unfair beyond 0.1: the gap is at least 0.160 (confidence")
    assert gap.explain(0.24).startswith("Fair within 0.24: the gap is at most 0.240 (confidence")
    # Rounded outwards: what is printed holds too.
    assert "between 0.150 and 0.250" in gap.explain(0.2)
    assert "most in bin 3, where a has the larger share" in gap.explain(0.2)
    assert "among scores 0.3 to 0.4" in gap.explain(0.2, ["", "", "", "0.3 to 0.4"])
    assert "(confidence 95 %)" in gap.explain(0.2)


@pytest.mark.parametrize("sizes", ["known", "noisy", "estimated"])
def test_limits_that_hold_alone_lie_within_those_that_hold_together(sizes: str) -> None:
    generator = np.random.default_rng(21)
    for true in (0.0, 0.3):
        for delta in (0.01, 0.05, 0.3, 0.6):
            given = release(generator, (150, 120), apart(4, true, 3), 1.0, sizes)
            gap = fairness_gap(**given, delta=delta)
            assert 0 <= gap.low <= gap.at_least <= gap.at_most <= gap.high <= 1
            # From one half on there is nothing to double.
            assert delta < 0.5 or (gap.at_least, gap.at_most) == (gap.low, gap.high)


@pytest.mark.parametrize("sizes", ["known", "noisy", "estimated"])
@pytest.mark.parametrize("gaussian", [False, True])
def test_verdicts_are_wrong_no_more_often_than_delta_says(gaussian: bool, sizes: str) -> None:
    # Gaps of alpha and a hair more. 6 cases, 2 sides, each by a binomial test at 1e-8.
    case, runs = Case((120, 90), 4, 2, 0.2, 2.0, sizes, gaussian), 30
    most = stats.binom.ppf(1 - 1e-8, runs, DELTA)
    assert max(errors(case, runs, np.random.default_rng(4))) * runs <= most


def test_verdicts_use_most_of_what_delta_allows() -> None:
    # Two bins, known sizes: `fair` should be wrong in nearly .05 of audits a hair above alpha.
    # P(none in 300) < 1e-6 for a rate of .046.
    case, generator = Case((200, 200), 2, 2, 0.3, 4.0, "known"), np.random.default_rng(3)
    delta, alpha = gap_bounds.one_sided_delta(DELTA), case.gap - 1e-12
    assert any(gap_bounds.certify_within(audit(case, generator), delta, alpha) for _ in range(300))


@pytest.mark.parametrize("alpha", [-0.1, 1.1, float("nan")])
def test_alpha_out_of_range_is_refused(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha"):
        some_gap().verdict(alpha)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"counts": {"a": [1, 2]}}, r"groups.*\b1\b"),
        ({"counts": {}}, r"groups.*\b0\b"),
        ({"counts": {"a": [1, 2], "b": [1]}}, r"bins.*'a': 2, 'b': 1"),
        ({"counts": {"a": [], "b": []}}, r"bins.*'a': 0, 'b': 0"),
        ({"counts": {"a": [1, float("nan")], "b": [1, 2]}}, r"\ba\b.*\bnan\b"),
        ({"counts": {"a": [1, 2.0], "b": [1, 2]}}, r"\ba\b.*\b2\.0\b"),
        ({"counts": {"a": [1, True], "b": [1, 2]}}, r"\ba\b.*\bTrue\b"),
        ({"counts": {"a": [1, "2"], "b": [1, 2]}}, r"\ba\b.*'2'"),
        ({"counts": {"a": [1, 10**13], "b": [1, 2]}}, r"\ba\b.*\b10000000000000\b"),
        ({"sizes": {"a": 10.5, "b": 3}}, r"\ba\b.*\b10\.5\b"),
        ({"sizes": {"c": 10}}, r"sizes.*\bc\b"),
        ({"noisy_sizes": {"a": 10}}, "size_epsilon"),
        ({"noisy_sizes": {"a": 10}, "size_epsilon": 0}, "size_epsilon"),
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"epsilon": "much"}, "epsilon"),
        ({"delta": 0}, "delta"),
        ({"delta": 1}, "delta"),
        ({"delta": float("nan")}, "delta"),
    ],
)
def test_bad_input_is_named(changed: dict[str, Any], named: str) -> None:
    given: dict[str, Any] = {"counts": {"a": [5, 6], "b": [7, 8]}, **changed}
    with pytest.raises(ValueError, match=named):
        fairness_gap(**given)


def test_numpy_integers_are_integers() -> None:
    table: Any = np.array([30, 70])
    assert fairness_gap({"a": table, "b": table}) == fairness_gap({"a": [30, 70], "b": [30, 70]})


tables = st.integers(1, 5).flatmap(
    lambda bins: st.lists(
        st.lists(st.integers(-15, 120), min_size=bins, max_size=bins), min_size=2, max_size=3
    )
)


releases = given(
    rows=tables,
    known=st.booleans(),
    epsilon=st.sampled_from([0.1, 1.0, 5.0, math.inf]),
    delta=st.sampled_from([0.01, 0.05, 0.3]),
)


@settings(max_examples=8, deadline=None, derandomize=True)
@releases
def test_limits_are_shares_and_names_do_not_matter(
    rows: list[list[int]], known: bool, epsilon: float, delta: float
) -> None:
    assert_shares_whatever_the_names(rows, known, epsilon, delta)


@pytest.mark.long
@settings(max_examples=40, deadline=None, derandomize=True)
@releases
def test_limits_of_many_releases_are_shares_and_names_do_not_matter(
    rows: list[list[int]], known: bool, epsilon: float, delta: float
) -> None:
    assert_shares_whatever_the_names(rows, known, epsilon, delta)


def assert_shares_whatever_the_names(
    rows: list[list[int]], known: bool, epsilon: float, delta: float
) -> None:
    names = [f"g{i}" for i in range(len(rows))]
    sizes = {name: max(sum(row), 5) for name, row in zip(names, rows, strict=True)}
    given_sizes = sizes if known else None
    gap = fairness_gap(dict(zip(names, rows, strict=True)), given_sizes, epsilon, delta)
    assert 0 <= gap.low <= gap.high <= 1
    assert gap.low <= gap.efg
    if min(min(row) for row in rows) >= 0 and known:
        assert gap.efg <= gap.high or gap.efg > 1
    turned = dict(zip(names[::-1], rows[::-1], strict=True))
    renamed = {name + "x": row for name, row in turned.items()}
    sizes_too = {name + "x": n for name, n in sizes.items()} if known else None
    again = fairness_gap(renamed, sizes_too, epsilon, delta)
    assert (again.efg, again.low, again.high) == pytest.approx((gap.efg, gap.low, gap.high))
