"""Many targets that advance together: what the printed and the tight fleet have in common.

A fleet asks which arm each running target is to be shown, and for how many steps (its `block`, the
same for all and known beforehand), and is told the rewards. Nothing of one
target depends on another, no draw is made inside, and the state is arrays with one row per running
target (`Rows`): it may be written down after any `tell` and taken up again, and a person may be
dropped between two steps.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Generic, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from api.audits.envy.rewards import mended
from api.audits.envy.terms import VERDICTS, Terms, Verdict, require_arms

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
# Rewards of people from arms, one for each pair.
Rewards = Callable[[Ints, Ints], ArrayLike]
BASELINE = 0


@dataclass
class Rows:
    """Arrays with one row per running target: pulls and sums of rewards, baseline first."""

    people: Ints
    pulls: Ints
    sums: Floats

    def kept(self, which: Bools) -> Self:
        return replace(self, **{f.name: getattr(self, f.name)[which] for f in fields(self)})


@dataclass(frozen=True)
class Outcomes:
    """How the audit of each target ended; codes are places in VERDICTS."""

    codes: NDArray[np.int8]
    steps: Ints
    pulls: Ints
    sums: Floats
    mended: Ints

    def __len__(self) -> int:
        return len(self.codes)

    def are(self, verdict: Verdict) -> Bools:
        return np.asarray(self.codes == VERDICTS.index(verdict))

    @property
    def verdicts(self) -> list[Verdict]:
        return [VERDICTS[code] for code in self.codes]

    @property
    def cost(self) -> Floats:
        """Reward lost by exploring, as far as rewards tell: the baseline's mean stands for μ_0."""
        baseline = self.sums[:, BASELINE] / np.maximum(self.pulls[:, BASELINE], 1)
        explored = self.pulls[:, 1:].sum(axis=1)
        return np.asarray(explored * baseline - self.sums[:, 1:].sum(axis=1))

    def true_cost(self, means: ArrayLike) -> Floats:
        """τ μ_0 - Σ_s μ_{k_s}, where the means are known.   [DCAU22, §4.2]"""
        known = np.asarray(means, np.float64)
        return np.asarray(self.steps * known[..., BASELINE] - (self.pulls * known).sum(axis=1))


State = TypeVar("State", bound=Rows)


class Fleet(ABC, Generic[State]):
    """The running targets and the outcomes of those that ended."""

    def __init__(self, terms: Terms, arms: int, rows: State) -> None:
        require_arms(arms)
        targets = len(rows.people)
        self.terms, self.arms, self.rows, self.step = terms, arms, rows, 0
        self.outcomes = Outcomes(
            np.zeros(targets, np.int8),
            np.zeros(targets, np.int64),
            np.zeros((targets, arms + 1), np.int64),
            np.zeros((targets, arms + 1)),
            np.zeros(targets, np.int64),
        )
        self.block = 1
        self._asked: Ints = np.empty(0, np.int64)

    @property
    def people(self) -> Ints:
        """The targets that still run, by number."""
        return self.rows.people

    def ask(self, draws: Floats) -> Ints:
        """The arm for each running target; `draws` are uniform in [0, 1), one for each of them.

        Each is shown its arm `block` times.
        """
        left = math.inf if self.terms.ceiling is None else self.terms.ceiling - self.step
        self.block = int(min(self._block(), left))
        self._asked = self._choose(draws)
        return self._asked

    def tell(self, rewards: ArrayLike) -> None:
        """The rewards of the arms asked for: a row for each target, its steps in their order."""
        counted, bad = mended(rewards)
        wanted = (len(self._asked), self.block)
        if counted.size != wanted[0] * wanted[1]:
            raise ValueError(f"{wanted} rewards were asked for, but {counted.shape} were told")
        counted = counted.reshape(wanted)
        if bad.any():
            self.outcomes.mended[self.people] += bad.reshape(wanted).sum(axis=1)
        self.step += self.block
        self._learn(self._asked, counted)
        if self.step == self.terms.ceiling:
            self._end(np.ones(len(self.people), bool), "undecided")

    def resume(self, rows: State, step: int, outcomes: Outcomes) -> None:
        """Go on from what a fleet with the same terms and arms had after some `tell`."""
        self.rows, self.step, self.outcomes = rows, step, outcomes
        self._resized()

    def drop(self, people: Ints) -> None:
        """These people take no further step: they withdrew."""
        self._end(np.isin(self.people, people), "withdrawn")

    def _end(self, which: Bools, verdict: Verdict) -> None:
        gone, rows, outcomes = self.people[which], self.rows, self.outcomes
        outcomes.codes[gone] = VERDICTS.index(verdict)
        outcomes.steps[gone] = self.step
        outcomes.pulls[gone] = rows.pulls[which]
        outcomes.sums[gone] = rows.sums[which]
        self.rows = rows.kept(~which)
        self._resized()

    def _block(self) -> int:
        """For how many steps the next choice stands, as far as the ceiling allows."""
        return 1

    @abstractmethod
    def _choose(self, draws: Floats) -> Ints: ...

    @abstractmethod
    def _learn(self, arms: Ints, rewards: Floats) -> None: ...

    def _resized(self) -> None:
        """Rows were dropped: forget what was derived from their number."""
        targets = len(self.people)
        self._first = np.arange(targets) * (self.arms + 1)


def run(
    fleet: Fleet[State],
    rewards: Rewards,
    rng: np.random.Generator,
    *,
    first_envy_ends: bool = False,
) -> Outcomes:
    """Step until every target has ended, or one in envy if that ends it for all."""
    while len(fleet.people) and not (first_envy_ends and fleet.outcomes.are("envy").any()):
        arms = fleet.ask(rng.random(len(fleet.people)))
        fleet.tell(rewards(np.repeat(fleet.people, fleet.block), np.repeat(arms, fleet.block)))
    return fleet.outcomes
