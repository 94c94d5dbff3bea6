"""Checks by canaries: what any rule of scores can deliver, false alarms, and what can be found."""

from pathlib import Path

import numpy as np
import pytest
from scipy import optimize, stats

from auditor_client import InputError
from auditor_client.consistency.canary import check_counts, field_check, presence_check
from auditor_client.consistency.canary_counts import CanaryTest
from auditor_client.consistency.canary_plan import (
    canary_plan,
    choose_tails,
    field_power,
    find_edges,
    lowest_rate,
)
from auditor_client.consistency.delivery_rules import (
    DeliveryRegion,
    GroupScores,
    _envelope,
    delivery_region,
)
from auditor_client.fairness.bin_tests import GroupCounts
from auditor_client.stats.group_size import GroupSizeEstimate
from auditor_client.stats.noise import Floats, Laplace
from tests.auditor_client.examples import finished, price
from tests.refusals import refuses

LAW = Laplace(1.0)


def scores(name: str, table: list[int], *, exact: bool = False) -> GroupScores:
    size = GroupSizeEstimate(sum(table), len(table), LAW, known=sum(table))
    return GroupScores(name, GroupCounts(tuple(table), size, LAW), exact)


def test_the_closed_form_is_the_linear_programme() -> None:
    generator = np.random.default_rng(3)
    for _ in range(20):
        points = np.vstack([generator.random((8, 2)), [[0.0, generator.random() / 5], [1.0, 1.0]]])
        found = DeliveryRegion(*_envelope(points))
        for less in (0.0, 0.05, 0.3, 0.8, 1.0):
            # Mixtures of thresholds: the most of `more` while `less` is at most this.
            best = optimize.linprog(
                -points[:, 1],
                A_ub=[points[:, 0], np.ones(len(points))],
                b_ub=[less, 1.0],
                bounds=(0, 1),
            )
            assert float(found.most(less)) == pytest.approx(-best.fun, abs=1e-9)


@pytest.mark.parametrize("exact", [False, True])
def test_no_rule_of_scores_leaves_the_region(exact: bool) -> None:
    # With this many people the limits are the shares within 1 %.
    tables = [50_000, 30_000, 15_000, 5_000, 0], [20_000, 30_000, 30_000, 20_000, 0]
    allowed = delivery_region(
        scores("a", tables[0], exact=exact), scores("b", tables[1], exact=exact), 0.01
    )
    generator = np.random.default_rng(5)
    shares = [np.array(table[:4]) / sum(table) for table in tables]
    for _ in range(200):
        rule = np.sort(generator.random(4) ** 3)
        more, less = (float(share @ rule) for share in shares)
        assert more <= allowed.most(less) + 1e-12
    assert allowed.lowest_rate >= (0.0 if exact else 0.05)


def test_p_values_are_bounds_of_the_exact_probability() -> None:
    allowed = DeliveryRegion(np.array([0.0, 0.1, 1.0]), np.array([0.02, 0.2, 1.0]))
    test = CanaryTest(allowed, 40, 60)
    for shown, other in ((5, 0), (9, 1), (20, 5)):
        p_value = test.p_value(shown, other)
        far = test._distance(np.array([shown]), np.array([other]))[0]
        grid = np.stack(np.meshgrid(np.arange(41), np.arange(61), indexing="ij")).reshape(2, -1)
        extreme = grid[:, test._distance(*grid) >= far * (1 - 1e-12)]
        largest = max(
            float(
                (
                    stats.binom.pmf(extreme[0], 40, float(allowed.most(less)))
                    * stats.binom.pmf(extreme[1], 60, less)
                ).sum()
            )
            for less in np.linspace(0, 1, 301)
        )
        assert largest <= p_value <= 1.5 * largest + 1e-6
        for level in (0.001, 0.05, 0.5):
            assert test.rejects(shown, other, level) == (p_value <= level)


@pytest.mark.parametrize("rate", [0.05, 0.1])
def test_a_group_that_is_never_shown_the_ad_is_found_at_real_rates(rate: float) -> None:
    plan = canary_plan(rate, people=4_000, canaries=1_000)
    assert plan.power > 0.9
    # The simulated check draws people, noise and canaries: 5 of 6 at the least.
    assert field_power(plan, runs=6) >= 5 / 6


