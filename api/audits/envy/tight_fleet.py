"""OCEF with tight bounds: the promise of Algorithm 1, kept in a fraction of its steps.

What is changed in [DCAU22, Algorithm 1], line by line:
- line 3: the arm with the best prospect, mean + √(2 ln t · variance/N), is tried next;
- line 4, first half: the baseline is pulled while N_0²/v_0 < Σ_k N_k²/v_k over active arms, the
  allocation that compares all of them with it in the fewest steps [CLYC00]; v_k is taken around
  the baseline's mean, where the comparison is hardest;
- line 4, second half: constraint (3) by the limits of `bets`, at δ/8 each;
- lines 7 and 8: evidence about the two means together, at δ·3/4: of all arms to tell envy, of one
  to drop it. Only the best arm must not be dropped wrongly, and the two errors exclude each other.
Evidence is looked at whenever steps have grown by 2 %. It may be looked at at any time. A choice
stands for a block of steps that grows with the steps so far: constraint (3) is checked for the
whole block, and what arms are pulled too often is a hundredth of all.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022.
[CLYC00] Chen, Lin, Yücesan, Chick, Simulation budget allocation for further enhancing the
    efficiency of ordinal optimization, DEDS 10, 2000 (the share of the baseline).
"""

import math
from dataclasses import dataclass

import numpy as np

from api.audits.envy.bets import (
    BETS,
    COARSE,
    FINE_TILTS,
    TILTS,
    growth,
    mean_at_most,
    total_at_least,
)
from api.audits.envy.contrast import Side, evidence, mirrored, variance
from api.audits.envy.fleet import BASELINE, Bools, Fleet, Floats, Ints, Rows
from api.audits.envy.terms import Terms

# Of delta: for the verdict; and for each of the two limits that guard constraint (3).
VERDICT_SHARE, LIMIT_SHARE = 3 / 4, 1 / 8
_LOOKS_PER_E = 50
# Of the steps so far, what a block may be; of alpha's part of them, and of each arm's.
_BLOCK = 1 / 50


@dataclass
class TightRows(Rows):
    """Squares of rewards; growth of bets on arms, on the baseline, on all that was explored;
    prospects and weights of arms, 0 when dropped.
    """

    squares: Floats
    arms_up: Floats
    arms_down: Floats
    baseline_up: Floats
    baseline_down: Floats
    explored_up: Floats
    active: Bools
    means: Floats
    widths: Floats
    weights: Floats


