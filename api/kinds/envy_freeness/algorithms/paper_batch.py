"""Algorithm 1, OCEF, for many people at once, compiled. Its decisions are those of `reference`.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, Algorithm 1.
"""

import numpy as np

from api.kinds.envy_freeness.algorithms.batch import (
    Bools,
    Codes,
    Fleet,
    Floats,
    Ints,
    Records,
    Rewards,
)
from api.kinds.envy_freeness.algorithms.paper_bounds import Widths
from api.kinds.envy_freeness.algorithms.paper_kernels import (
    ARM,
    TARGET,
    PrintedRows,
    Supply,
    choose,
    learn,
    play,
)
from api.kinds.envy_freeness.algorithms.reward_validation import replace_invalid_rewards
from api.kinds.envy_freeness.algorithms.terms import Terms

# For a leap: draws of all targets; rewards kept for all arms; the fewest and the most for one arm.
_DRAWS, _KEPT, _FEWEST, _MOST = 1 << 18, 1 << 21, 8, 1024


class PrintedFleet(Fleet[PrintedRows]):
    """OCEF with the bounds of the paper."""

    def __init__(self, terms: Terms, arms: int, targets: int) -> None:
        rows = PrintedRows(
            people=np.arange(targets),
            targets=np.zeros(targets, TARGET),
            arms=np.zeros((targets, arms + 1), ARM),
            order=np.tile(np.arange(1, arms + 1), (targets, 1)),
        )
        # An arm that was never pulled lies in [0, 1].
        rows.arms["high"], rows.targets["least_high"], rows.targets["active"] = 1.0, 1.0, arms
        super().__init__(terms, arms, rows)
        self._widths = Widths(terms, arms)
        self._supply: Supply | None = None

    def leap(self, rewards: Rewards, rng: np.random.Generator) -> None:
        stretch = int(min(max(_DRAWS // len(self.people), 1), self._left()))
        draws = rng.random((len(self.people), stretch))
        taken, codes = np.zeros(len(draws), np.int64), np.zeros(len(draws), np.int8)
        rule = self.terms.alpha, self.terms.epsilon, self._table(stretch)
        supply = self._supplied()
        while play(self.rows, *rule, supply, draws, taken, codes):
            _refill(supply, rewards)
        began, self.step = self.step, self.step + stretch
        self._end(codes, began + taken)
        self._end_at_the_ceiling()

    def _choose(self, draws: Floats) -> Ints:
        asked = np.empty(len(self.people), np.int64)
        choose(self.rows, self.terms.alpha, self._table(1), self.step, draws, asked)
        return asked

    def _learn(self, arms: Ints, rewards: Floats) -> Codes:
        codes = np.empty(len(arms), np.int8)
        learn(self.rows, self.terms.epsilon, self._table(1), arms, rewards[:, 0], codes)
        return codes

    @property
    def active(self) -> Bools:
        rows, active = self._active_positions()
        flags = np.zeros(active.shape, bool)
        flags[rows[active], self.rows.order[active] - 1] = True
        return flags

    def _bar(self, barred: Bools) -> None:
        """Bar arms. The cached bounds of active arms stay valid without the barred ones."""
        rows, active = self._active_positions()
        kept = active & ~barred[rows, self.rows.order - 1]
        packed = np.argsort(~kept, axis=1, kind="stable")
        self.rows.order[:] = np.take_along_axis(self.rows.order, packed, axis=1)
        self.rows.targets["active"] = kept.sum(axis=1)

    def _active_positions(self) -> tuple[Ints, Bools]:
        """Return the row of each position in `order`, and whether an active arm is there."""
        order, active = self.rows.order, self.rows.targets["active"]
        rows = np.broadcast_to(np.arange(len(order))[:, None], order.shape)
        return rows, np.arange(self.arms) < active[:, None]

    def _table(self, stretch: int) -> Records:
        """Return the widths that the next `stretch` steps may need."""
        self._widths.reach(self.step + stretch)
        return self._widths.table

    def _supplied(self) -> Supply:
        if self._supply is None:
            pairs = self.outcomes.pulls.shape
            each = min(max(_KEPT // self.outcomes.pulls.size, _FEWEST), _MOST)
            self._supply = Supply(np.empty((*pairs, each)), np.full(pairs, each))
        return self._supply


def _refill(supply: Supply, rewards: Rewards) -> None:
    """Draw new rewards for the arms that have used all of theirs."""
    each = supply.rewards.shape[2]
    people, arms = np.nonzero(supply.used == each)
    drawn, bad = replace_invalid_rewards(rewards(np.repeat(people, each), np.repeat(arms, each)))
    if bad.any():
        raise ValueError("Rewards that are drawn beforehand must be in [0, 1].")
    supply.rewards[people, arms] = drawn.reshape(-1, each)
    supply.used[people, arms] = 0