def test_an_honest_platform_is_seldom_accused() -> None:
    generator = np.random.default_rng(8)
    runs, alarms, level = 60, 0, 0.2
    shares = np.array([0.8, 0.1, 0.06, 0.04])
    groups: tuple[Floats, Floats] = shares, np.array([0.75, 0.13, 0.07, 0.05])
    for _ in range(runs):
        # Shown are all of the top bin and half of the next one: no lie, whatever the shares.
        seen, made = {}, {}
        for name, share in zip(("a", "b"), groups, strict=True):
            counts = generator.multinomial(500, share)
            noisy = np.append(counts, 0) + LAW.simulated(generator, 5)
            made[name] = scores(name, [int(n) for n in noisy])
            seen[name] = (int(generator.binomial(300, share[3] + share[2] / 2)), 300)
        alarms += check_counts(made, seen, level).verdict == "irreconcilable"
    assert alarms <= stats.binom.ppf(1 - 1e-8, runs, level)


def test_rates_that_no_audit_of_these_bins_can_check_are_inconclusive() -> None:
    counts = {"g0": [500, 500, 500, 500, 0], "g1": [500, 500, 500, 500, 0]}
    audit = finished(counts, kind="known", sizes={"g0": 2000, "g1": 2000}, paid=price(1.0, None))
    found = field_check(audit, {"man": (10, 1000), "woman": (0, 1000)})
    assert (found.verdict, found.checkable) == ("inconclusive", False)
    assert found.lowest_rate >= 0.25
    assert "canary_plan" in found.explain()
    assert "score alone" in found.explain()
    apart = field_check(audit, {"man": (700, 1000), "woman": (300, 1000)})
    assert (apart.verdict, apart.groups) == ("irreconcilable", ("man", "woman"))


def test_a_receipt_file_will_do(tmp_path: Path) -> None:
    counts = {"g0": [490, 250, 250, 0], "g1": [490, 250, 250, 0]}
    path = finished(counts, kind="bins", paid=price(1.0, None)).save_receipt(tmp_path / "r.json")
    assert field_check(path, {"man": (50, 1000), "woman": (49, 1000)}).verdict != "irreconcilable"
    [present] = presence_check(str(path), {"man": 990})
    assert present.verdict == "consistent"


def test_canaries_who_were_dropped_are_missed() -> None:
    counts = {"g0": [40, 30, 20, 0], "g1": [30, 20, 10, 0]}
    audit = finished(counts, kind="bins", paid=price(1.0, None))
    there, dropped = presence_check(audit, {"man": 90, "woman": 90})
    assert (there.verdict, dropped.verdict) == ("consistent", "irreconcilable")
    assert dropped.p_value < 1e-3
    with refuses(InputError, "groups-of-canaries", "man"):
        presence_check(audit, {"dog": 1})


def test_noise_alone_seldom_accuses_a_platform_of_dropping_canaries() -> None:
    generator, runs, level = np.random.default_rng(2), 300, 0.05
    alarms = 0
    for _ in range(runs):
        noisy = {
            label: [int(n) for n in np.array([30, 20, 10, 0]) + LAW.simulated(generator, 4)]
            for label in ("g0", "g1")
        }
        audit = finished(noisy, kind="bins", paid=price(1.0, None))
        found = presence_check(audit, {"man": 60, "woman": 60}, level)
        alarms += any(one.verdict == "irreconcilable" for one in found)
    # By a binomial test at 1e-8; and half of what is allowed is used.
    assert level * runs / 4 <= alarms <= stats.binom.ppf(1 - 1e-8, runs, level)


def test_a_plan_states_what_it_cannot_check() -> None:
    tails = choose_tails(0.05)
    assert tails[0] == pytest.approx(0.0125)
    few, many = (lowest_rate(tails, people, 1.0, 0.01) for people in (500, 20_000))
    assert tails[0] < many < few
    plan = canary_plan(0.2, people=2_000)
    assert plan.lowest_rate < 0.2
    assert plan.canaries < 1_000
    assert "cannot be checked" in plan.explain()
    with refuses(InputError, "rate-too-low"):
        canary_plan(0.005, people=250)
    with refuses(InputError, "canary-plan"):
        canary_plan(0.0)


def test_edges_come_from_an_earlier_release() -> None:
    counts = {"g0": [800, 150, 50, 0], "g1": [800, 150, 50, 0]}
    audit = finished(counts, kind="bins", paid=price(1.0, None))
    edges = find_edges(audit, (0.025, 0.05, 0.2))
    assert edges == pytest.approx([0, 1 / 3, 2 / 3, 5 / 6, 1], abs=1e-9)
