"""One step of Algorithm 1, OCEF, for one target, compiled. Its decisions are those of `reference`.

One step changes one arm, so the compared values are updated by a constant amount of work, for any
number of arms. Line 7 needs the least upper limit among active arms, line 8 the largest lower
limit. The kernel keeps a bound on each of them, and a pulled arm can move such a bound at once.
When a bound says that a line may apply, the kernel examines all arms and makes the bounds exact
again.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, Algorithm 1 and equation 4.
"""

from typing import Any, NamedTuple

import numpy as np

from api.kinds.envy_freeness.algorithms.batch import BASELINE, Codes, Floats, Ints, Records
from api.kinds.envy_freeness.algorithms.numba_cache import compiled
from api.kinds.envy_freeness.algorithms.terms import VERDICTS

_RUNNING, _ENVY, _NO_ENVY = (VERDICTS.index(word) for word in ("running", "envy", "no-envy"))

# An arm with its interval; as records, so that a step finds all its values in one place.
ARM = np.dtype([("pulls", "i8"), ("sums", "f8"), ("low", "f8"), ("high", "f8")])
# A target: the number of its active arms, the most pulls of one of them, and bounds on their
# extremes; then sums over the explored rewards.
TARGET = np.dtype(
    [
        ("active", "i8"),
        ("most", "i8"),
        ("least_high", "f8"),
        ("largest_low", "f8"),
        ("explored", "i8"),
        ("gained", "f8"),
        ("spread", "f8"),
    ]
)


class PrintedRows(NamedTuple):
    """Arms of each running target, baseline first, and the numbers of its arms, active ones
    first.
    """

    people: Ints
    targets: Records
    arms: Records
    order: Ints

    @property
    def pulls(self) -> Ints:
        return self.arms["pulls"]

    @property
    def sums(self) -> Floats:
        return self.arms["sums"]


class Supply(NamedTuple):
    """Rewards drawn beforehand, for each person and arm in order, and the number already used."""

    rewards: Floats
    used: Ints


@compiled
def choose(
    rows: PrintedRows, alpha: float, widths: Records, step: int, draws: Floats, asked: Ints
) -> None:
    """Run lines 3 to 5 for all targets."""
    for row in range(len(asked)):
        target, arms, order = rows.targets[row], rows.arms[row], rows.order[row]
        asked[row] = _arm(target, arms, order, alpha, widths, step, draws[row])


@compiled
def learn(
    rows: PrintedRows, epsilon: float, widths: Records, asked: Ints, rewards: Floats, codes: Codes
) -> None:
    """Run lines 6 to 9 for all targets."""
    for row in range(len(asked)):
        target, arms, order = rows.targets[row], rows.arms[row], rows.order[row]
        codes[row] = _learned(target, arms, order, epsilon, widths, asked[row], rewards[row])


@compiled
def play(
    rows: PrintedRows,
    alpha: float,
    epsilon: float,
    widths: Records,
    supply: Supply,
    draws: Floats,
    taken: Ints,
    codes: Codes,
) -> bool:
    """Advance every target by its draws, up to its verdict; return whether rewards ran out for one.

    `taken` counts the draws that each target has used.
    """
    ran_out, stretch = False, draws.shape[1]
    for row in range(len(taken)):
        target, arms, order = rows.targets[row], rows.arms[row], rows.order[row]
        chances = draws[row]
        rewards, used = supply.rewards[rows.people[row]], supply.used[rows.people[row]]
        last, code, n = rewards.shape[1], codes[row], taken[row]
        before = arms["pulls"].sum() - n
        while code == _RUNNING and n < stretch:
            arm = _arm(target, arms, order, alpha, widths, before + n, chances[n])
            index = used[arm]
            if index == last:
                ran_out = True
                break
            used[arm] = index + 1
            code = _learned(target, arms, order, epsilon, widths, arm, rewards[arm, index])
            n += 1
        codes[row], taken[row] = code, n
    return ran_out


@compiled
def _arm(
    target: Any, arms: Records, order: Ints, alpha: float, widths: Records, step: int, draw: float
) -> int:
    candidate = order[int(draw * target["active"])]  # line 3
    baseline = arms[BASELINE]
    if baseline["pulls"] < target["most"]:
        return BASELINE  # line 4: the baseline has fewer pulls than an active arm
    deviation = min(target["spread"], widths[target["explored"]]["phi"])
    owed = (1 - alpha) * (step + 1) - baseline["pulls"]
    # ξ_t = Σ_A r - Φ(t) + low_ℓ + (N_0 - (1-α)t) high_0   [DCAU22, equation 4]
    slack = target["gained"] - deviation + arms[candidate]["low"] - owed * baseline["high"]
    return BASELINE if slack < 0 else candidate  # lines 4 and 5


@compiled
def _learned(
    target: Any,
    arms: Records,
    order: Ints,
    epsilon: float,
    widths: Records,
    pulled: int,
    reward: float,
) -> int:
    """Run line 6, and lines 7 to 9 if they may apply; return the index of the verdict."""
    arm, baseline = arms[pulled], arms[BASELINE]
    arm["pulls"] += 1
    arm["sums"] += reward
    mean, width = arm["sums"] / arm["pulls"], widths[arm["pulls"]]["beta"]
    arm["low"] = mean - width
    arm["high"] = mean + width
    if pulled != BASELINE:
        target["explored"] += 1
        target["gained"] += reward
        target["spread"] += widths[arm["pulls"]]["spread"] - widths[arm["pulls"] - 1]["spread"]
        target["most"] = max(target["most"], arm["pulls"])
        target["least_high"] = min(target["least_high"], arm["high"])
        target["largest_low"] = max(target["largest_low"], arm["low"])
    dropped = target["least_high"] <= baseline["low"] + epsilon
    if dropped or target["largest_low"] > baseline["high"]:
        return _verdict(target, arms, order, epsilon)
    return _RUNNING


@compiled
def _verdict(target: Any, arms: Records, order: Ints, epsilon: float) -> int:
    """Run lines 7 to 9 over all arms."""
    bar, used, most = arms[BASELINE]["low"] + epsilon, 0, 0
    least, largest = np.inf, -np.inf
    for index in range(target["active"]):
        arm = arms[order[index]]
        if arm["high"] > bar:  # line 7
            order[used] = order[index]
            used += 1
            most = max(most, arm["pulls"])
            least, largest = min(least, arm["high"]), max(largest, arm["low"])
    target["active"] = used
    target["most"] = most
    target["least_high"] = least
    target["largest_low"] = largest
    if largest > arms[BASELINE]["high"]:
        return _ENVY  # line 8
    return _RUNNING if used else _NO_ENVY  # line 9