class TightFleet(Fleet[TightRows]):
    """OCEF with tight bounds. It makes no draw: equal prospects go to the first of the arms."""

    def __init__(self, terms: Terms, arms: int, targets: int) -> None:
        shape = (targets, arms + 1)
        rows = TightRows(
            people=np.arange(targets),
            pulls=np.zeros(shape, np.int64),
            sums=np.zeros(shape),
            squares=np.zeros(shape),
            arms_up=np.zeros((targets, arms, BETS)),
            arms_down=np.zeros((targets, arms, BETS)),
            baseline_up=np.zeros((targets, len(FINE_TILTS))),
            baseline_down=np.zeros((targets, len(FINE_TILTS))),
            explored_up=np.zeros((targets, BETS)),
            active=np.ones((targets, arms), bool),
            means=np.zeros((targets, arms)),
            widths=np.full((targets, arms), np.inf),
            weights=np.zeros((targets, arms)),
        )
        super().__init__(terms, arms, rows)
        self._resized()

    def _block(self) -> int:
        return 1 + int(self.step * min(_BLOCK * self.terms.alpha, _BLOCK / self.arms))

    def _choose(self, draws: Floats) -> Ints:
        rows = self.rows
        reach = math.sqrt(2 * math.log(self.step + 2))
        candidate = (rows.means + reach * rows.widths).argmax(axis=1) + 1
        pulled = rows.pulls[:, BASELINE]
        spread = variance(pulled, rows.sums[:, BASELINE], rows.squares[:, BASELINE])
        stay = pulled**2 < spread * rows.weights.sum(axis=1)
        owed = np.asarray((1 - self.terms.alpha) * (self.step + self.block) - pulled, np.float64)
        doubtful = np.flatnonzero(~stay & (owed > 0))
        stay[doubtful] = ~self._are_safe(doubtful, owed[doubtful])
        return np.where(stay, BASELINE, candidate)

    def _are_safe(self, at: Ints, owed: Floats) -> Bools:
        """Whether constraint (3) will hold after an arm is pulled that may be worth nothing."""
        rows, level = self.rows, LIMIT_SHARE * self.terms.delta
        pulled = rows.pulls[at, BASELINE]
        limit = mean_at_most(rows.baseline_down[at[:, None], COARSE], pulled, level)
        # Σ_A μ ≥ ((1-α)t - N_0) μ_0   [DCAU22, (3), rewritten in §4.3]
        gained = total_at_least(rows.explored_up[at], self.step - pulled, level)
        return np.asarray(gained >= owed * limit)

    def _learn(self, arms: Ints, rewards: Floats) -> None:
        rows, place = self.rows, self._first + arms
        pulls, sums, squares = (a.reshape(-1) for a in (rows.pulls, rows.sums, rows.squares))
        pulls[place] += self.block
        sums[place] += rewards.sum(axis=1)
        squares[place] += (rewards**2).sum(axis=1)
        home, away = np.flatnonzero(arms == BASELINE), np.flatnonzero(arms > BASELINE)
        self._stay(home, rewards[home])
        self._explore(away, arms[away], rewards[away])
        if self._is_time():
            self._judge()

    def _stay(self, at: Ints, rewards: Floats) -> None:
        up, down = growth(rewards, FINE_TILTS)
        self.rows.baseline_up[at] += up
        self.rows.baseline_down[at] += down

    def _explore(self, at: Ints, arms: Ints, rewards: Floats) -> None:
        up, down = growth(rewards, TILTS)
        self.rows.arms_up[at, arms - 1] += up
        self.rows.arms_down[at, arms - 1] += down
        self.rows.explored_up[at] += up
        self._reckon(at, arms)

    def _reckon(self, at: Ints, arms: Ints) -> None:
        """Prospects and weights of the arms just pulled."""
        rows = self.rows
        pulls, sums = rows.pulls[at, arms], rows.sums[at, arms]
        baseline = rows.sums[at, BASELINE] / np.maximum(rows.pulls[at, BASELINE], 1)
        mean, spread = sums / pulls, variance(pulls, sums, rows.squares[at, arms])
        rows.means[at, arms - 1] = mean
        rows.widths[at, arms - 1] = np.sqrt(spread / pulls)
        rows.weights[at, arms - 1] = pulls**2 / (spread + (mean - baseline) ** 2)

    def _is_time(self) -> bool:
        now, before = self.step, max(self.step - self.block, 1)
        return int(_LOOKS_PER_E * math.log(now)) > int(_LOOKS_PER_E * math.log(before))

    def _judge(self) -> None:
        rows, level = self.rows, VERDICT_SHARE * self.terms.delta
        arms, baseline = slice(1, None), slice(BASELINE, 1)
        better = self._side(arms, rows.arms_up), self._side(baseline, rows.baseline_down[:, None])
        envied = evidence(*better, 0.0, rows.active) >= -math.log(level / self.arms)
        worse = (
            mirrored(self._side(arms, rows.arms_down), TILTS),
            mirrored(self._side(baseline, rows.baseline_up[:, None]), -FINE_TILTS),
        )
        dropped = evidence(*worse, self.terms.epsilon, rows.active) >= -math.log(level)
        if dropped.any():
            rows.active &= ~dropped
            rows.means[dropped], rows.widths[dropped], rows.weights[dropped] = -np.inf, 0.0, 0.0
        envious = np.asarray(envied.any(axis=1))
        content = np.asarray(~rows.active.any(axis=1) & ~envious)
        if envious.any():
            self._end(envious, "envy")
        if content.any():
            self._end(content[~envious], "no-envy")

    def _side(self, columns: slice, grown: Floats) -> Side:
        """These arms of every target, spread over as many columns as there are arms."""
        rows, shape = self.rows, (len(self.people), self.arms)
        pulls, sums = rows.pulls[:, columns], rows.sums[:, columns]
        return Side(
            np.broadcast_to(pulls, shape),
            np.broadcast_to(sums / np.maximum(pulls, 1), shape),
            np.broadcast_to(variance(pulls, sums, rows.squares[:, columns]), shape),
            np.broadcast_to(grown, (*shape, grown.shape[-1])),
        )
