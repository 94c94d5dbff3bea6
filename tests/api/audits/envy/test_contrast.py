import numpy as np
import pytest

from api.audits.envy import bets
from api.audits.envy.contrast import Side, evidence, mirrored, variance
from api.audits.envy.fleet import Floats

YES = np.array([True])


def side(rewards: Floats, grown: Floats) -> Side:
    pulls, sums = np.array([len(rewards)]), np.array([rewards.sum()])
    spread = variance(pulls, sums, np.array([(rewards**2).sum()]))
    return Side(pulls, sums / np.maximum(pulls, 1), spread, grown[None])


def arm(rewards: Floats) -> Side:
    return side(rewards, bets.growth(rewards, bets.TILTS)[0])


def baseline(rewards: Floats) -> Side:
    return side(rewards, bets.growth(rewards, bets.FINE_TILTS)[1])


def best(first: Side, second: Side, margin: float) -> float:
    """The evidence of the best of all pairs of bets."""
    up, down = np.arange(bets.BETS)[:, None], bets.COARSE[:, None] - 4 + np.arange(bets.REACH)
    grown = first.grown[0, up] + second.grown[0, down]
    stakes = bets.UP[up], bets.FINE_DOWN[down]
    capital = bets.least_capital(grown, (first.pulls, second.pulls), stakes, margin)
    return float((capital - bets.prices(up, down)).max())


@pytest.mark.parametrize("pulls", [(60, 60), (40, 300), (25, 3000), (2000, 5000)])
@pytest.mark.parametrize("spread", [1.0, 0.1])
def test_the_bets_looked_at_are_about_the_best(pulls: tuple[int, int], spread: float) -> None:
    rng = np.random.default_rng(5)
    high, low = (
        np.asarray(mean + spread * ((rng.random(n) < mean) - mean), np.float64)
        for mean, n in zip((0.75, 0.2), pulls, strict=True)
    )
    found = float(evidence(arm(high), baseline(low), 0.05, YES)[0])
    wanted = best(arm(high), baseline(low), 0.05)
    assert wanted >= 4
    assert 0.85 * wanted <= found <= wanted + 1e-9


def test_rare_rewards_and_a_baseline_pulled_much_more_find_their_bets() -> None:
    rng = np.random.default_rng(6)
    low, high = (rng.random(2000) < 0.075).astype(float), (rng.random(90_000) < 0.1).astype(float)
    sides = arm(1 - low), baseline(1 - high)
    found, wanted = float(evidence(*sides, 0.05, YES)[0]), best(*sides, 0.05)
    assert wanted > 30
    assert found >= 0.8 * wanted


def test_the_mirror_asks_the_same_of_one_minus_the_rewards() -> None:
    rewards = np.random.default_rng(2).random(40)
    for tilts in (bets.TILTS, bets.FINE_TILTS):
        up, down = bets.growth(rewards, tilts)
        turned_up, turned_down = bets.growth(1 - rewards, tilts)
        assert mirrored(side(rewards, down), tilts).grown[0] == pytest.approx(turned_up)
        assert mirrored(side(rewards, up), -tilts).grown[0] == pytest.approx(turned_down)
    assert mirrored(side(rewards, up), -tilts).means == pytest.approx(1 - rewards.mean())


def test_small_variance_is_strong_evidence() -> None:
    coins = np.tile([0.0, 1.0], 20)
    steady = 0.5 + 0.05 * (coins - 0.5)
    loud = evidence(arm(coins * 0.8 + 0.2), baseline(coins * 0.8), 0.0, YES)
    assert evidence(arm(steady + 0.2), baseline(steady), 0.0, YES)[0] > 4
    assert loud[0] < 0


def test_there_is_no_evidence_without_rewards_without_a_lead_or_unasked() -> None:
    ones, zeros, none = np.ones(30), np.zeros(30), np.zeros(0)
    assert evidence(arm(ones), baseline(zeros), 0.0, YES)[0] > 9
    assert evidence(arm(zeros), baseline(ones), 0.05, YES)[0] == -np.inf
    assert evidence(arm(ones), baseline(none), 0.0, YES)[0] == -np.inf
    assert evidence(arm(none), baseline(zeros), 0.1, YES)[0] == -np.inf
    assert evidence(arm(ones), baseline(zeros), 0.0, ~YES)[0] == -np.inf


def test_the_variance_begins_at_a_quarter() -> None:
    nothing = np.zeros(1)
    assert variance(np.array([0]), nothing, nothing) == [0.25]
    rewards = np.random.default_rng(0).random(10_000)
    found = variance(np.array([10_000]), np.array([rewards.sum()]), np.array([rewards @ rewards]))
    assert found[0] == pytest.approx(1 / 12, abs=0.005)
