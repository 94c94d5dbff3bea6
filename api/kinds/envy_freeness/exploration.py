"""Exploration: people are shown other recommendations than their own, in durable batches.

Every batch of steps is planned, recorded, and only then taken. People who withdrew consent are
shown nothing more, and their recommendations are shown to nobody. Steps are numbered, and the
platform takes none of them twice. So the last recorded state is all that a worker needs to resume
after a crash: it requests the same steps of the same people. No step is repeated or uncounted.

The sizes, the number and the times of batches follow from public numbers alone. A target with a
verdict idles; the audit ends at the ceiling, whatever the verdicts. The progress of a lot depends
on its own people and its own number alone: the sensitivity of the release rests on it
(`envy_freeness`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from api.kernel import failpoints
from api.kernel.failpoints import Failpoint
from api.kinds.context import Journal
from api.kinds.envy_freeness.algorithms import BatchOutcomes, Fleet, Terms, make_fleet
from api.kinds.envy_freeness.algorithms.checkpoint import (
    arrays_of,
    pack_state,
    restore_state,
    unpack_state,
)
from api.kinds.envy_freeness.algorithms.terms import VERDICTS
from api.kinds.envy_freeness.participants import DrawnLots
from api.platforms.fault_isolation import PlatformDownError, call_isolating_failures
from api.platforms.interfaces import Persons, Policies
from api.telemetry.metrics import MENDED_REWARDS, STEPS, adapter_call

BATCH_STEPS = 1_000
BATCH_SECONDS = 1.0

Draw = Callable[[Persons, int], DrawnLots]


@dataclass
class Course:
    """The lots under way: a fleet of targets, their arms, and a source of randomness for each lot.

    `gone` marks, for each target, the arms that withdrew; `missed` marks those of them that were
    undecided then. `done` is the step at which the last finished batch ended.
    """

    fleet: Fleet[Any]
    drawn: DrawnLots
    secret: int
    digest: str
    gone: NDArray[np.bool_]
    missed: NDArray[np.bool_]
    done: int = 0

    @classmethod
    def begin(cls, terms: Terms, drawn: DrawnLots, secret: int, digest: str) -> "Course":
        fleet = make_fleet(terms, drawn.arms, len(drawn.targets))
        gone, missed = np.zeros((2, len(drawn.targets), drawn.arms), bool)
        return cls(fleet, drawn, secret, digest, gone, missed)

    @classmethod
    def read(cls, terms: Terms, state: bytes) -> "tuple[Course, bool]":
        """Return the recorded course, and whether its next batch was planned already."""
        arrays = unpack_state(state)
        policies = arrays["policies"]
        # Courses that began before lots were numbered have a row for each lot.
        lots = arrays.get("lots", np.arange(len(policies)))
        drawn = DrawnLots(policies, lots, int(arrays["spare"]))
        course = cls.begin(terms, drawn, int(arrays["secret"]), str(arrays["digest"]))
        restore_state(course.fleet, arrays)
        course.gone, course.missed = arrays["gone"], arrays["missed"]
        course.done = int(arrays["done"])
        return course, bool(arrays["planned"])

    def written(self, *, planned: bool) -> bytes:
        return pack_state(
            {
                "policies": self.drawn.policies,
                "lots": self.drawn.lots,
                "spare": np.array(self.drawn.spare),
                "gone": self.gone,
                "missed": self.missed,
                "secret": np.array(self.secret),
                "digest": np.array(self.digest),
                "done": np.array(self.done),
                "planned": np.array(planned),
                **arrays_of(self.fleet),
            }
        )

    def plan(self, policies: Policies) -> None:
        """Drop people who no longer consent, as targets and as arms."""
        fleet, everybody = self.fleet, np.unique(self.drawn.policies)
        agreed = find_consenting(policies, everybody)
        agreed = agreed[np.searchsorted(everybody, self.drawn.policies)]
        fleet.drop(np.flatnonzero(~agreed[:, 0]))
        self.gone |= ~agreed[:, 1:]
        barred = fleet.active & self.gone[fleet.people]
        self.missed[fleet.people] |= barred
        fleet.bar(barred)

    def advance(self, policies: Policies, name: str, until: int) -> None:
        """Take the steps of all running targets up to step `until`, block by block."""
        numbers = int(self.drawn.lots.max(initial=-1)) + 1
        while self.fleet.step < until and len(self.fleet.people):
            # Drawn by the number of the lot: no draw depends on which other lots run, or have
            # ended.
            chance = np.random.default_rng([self.secret, self.fleet.step]).random(numbers)
            arms = self.fleet.ask(chance[self.drawn.lots[self.fleet.people]])
            rewards = self._rewards(policies, name, arms)
            failpoints.hit(Failpoint.SHOWN)
            self.fleet.tell(rewards)

    @property
    def outcomes(self) -> BatchOutcomes:
        """Return the outcomes; a target that lost too many arms is undecided
        (docs/explanation/envy.md).
        """
        found, spare = self.fleet.outcomes, self.drawn.spare
        lost = self.gone if spare else self.missed
        open_still = found.are("no-envy") & (lost.sum(axis=1) > spare)
        undecided = VERDICTS.index("undecided")
        return replace(found, codes=np.where(open_still, undecided, found.codes).astype(np.int8))

    def _rewards(
        self, policies: Policies, name: str, arms: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        fleet, block = self.fleet, self.fleet.block
        targets = np.repeat(self.drawn.targets[fleet.people], block)
        shown = np.repeat(self.drawn.policies[fleet.people, arms], block)
        steps = np.tile(fleet.step + np.arange(block), len(fleet.people))

        def call(start: int, stop: int) -> NDArray[np.float64]:
            at = slice(start, stop)
            with adapter_call("rewards"):
                found = policies.rewards(name, targets[at], shown[at], steps[at])
            return np.asarray(found, np.float64)

        # A row for which the adapter fails becomes NaN, and counts as no reward. Other rows are
        # unchanged: otherwise one person would change other lots.
        return call_isolating_failures(call, len(targets), np.float64(np.nan))


def explore(
    policies: Policies, journal: Journal, terms: Terms, people: Persons, draw: Draw, secret: int
) -> BatchOutcomes:
    """Take all steps up to the ceiling, beginning at the journal's state."""
    ceiling, pace = terms.ceiling or 0, policies.step_seconds
    course, planned = _taken_up(policies, journal, terms, people, draw, secret)
    for done, until in _batches(ceiling, pace):
        if until <= course.done:
            continue
        if not planned:
            journal.wait_until(done * pace, lambda: course.written(planned=False))
            course.plan(policies)
            failpoints.hit(Failpoint.BATCH_PLANNED)
            journal.write(course.written(planned=True))
            failpoints.hit(Failpoint.BATCH_COMMITTED)
        planned = False
        _refuse_other(policies, course.digest)
        course.advance(policies, journal.course, until)
        course.done = until
        _refuse_other(policies, course.digest)
        failpoints.hit(Failpoint.BATCH_TAKEN)
    journal.wait_until(ceiling * pace, lambda: course.written(planned=False))
    outcomes = course.outcomes
    STEPS.inc(int(outcomes.steps.sum()))
    MENDED_REWARDS.inc(int(outcomes.mended.sum()))
    return outcomes


