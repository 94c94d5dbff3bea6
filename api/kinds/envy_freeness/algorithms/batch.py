"""Fleets: targets that advance together, with the paper's bounds or the tight ones.

A fleet chooses the arm for each running target, and then receives the rewards. It also chooses the
number of steps (its `block`), which is the same for all targets and known beforehand. No target
depends on another, and no draw is made inside. The state is arrays with one row per running target
(`Rows`). It may be recorded after any `tell` and resumed, and a person may be dropped between two
steps.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from api.kinds.envy_freeness.algorithms.reward_validation import replace_invalid_rewards
from api.kinds.envy_freeness.algorithms.terms import VERDICTS, Terms, Verdict, require_arms

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
# Arrays of a structured type.
Records = NDArray[Any]
# Verdicts as indices into VERDICTS.
Codes = NDArray[np.int8]
# Function from pairs of a person and an arm to one reward each.
Rewards = Callable[[Ints, Ints], ArrayLike]
BASELINE = 0


@dataclass(frozen=True)
class BatchOutcomes:
    """The outcome of each target's audit."""

    codes: Codes
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
        """Return the estimated reward lost by exploring; the baseline's mean stands for μ_0."""
        baseline = self.sums[:, BASELINE] / np.maximum(self.pulls[:, BASELINE], 1)
        explored = self.pulls[:, 1:].sum(axis=1)
        return np.asarray(explored * baseline - self.sums[:, 1:].sum(axis=1))

    def true_cost(self, means: ArrayLike) -> Floats:
        """Return τ μ_0 - Σ_s μ_{k_s} for known means.   [DCAU22, §4.2]"""
        known = np.asarray(means, np.float64)
        return np.asarray(self.steps * known[..., BASELINE] - (self.pulls * known).sum(axis=1))


class BatchRows(Protocol):
    """Named tuple of arrays with one row per running target: the state of a kind of fleet.

    All kinds have the numbers of the targets, and pulls and sums of rewards by arm, baseline first.
    """

    @property
    def people(self) -> Ints: ...
    @property
    def pulls(self) -> Ints: ...
    @property
    def sums(self) -> Floats: ...
    def __iter__(self) -> Iterator[NDArray[Any]]: ...


State = TypeVar("State", bound=BatchRows)


class Fleet(ABC, Generic[State]):
    """The running targets and the outcomes of those that ended."""

    def __init__(self, terms: Terms, arms: int, rows: State) -> None:
        require_arms(arms)
        targets = len(rows.people)
        self.terms, self.arms, self.rows, self.step = terms, arms, rows, 0
        self.outcomes = BatchOutcomes(
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
        """Return the targets that still run, by number."""
        return self.rows.people

    def ask(self, draws: Floats) -> Ints:
        """Return the arm for each running target; `draws` has one uniform value in [0, 1) for each.

        Each target is shown its arm `block` times.
        """
        self.block = int(min(self._block(), self._left()))
        self._asked = self._choose(draws)
        return self._asked

    def tell(self, rewards: ArrayLike) -> None:
        """Take the rewards of the chosen arms: a row for each target, its steps in their order."""
        counted, bad = replace_invalid_rewards(rewards)
        wanted = (len(self._asked), self.block)
        if counted.size != wanted[0] * wanted[1]:
            raise ValueError(f"{wanted} rewards were requested, but {counted.shape} were given.")
        counted = counted.reshape(wanted)
        if bad.any():
            self.outcomes.mended[self.people] += bad.reshape(wanted).sum(axis=1)
        self.step += self.block
        self._end(self._learn(self._asked, counted))
        self._end_at_the_ceiling()

    def leap(self, rewards: Rewards, rng: np.random.Generator) -> None:
        """Take a stretch of steps, if rewards may be drawn before their use is known.

        That holds where nobody is shown anything and rewards do not depend on their time.
        """
        self.stride(rewards, rng)

    def stride(self, rewards: Rewards, rng: np.random.Generator) -> None:
        """Take one block of steps."""
        arms = self.ask(rng.random(len(self.people)))
        self.tell(rewards(np.repeat(self.people, self.block), np.repeat(arms, self.block)))

    def resume(self, rows: State, step: int, outcomes: BatchOutcomes) -> None:
        """Resume from the state of a fleet with the same terms and arms, taken after some
        `tell`.
        """
        self.rows, self.step, self.outcomes = rows, step, outcomes

    def drop(self, people: Ints) -> None:
        """End these people as withdrawn: they take no further step."""
        gone = np.isin(self.people, people)
        self._end((gone * VERDICTS.index("withdrawn")).astype(np.int8))

    @property
    @abstractmethod
    def active(self) -> Bools:
        """Return for each running target the arms that are still undecided."""

    def bar(self, barred: Bools) -> None:
        """Bar these arms of running targets: they are no longer shown or undecided.

        A target without another undecided arm ends.
        """
        self._bar(barred)
        over = np.asarray(~self.active.any(axis=1))
        self._end((over * VERDICTS.index("no-envy")).astype(np.int8))

    @abstractmethod
    def _bar(self, barred: Bools) -> None: ...

    def _end(self, codes: Codes, steps: Ints | None = None) -> None:
        """End the rows whose code is an outcome, now or after `steps`."""
        which = codes != VERDICTS.index("running")
        if not which.any():
            return
        gone, rows, outcomes = self.people[which], self.rows, self.outcomes
        outcomes.codes[gone] = codes[which]
        outcomes.steps[gone] = self.step if steps is None else steps[which]
        outcomes.pulls[gone] = rows.pulls[which]
        outcomes.sums[gone] = rows.sums[which]
        remake: Callable[..., State] = type(rows)
        self.rows = remake(*(array[~which] for array in rows))

    def _end_at_the_ceiling(self) -> None:
        if self.step == self.terms.ceiling:
            self._end(np.full(len(self.people), VERDICTS.index("undecided"), np.int8))

    def _left(self) -> int | float:
        return math.inf if self.terms.ceiling is None else self.terms.ceiling - self.step

    def _block(self) -> int:
        """Return the number of steps of the next choice, before the ceiling limits it."""
        return 1

    @abstractmethod
    def _choose(self, draws: Floats) -> Ints: ...

    @abstractmethod
    def _learn(self, arms: Ints, rewards: Floats) -> Codes: ...


def run(
    fleet: Fleet[State],
    rewards: Rewards,
    rng: np.random.Generator,
    *,
    first_envy_ends: bool = False,
    ahead: bool = False,
) -> BatchOutcomes:
    """Step until every target has ended, or, with `first_envy_ends`, until one ends in envy.

    `ahead`: rewards may be drawn before it is known whether they are used (see `Fleet.leap`).
    """
    onward = fleet.leap if ahead else fleet.stride
    while len(fleet.people) and not (first_envy_ends and fleet.outcomes.are("envy").any()):
        onward(rewards, rng)
    return fleet.outcomes
