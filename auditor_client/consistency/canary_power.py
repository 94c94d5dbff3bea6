"""Power of canaries to find a platform that treats audits specially, by seeded simulation.

The simulated platform has two groups whose scores are uniform over all bins. If it recognises an
audit, it moves a share of one group from the upper half of the bins to the lower, or hides that it
does so elsewhere. Either way, two of its answers differ by that share.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from auditor_client.consistency.canary import check_counts
from auditor_client.consistency.delivery_rules import GroupScores
from auditor_client.consistency.model_test import halves_differ
from auditor_client.consistency.repeat_test import Cell, same_counts
from auditor_client.fairness.bin_tests import GroupCounts
from auditor_client.stats.group_size import GroupSizeEstimate
from auditor_client.stats.noise import AnyNoise, Floats, Integers, difference, distribution

Design = Literal["repeat", "halves", "field"]


def canary_power(
    special: float,
    people: int,
    *,
    design: Design = "repeat",
    bins: int = 20,
    noise: AnyNoise = 1.0,
    canaries: int = 0,
    false_alarm: float = 0.001,
    runs: int = 200,
    seed: int = 0,
) -> float:
    """Return the share of simulated checks that end in `irreconcilable`.

    `special` is the share of one group (of `people`) that is moved in recognised audits only.
    `repeat` and `halves` compare a recognised audit with an unrecognised one. `field` compares it
    with `canaries` in each group, who were treated as everybody and shown content that scores above
    the middle.
    """
    if not 0 <= special <= 0.5 or people < 1 or (design == "field" and canaries < 1):
        raise ValueError(
            "special must lie between 0 and 0.5, and people and canaries must be positive"
        )
    platform = _Platform(special, people, bins, noise, np.random.default_rng(seed))
    found = 0
    for _ in range(runs):
        if design == "repeat":
            found += platform.repeat(false_alarm)
        elif design == "halves":
            found += platform.halves(false_alarm)
        else:
            found += platform.field(canaries, false_alarm)
    return found / runs


@dataclass(frozen=True)
class _Platform:
    special: float
    people: int
    bins: int
    noise: AnyNoise
    generator: np.random.Generator

    def repeat(self, false_alarm: float) -> bool:
        """Simulate two audits of the same people, who are moved one by one."""
        plain = self._counts(self._plain)
        moved = np.append(plain, 0)
        upper = self.bins - self.bins // 2
        leaving = self.generator.binomial(plain[upper:], min(2 * self.special, 1.0))
        moved[upper : self.bins] -= leaving
        moved[: self.bins // 2] += leaving
        law_of = difference(self.noise, self.noise)
        pairs = zip(self._noisy(np.append(plain, 0)), self._noisy(moved), strict=True)
        cells = [Cell("", one, other, law_of) for one, other in pairs]
        return 2 * same_counts(cells).differ <= false_alarm

    def halves(self, false_alarm: float) -> bool:
        one, other = self._group(self._plain), self._group(self._moved)
        middles = tuple((np.arange(self.bins) + 0.5) / self.bins)
        return halves_differ(one, other, middles, false_alarm)

    def field(self, canaries: int, false_alarm: float) -> bool:
        """Simulate an audit with two equal groups, one of which is moved in the field."""
        groups = {name: GroupScores(name, self._group(self._plain)) for name in ("a", "b")}
        seen = [
            int(self.generator.binomial(canaries, shares[self.bins - self.bins // 2 :].sum()))
            for shares in (self._plain, self._moved)
        ]
        shown = {"a": (seen[0], canaries), "b": (seen[1], canaries)}
        return check_counts(groups, shown, false_alarm).verdict == "irreconcilable"

    @property
    def _plain(self) -> Floats:
        return np.full(self.bins, 1 / self.bins)

    @property
    def _moved(self) -> Floats:
        half, shares = self.bins // 2, self._plain
        shares[self.bins - half :] -= self.special / half
        shares[:half] += self.special / half
        return np.maximum(shares, 0.0)

    def _counts(self, shares: Floats) -> Integers:
        return np.asarray(self.generator.multinomial(self.people, shares / shares.sum()))

    def _noisy(self, counts: Integers) -> tuple[int, ...]:
        drawn = distribution(self.noise).simulated(self.generator, len(counts))
        return tuple(int(count) for count in counts + drawn)

    def _group(self, shares: Floats) -> GroupCounts:
        table = self._noisy(np.append(self._counts(shares), 0))
        size = GroupSizeEstimate(sum(table), len(table), self.noise, known=self.people)
        return GroupCounts(table, size, self.noise)
