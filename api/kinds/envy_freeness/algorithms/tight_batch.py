"""OCEF with tight bounds, for many people at once: the promise of Algorithm 1 in fewer steps.

`tight_kernels` lists the changes. The evidence is examined whenever the steps have grown by 2 %; it
is valid at any time. A choice stands for a block of steps that grows with the steps so far.
Constraint (3) is checked for the whole block, and the excess pulls of arms are a hundredth of all.
"""

import math

import numpy as np

from api.kinds.envy_freeness.algorithms.batch import BASELINE, Bools, Codes, Fleet, Floats, Ints
from api.kinds.envy_freeness.algorithms.betting_bounds import BETS
from api.kinds.envy_freeness.algorithms.minimum_steps import SAFE_SHARE, VERDICT_SHARE
from api.kinds.envy_freeness.algorithms.terms import Terms
from api.kinds.envy_freeness.algorithms.tight_kernels import (
    ARM,
    StoppingRule,
    TightRows,
    choose,
    judge,
    learn,
)

_LOOKS_PER_E = 50
# Share of the steps so far that a block may have: of alpha's part of them, and of each arm's.
_BLOCK = 1 / 50


class TightFleet(Fleet[TightRows]):
    """OCEF with tight bounds. It draws nothing: among equal prospects it takes the first arm."""

    def __init__(self, terms: Terms, arms: int, targets: int) -> None:
        shape = (targets, arms + 1)
        rows = TightRows(
            people=np.arange(targets),
            arms=np.zeros(shape, ARM),
            up=np.zeros((*shape, BETS)),
            down=np.zeros((*shape, BETS)),
            explored_up=np.zeros((targets, BETS)),
            makes_up=np.zeros(targets),
        )
        rows.arms["active"][:, BASELINE + 1 :] = True
        super().__init__(terms, arms, rows)
        verdict = VERDICT_SHARE * terms.delta
        self._rule = StoppingRule(
            alpha=terms.alpha,
            epsilon=terms.epsilon,
            envy_needed=-math.log(verdict / arms),
            drop_needed=-math.log(verdict),
            safe_needed=-math.log(SAFE_SHARE * terms.delta),
        )

    def _block(self) -> int:
        return 1 + int(self.step * min(_BLOCK * self.terms.alpha, _BLOCK / self.arms))

    def _choose(self, _: Floats) -> Ints:
        asked = np.empty(len(self.people), np.int64)
        choose(self.rows, self._rule, self.step, self.block, asked)
        return asked

    def _learn(self, arms: Ints, rewards: Floats) -> Codes:
        learn(self.rows, arms, rewards)
        codes = np.zeros(len(arms), np.int8)
        if self._is_time():
            judge(self.rows, self._rule, codes)
        return codes

    @property
    def active(self) -> Bools:
        return self.rows.arms["active"][:, BASELINE + 1 :]

    def _bar(self, barred: Bools) -> None:
        self.active[barred] = False

    def _is_time(self) -> bool:
        now, before = self.step, max(self.step - self.block, 1)
        return int(_LOOKS_PER_E * math.log(now)) > int(_LOOKS_PER_E * math.log(before))