def find_consenting(policies: Policies, persons: Persons) -> NDArray[np.bool_]:
    """Return who consents; a person for whom the adapter fails does not."""

    def call(start: int, stop: int) -> NDArray[np.bool_]:
        with adapter_call("consenting"):
            return np.asarray(policies.consenting(persons[start:stop]), np.bool_)

    return call_isolating_failures(call, len(persons), np.False_)


def _taken_up(
    policies: Policies, journal: Journal, terms: Terms, people: Persons, draw: Draw, secret: int
) -> tuple[Course, bool]:
    state = journal.read()
    if state is not None:
        return Course.read(terms, state)
    drawn = draw(people[find_consenting(policies, people)], secret)
    return Course.begin(terms, drawn, secret, policies.policies_digest), False


def _refuse_other(policies: Policies, digest: str) -> None:
    if policies.policies_digest != digest:
        raise PlatformDownError(
            "The policies changed while people were shown them.", case="policies-changed"
        )


def _batches(ceiling: int, pace: float) -> list[tuple[int, int]]:
    """Return the first and last step of each batch."""
    size = int(min(max(BATCH_SECONDS / pace, 1), BATCH_STEPS))
    ends = [*range(size, ceiling, size), ceiling]
    return list(zip([0, *ends], ends, strict=False))
