"""Which pairs and bins drive a gap; crossed groups and their margins."""

import numpy as np
import pytest
from scipy import stats

from auditor_client import InputError
from auditor_client.fairness.bin_tests import GroupCounts
from auditor_client.fairness.gap import gap_of, measured_groups
from auditor_client.fairness.gap_drivers import drivers, pair_gaps
from auditor_client.fairness.marginal_groups import merge_by_attribute
from auditor_client.stats.noise import Gaussian, Laplace, MomentBoundNoise, Noise, NoNoise, Summed
from tests.auditor_client.examples import finished, price
from tests.refusals import refuses


def simulated(
    generator: np.random.Generator, shares: dict[str, list[float]], people: int, noise: Noise
) -> dict[str, GroupCounts]:
    counts = {
        name: [
            int(count)
            for count in generator.multinomial(people, p) + noise.simulated(generator, len(p))
        ]
        for name, p in shares.items()
    }
    return measured_groups(counts, noise, dict.fromkeys(shares, people), {}, NoNoise())


SHARES = {"a": [0.5, 0.3, 0.2], "b": [0.5, 0.3, 0.2], "c": [0.2, 0.6, 0.2]}


@pytest.mark.parametrize("noise", [Laplace(1.0), Gaussian(1.0)])
def test_all_pairs_and_bins_hold_at_once(noise: Noise) -> None:
    generator, runs, delta = np.random.default_rng(2), 16, 0.3
    missed = 0
    for _ in range(runs):
        found = drivers(simulated(generator, SHARES, 120, noise), delta)
        assert len(found) == 9
        for driver in found:
            one, other = (SHARES[name][driver.bin] for name in driver.groups)
            if not driver.low - 1e-12 <= one - other <= driver.high + 1e-12:
                missed += 1
                break
    # Two cases, each by a binomial test at 1e-8.
    assert missed <= stats.binom.ppf(1 - 1e-8, runs, delta)


def test_what_shows_most_comes_first() -> None:
    # 2,000 people and differences of .3 are 15 standard deviations.
    groups = simulated(np.random.default_rng(3), SHARES, 2000, Laplace(1.0))
    found = drivers(groups, 0.05)
    assert {found[0].bin, found[1].bin} <= {0, 1}
    assert all("c" in driver.groups for driver in found[:4])
    assert found[0].least > 0.2
    assert all(driver.least == 0 for driver in found if "c" not in driver.groups)


def test_pairs_are_judged_together() -> None:
    groups = simulated(np.random.default_rng(4), SHARES, 2000, Laplace(1.0))
    found = {frozenset(gap.groups): gap for gap in pair_gaps(groups, 0.05)}
    assert found[frozenset("ab")].verdict(0.15) == "fair"
    assert found[frozenset("ac")].verdict(0.15) == "unfair"
    assert all(gap.delta == pytest.approx(0.05 / 3) for gap in found.values())


CROSSED = {
    "woman × Black": [0.3, 0.7],
    "woman × white": [0.6, 0.4],
    "man × Black": [0.5, 0.5],
    "man × white": [0.4, 0.6],
}


@pytest.mark.parametrize("noise", [Laplace(1.0), Gaussian(1.0)])
def test_margins_of_crossed_groups_hold_the_truth(noise: Noise) -> None:
    # By gender both have .45; by race Black .4 and white .5. 40 runs, a binomial test at 1e-8.
    generator, runs, delta = np.random.default_rng(5), 40, 0.3
    missed, unfair = 0, 0
    for _ in range(runs):
        groups = simulated(generator, CROSSED, 100, noise)
        gap = gap_of(merge_by_attribute(groups, 1), delta)
        missed += not gap.low - 1e-12 <= 0.1 <= gap.high + 1e-12
        unfair += gap_of(merge_by_attribute(groups, 0), delta).low > 0
    assert missed <= stats.binom.ppf(1 - 1e-8, runs, delta)
    assert unfair <= stats.binom.ppf(1 - 1e-8, runs, delta / 2)


def test_merged_groups_add_people_and_noise() -> None:
    groups = simulated(np.random.default_rng(6), CROSSED, 100, Laplace(1.0))
    women = merge_by_attribute(groups, 0)["woman"]
    assert women.size.known == 200
    assert women.rate == MomentBoundNoise(Summed(((Laplace(1.0), 2),)))
    assert women.table == tuple(
        map(sum, zip(groups["woman × Black"].table, groups["woman × white"].table, strict=True))
    )


@pytest.mark.parametrize("attribute", [-1, 2])
def test_an_attribute_that_was_not_crossed_is_refused(attribute: int) -> None:
    groups = simulated(np.random.default_rng(6), CROSSED, 100, Laplace(1.0))
    with refuses(InputError, "not-crossed"):
        merge_by_attribute(groups, attribute)


def test_a_finished_audit_has_them_all() -> None:
    labels = dict(zip(("g0", "g1", "g2", "g3"), CROSSED, strict=True))
    counts = {label: [round(300 * p) for p in CROSSED[labels[label]]] + [0] for label in labels}
    audit = finished(
        counts, labels, kind="known", sizes=dict.fromkeys(labels, 300), paid=price(1.0, None)
    )
    assert len(audit.pair_gaps()) == 6
    assert len(audit.drivers()) == 6 * 3
    assert audit.marginal_gap(0).groups in {("woman", "man"), ("man", "woman")}
    assert audit.marginal_gap(1).efg == pytest.approx(0.1, abs=0.01)
    with refuses(InputError, "not-crossed"):
        finished({"g0": [1, 2, 0], "g1": [1, 2, 0]}).marginal_gap(0)
