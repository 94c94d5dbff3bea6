"""Algorithm 1, OCEF, for many people at once: the decisions of `single`, a step at a time for all.

One step changes one arm of each target, so all that is compared is kept up to date by a constant
amount of work per target, whatever the number of arms. Line 7 asks for the least upper limit among
active arms, line 8 for the largest lower limit. Those are kept as limits of themselves: a pulled
arm may lower the one or raise the other at once; when one of them says that something may have
happened, the row is looked at whole, and they are made exact again.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, Algorithm 1 and equation 4.
"""

from dataclasses import dataclass

import numpy as np

from api.audits.envy.fleet import BASELINE, Bools, Fleet, Floats, Ints, Rows
from api.audits.envy.printed import Widths
from api.audits.envy.terms import Terms


@dataclass
class PrintedRows(Rows):
    """Intervals of all arms; active arms first in `order`; sums over what was explored."""

    low: Floats
    high: Floats
    order: Ints
    active: Ints
    most: Ints
    least_high: Floats
    largest_low: Floats
    explored: Ints
    gained: Floats
    spread: Floats


class PrintedFleet(Fleet[PrintedRows]):
    """OCEF with the printed bounds."""

    def __init__(self, terms: Terms, arms: int, targets: int) -> None:
        shape = (targets, arms + 1)
        none, zero = np.zeros(targets, np.int64), np.zeros(targets)
        rows = PrintedRows(
            people=np.arange(targets),
            pulls=np.zeros(shape, np.int64),
            sums=np.zeros(shape),
            low=np.zeros(shape),
            high=np.ones(shape),
            order=np.tile(np.arange(1, arms + 1), (targets, 1)),
            active=np.full(targets, arms),
            most=none,
            least_high=np.ones(targets),
            largest_low=zero,
            explored=none.copy(),
            gained=zero.copy(),
            spread=zero.copy(),
        )
        super().__init__(terms, arms, rows)
        self._widths = Widths(terms, arms)
        self._resized()

    def _choose(self, draws: Floats) -> Ints:
        rows = self.rows
        place = (draws * rows.active).astype(np.int64)
        candidate = np.take(rows.order, self._slots + place)  # line 3
        pulled = rows.pulls[:, BASELINE]
        stay = (pulled < rows.most) | (self._slack(candidate, pulled) < 0)  # line 4
        return np.where(stay, BASELINE, candidate)  # line 5

    def _slack(self, candidate: Ints, pulled: Ints) -> Floats:
        rows = self.rows
        deviation = np.minimum(rows.spread, np.take(self._widths.phi, rows.explored))
        owed = (1 - self.terms.alpha) * (self.step + 1) - pulled
        low = np.take(rows.low, self._first + candidate)
        # ξ_t = Σ_A r - Φ(t) + low_ℓ + (N_0 - (1-α)t) high_0   [DCAU22, equation 4]
        return np.asarray(rows.gained - deviation + low - owed * rows.high[:, BASELINE])

    def _learn(self, arms: Ints, rewards: Floats) -> None:
        """Line 6, and lines 7 to 9 where they may have something to say."""
        self._widths.reach(self.step)
        rows, place = self.rows, self._first + arms
        pulls = np.take(rows.pulls, place) + 1
        sums = np.take(rows.sums, place) + rewards[:, 0]
        mean, width = sums / pulls, np.take(self._widths.beta, pulls)
        low, high = mean - width, mean + width
        for kept, new in ((rows.pulls, pulls), (rows.sums, sums), (rows.low, low)):
            kept.reshape(-1)[place] = new
        rows.high.reshape(-1)[place] = high
        self._explore(arms > BASELINE, pulls, rewards[:, 0], low, high)
        bar = rows.low[:, BASELINE] + self.terms.epsilon
        news = (rows.least_high <= bar) | (rows.largest_low > rows.high[:, BASELINE])
        if news.any():
            self._judge(np.flatnonzero(news))

    def _explore(
        self, away: Bools, pulls: Ints, rewards: Floats, low: Floats, high: Floats
    ) -> None:
        """What explored targets add to their sums and extremes; the others stay as they are."""
        rows, spread = self.rows, self._widths.spread
        rows.explored = rows.explored + away
        rows.gained = rows.gained + away * rewards
        rows.spread = rows.spread + away * (np.take(spread, pulls) - np.take(spread, pulls - 1))
        rows.most = np.maximum(rows.most, away * pulls)
        rows.least_high = np.minimum(rows.least_high, np.where(away, high, np.inf))
        rows.largest_low = np.maximum(rows.largest_low, np.where(away, low, -np.inf))

    def _judge(self, at: Ints) -> None:
        """Lines 7 to 9 for the targets in these rows, from all of their arms."""
        rows = self.rows
        order = rows.order[at]
        used = np.arange(self.arms) < rows.active[at, None]
        high = np.take_along_axis(rows.high[at], order, axis=1)
        low = np.take_along_axis(rows.low[at], order, axis=1)
        used &= high > (rows.low[at, BASELINE] + self.terms.epsilon)[:, None]  # line 7
        packed = np.argsort(~used, axis=1, kind="stable")
        pulls = np.take_along_axis(rows.pulls[at], order, axis=1)
        rows.order[at] = np.take_along_axis(order, packed, axis=1)
        rows.active[at] = used.sum(axis=1)
        rows.most[at] = np.where(used, pulls, 0).max(axis=1)
        rows.least_high[at] = np.where(used, high, np.inf).min(axis=1)
        rows.largest_low[at] = np.where(used, low, -np.inf).max(axis=1)
        self._close(at)

    def _close(self, at: Ints) -> None:
        rows, envious = self.rows, np.zeros(len(self.people), bool)
        envious[at] = rows.largest_low[at] > rows.high[at, BASELINE]
        content = rows.active == 0
        if envious.any():
            self._end(envious, "envy")  # line 8
            content = content[~envious]
        if content.any():
            self._end(content, "no-envy")  # line 9

    def _resized(self) -> None:
        super()._resized()
        self._widths.reach(self.step)
        self._slots = np.arange(len(self.people)) * self.arms
