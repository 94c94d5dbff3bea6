"""Block of steps of the tight version of Algorithm 1 for the targets of a fleet, compiled.

Changes to [DCAU22, Algorithm 1], line by line:
- line 3: the arm with the best prospect, mean + √(2 ln t · variance/N), is tried next;
- line 4, first half: the baseline is pulled while N_0²/v_0 < Σ_k N_k²/v_k over active arms, the
  allocation that compares all of them with it in the fewest steps [CLYC00]; v_k is taken around the
  baseline's mean, where the comparison is hardest;
- line 4, second half: a breach of constraint (3) must be refuted at δ/4;
- lines 7 and 8: the opposite of a verdict must be refuted at δ·3/4: for all arms together to
  declare envy, for each arm alone to drop it. Only the best arm must not be dropped wrongly, and
  the two errors exclude each other.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022.
[CLYC00] Chen, Lin, Yücesan, Chick, Simulation budget allocation for further enhancing the
    efficiency of ordinal optimization, DEDS 10, 2000 (the share of the baseline).
"""

import math
from typing import Any, NamedTuple

import numpy as np

from api.kinds.envy_freeness.algorithms.batch import BASELINE, Codes, Floats, Ints, Records
from api.kinds.envy_freeness.algorithms.betting_bounds import (
    ARM_WEIGHTS,
    BASELINE_WEIGHTS,
    BETS,
    DOWN,
    TILTS,
    UP,
)
from api.kinds.envy_freeness.algorithms.numba_cache import compiled
from api.kinds.envy_freeness.algorithms.terms import VERDICTS
from api.kinds.envy_freeness.algorithms.two_sample_evidence import Side, TangentLine, refuted

_RUNNING, _ENVY, _NO_ENVY = (VERDICTS.index(word) for word in ("running", "envy", "no-envy"))

# Share of the steps so far whose rewards exploring must make up ahead of need.
_AHEAD = 0.01

# An arm: its rewards, their squares, and whether it is undecided; the baseline never is.
ARM = np.dtype([("pulls", "i8"), ("sums", "f8"), ("squares", "f8"), ("active", "?")])


class TightRows(NamedTuple):
    """State of each running target.

    It has the arms, baseline first, and the growth of all bets up and down on each arm, and of the
    bets up on all explored rewards. The explored rewards are proved to be worth at least `makes_up`
    rewards of the baseline.
    """

    people: Ints
    arms: Records
    up: Floats
    down: Floats
    explored_up: Floats
    makes_up: Floats

    @property
    def pulls(self) -> Ints:
        return self.arms["pulls"]

    @property
    def sums(self) -> Floats:
        return self.arms["sums"]


class StoppingRule(NamedTuple):
    """The stopping rule of all targets; thresholds are ln of capital."""

    alpha: float
    epsilon: float
    envy_needed: float
    drop_needed: float
    safe_needed: float


@compiled
def choose(rows: TightRows, rule: StoppingRule, step: int, block: int, asked: Ints) -> None:
    """Run lines 3 to 5 for all targets."""
    for row in range(len(asked)):
        arms = rows.arms[row]
        best, weight = _prospects(arms, step)
        stay = arms[BASELINE]["pulls"] ** 2 < weight * _variance(arms[BASELINE])
        asked[row] = BASELINE if stay or not _is_safe(rows, rule, row, step, block) else best


@compiled
def learn(rows: TightRows, asked: Ints, rewards: Floats) -> None:
    """Run line 6 for all targets."""
    for row in range(len(asked)):
        arm = asked[row]
        up, down, explored = rows.up[row, arm], rows.down[row, arm], rows.explored_up[row]
        for reward in rewards[row]:
            _count(rows.arms[row][arm], reward)
            if reward > 0:
                _grow(up, reward, TILTS, UP)
                _grow(down, reward, -TILTS, DOWN)
                if arm != BASELINE:
                    _grow(explored, reward, TILTS, UP)


@compiled
def judge(rows: TightRows, rule: StoppingRule, codes: Codes) -> None:
    """Run lines 7 to 9 for all targets."""
    for row in range(len(codes)):
        codes[row] = _verdict(rows, rule, row)


@compiled
def _prospects(arms: Records, step: int) -> tuple[int, float]:
    """Return the arm to try next, and Σ_k N_k²/v_k over active arms."""
    reach, own = math.sqrt(2 * math.log(step + 2)), _mean(arms[BASELINE])
    best, highest, weight = BASELINE, -math.inf, 0.0
    for number in range(1, len(arms)):
        arm = arms[number]
        if arm["active"]:
            prospect = math.inf
            if arm["pulls"]:
                mean, spread = _mean(arm), _variance(arm)
                prospect = mean + reach * math.sqrt(spread / arm["pulls"])
                weight += arm["pulls"] ** 2 / (spread + (mean - own) ** 2)
            if prospect > highest:
                best, highest = number, prospect
    return best, weight


