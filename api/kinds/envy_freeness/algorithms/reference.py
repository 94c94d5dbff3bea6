"""Algorithm 1, OCEF, for one person, line by line and exactly as printed.

Comments name the lines of [DCAU22, Algorithm 1]. Where the paper leaves a choice:
- line 3 draws uniformly;
- an arm that was never pulled lies in [0, 1], as rewards do; other intervals are not clipped;
- Φ is 0 before anything was explored.

Line 4 compares widths, and β falls in the number of pulls, so the code compares pulls.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, §4.3.
"""

from collections.abc import Callable

import numpy as np

from api.kinds.envy_freeness.algorithms.paper_bounds import Widths
from api.kinds.envy_freeness.algorithms.reward_validation import replace_invalid_reward
from api.kinds.envy_freeness.algorithms.terms import Terms, Verdict

Reward = Callable[[int, np.random.Generator], float]
BASELINE = 0


class OnePerson:
    """State of OCEF for one target; `step` takes one step."""

    def __init__(self, terms: Terms, arms: int) -> None:
        self.terms = terms
        self.active = list(range(1, arms + 1))  # line 1
        self.pulls = [0] * (arms + 1)
        self.sums = [0.0] * (arms + 1)
        self.low = [0.0] * (arms + 1)
        self.high = [1.0] * (arms + 1)
        self.steps = self.explored = self.most = 0
        self.gained = self.spread = 0.0
        self._widths = Widths(terms, arms)

    def step(self, reward: Reward, rng: np.random.Generator) -> Verdict:
        """Run lines 3 to 9."""
        candidate = self.active[int(rng.random() * len(self.active))]  # line 3
        arm = BASELINE if self._must_stay(candidate) else candidate  # lines 4 and 5
        self._learn(arm, replace_invalid_reward(reward(arm, rng)))  # line 6
        return self._judge(self.active if arm == BASELINE else [arm])

    def _must_stay(self, candidate: int) -> bool:
        """Return whether line 4 applies: few baseline pulls, or one more pull could break
        constraint (3).
        """
        return self.pulls[BASELINE] < self.most or self._slack(candidate) < 0

    def _slack(self, candidate: int) -> float:
        deviation = min(self.spread, float(self._widths.phi[self.explored]))
        owed = (1 - self.terms.alpha) * (self.steps + 1) - self.pulls[BASELINE]
        # ξ_t = Σ_A r - Φ(t) + low_ℓ + (N_0 - (1-α)t) high_0   [DCAU22, equation 4]
        return self.gained - deviation + self.low[candidate] - owed * self.high[BASELINE]

    def _learn(self, arm: int, reward: float) -> None:
        self.steps += 1
        self._widths.reach(self.steps)
        self.pulls[arm] = n = self.pulls[arm] + 1
        self.sums[arm] += reward
        mean, width = self.sums[arm] / n, float(self._widths.beta[n])
        self.low[arm], self.high[arm] = mean - width, mean + width
        if arm != BASELINE:
            self.explored += 1
            self.gained += reward
            self.spread += float(self._widths.spread[n] - self._widths.spread[n - 1])
            self.most = max(self.most, n)

    def _judge(self, changed: list[int]) -> Verdict:
        """Run lines 7 to 9 for the arms whose comparison with the baseline has changed."""
        bar, high = self.low[BASELINE] + self.terms.epsilon, self.high
        if min(high[k] for k in changed) <= bar:
            changed = [k for k in changed if high[k] > bar]
            self.active = [k for k in self.active if high[k] > bar]  # line 7
            self.most = max((self.pulls[k] for k in self.active), default=0)
        if changed and max(self.low[k] for k in changed) > high[BASELINE]:
            return "envy"  # line 8
        return "running" if self.active else "no-envy"  # line 9