@compiled
def _is_safe(rows: TightRows, rule: StoppingRule, row: int, step: int, block: int) -> bool:
    """Return whether constraint (3) will hold after a block of an arm, even without any reward."""
    # Σ_A μ ≥ ((1-α)t - N_0) μ_0   [DCAU22, (3), rewritten in §4.3]
    owed = (1 - rule.alpha) * (step + block) - rows.arms[row][BASELINE]["pulls"]
    if owed <= rows.makes_up[row]:
        return True
    # A bound shown now stays valid, so test some further steps at once.
    for more in (_AHEAD * step, 0.0):
        if _makes_up(rows, rule, row, step, owed + more):
            rows.makes_up[row] = owed + more
            return True
    return False


@compiled
def _makes_up(rows: TightRows, rule: StoppingRule, row: int, step: int, owed: float) -> bool:
    """Return whether the explored rewards are proved worth `owed` rewards of the baseline."""
    baseline = rows.arms[row][BASELINE]
    explored = step - baseline["pulls"]
    if explored == 0:
        return False
    gained = Side(ARM_WEIGHTS, UP, rows.explored_up[row], explored)
    short = TangentLine(owed / explored, 0.0)
    return refuted(gained, _low(rows, row, BASELINE), short, _mean(baseline), rule.safe_needed)


@compiled
def _count(arm: Any, reward: float) -> None:
    arm["pulls"] += 1
    arm["sums"] += reward
    arm["squares"] += reward**2


@compiled
def _grow(grown: Floats, reward: float, tilts: Floats, stakes: Floats) -> None:
    """Add ln(1 + A x) for each bet; for x = 1 it is the tilt itself."""
    for bet in range(BETS):
        grown[bet] += tilts[bet] if reward == 1 else math.log(1 + stakes[bet] * reward)


@compiled
def _verdict(rows: TightRows, rule: StoppingRule, row: int) -> int:
    left = False
    for number in range(1, rows.arms.shape[1]):
        arm = rows.arms[row][number]
        if arm["active"]:
            if _is_better(rows, rule, row, number):
                return _ENVY  # line 8
            arm["active"] = not _is_no_better(rows, rule, row, number)  # line 7
            left = left or arm["active"]
    return _RUNNING if left else _NO_ENVY  # line 9


@compiled
def _is_better(rows: TightRows, rule: StoppingRule, row: int, number: int) -> bool:
    """Return whether this arm is envied: μ_k > μ_0."""
    arm, baseline = rows.arms[row][number], rows.arms[row][BASELINE]
    if _mean(arm) <= _mean(baseline):
        return False
    high, low = _high(rows, row, number), _low(rows, row, BASELINE)
    return refuted(high, low, TangentLine(1.0, 0.0), _pooled(arm, baseline, 0.0), rule.envy_needed)


@compiled
def _is_no_better(rows: TightRows, rule: StoppingRule, row: int, number: int) -> bool:
    """Return whether this arm may be dropped: μ_k < μ_0 + ε."""
    arm, baseline = rows.arms[row][number], rows.arms[row][BASELINE]
    if _mean(arm) >= _mean(baseline) + rule.epsilon:
        return False
    high, low = _high(rows, row, BASELINE), _low(rows, row, number)
    guess = _pooled(arm, baseline, rule.epsilon)
    return refuted(high, low, TangentLine(1.0, -rule.epsilon), guess, rule.drop_needed)


@compiled
def _high(rows: TightRows, row: int, number: int) -> Side:
    weights = BASELINE_WEIGHTS if number == BASELINE else ARM_WEIGHTS
    return Side(weights, UP, rows.up[row, number], rows.arms[row][number]["pulls"])


@compiled
def _low(rows: TightRows, row: int, number: int) -> Side:
    weights = BASELINE_WEIGHTS if number == BASELINE else ARM_WEIGHTS
    return Side(weights, DOWN, rows.down[row, number], rows.arms[row][number]["pulls"])


@compiled
def _mean(arm: Any) -> float:
    return float(arm["sums"] / max(arm["pulls"], 1))


@compiled
def _pooled(arm: Any, baseline: Any, margin: float) -> float:
    """Return the pooled estimate of the arm's mean, if it is the baseline's mean plus `margin`."""
    total = arm["sums"] + baseline["sums"] + margin * baseline["pulls"]
    return float(total / max(arm["pulls"] + baseline["pulls"], 1))


@compiled
def _variance(arm: Any) -> float:
    """Return an estimate that begins at 1/4 and is never 0. It guides choices.

    No bound rests on it.
    """
    seen = max(arm["squares"] - arm["sums"] ** 2 / max(arm["pulls"], 1), 0.0)
    return float((0.25 + seen) / (arm["pulls"] + 1))
