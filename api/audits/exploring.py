"""People are shown other recommendations than their own, batch by batch, durably.

Every batch of steps is planned, written down, and only then taken: whoever withdrew consent is
shown nothing any more, and to nobody. Steps are numbered, and the platform takes none of them
twice, so what was written last is all that a worker needs to go on after a crash: it plans nothing
anew, asks for the same steps of the same people, and learns what would have been learned. No step
is repeated or uncounted.

How many steps a batch has, how many batches there are and when each begins follows from public
numbers alone. Who has a verdict idles; the end comes at the ceiling, whatever was found.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from api import boundaries
from api.adapters import PlatformDownError, call_or_cut
from api.audits.envy import Fleet, Outcomes, Terms, fleet_of
from api.audits.envy.state import arrays_of, packed, take_up, unpacked
from api.audits.envy.terms import VERDICTS
from api.audits.taking_part import Drawn
from api.boundaries import Boundary
from api.metrics import MENDED_REWARDS, STEPS
from api.platform import Journal, Persons, Policies

BATCH_STEPS = 1_000
BATCH_SECONDS = 1.0

Draw = Callable[[Persons, int], Drawn]


@dataclass
class Course:
    """The targets on their way: a fleet, whose arms are people, and chance of their own.

    `gone` says of each target which arms withdrew, and `missed` which of these were in question
    then; `done` is where the last batch ended that is over, whoever was still running in it.
    """

    fleet: Fleet[Any]
    drawn: Drawn
    secret: int
    digest: str
    gone: NDArray[np.bool_]
    missed: NDArray[np.bool_]
    done: int = 0

    @classmethod
    def begin(cls, terms: Terms, drawn: Drawn, secret: int, digest: str) -> "Course":
        fleet = fleet_of(terms, drawn.arms, len(drawn.targets))
        gone, missed = np.zeros((2, len(drawn.targets), drawn.arms), bool)
        return cls(fleet, drawn, secret, digest, gone, missed)

    @classmethod
    def read(cls, terms: Terms, state: bytes) -> "tuple[Course, bool]":
        """The course as it was written down, and whether the next batch was planned already."""
        arrays = unpacked(state)
        drawn = Drawn(arrays["policies"], int(arrays["spare"]))
        course = cls.begin(terms, drawn, int(arrays["secret"]), str(arrays["digest"]))
        take_up(course.fleet, arrays)
        course.gone, course.missed = arrays["gone"], arrays["missed"]
        course.done = int(arrays["done"])
        return course, bool(arrays["planned"])

    def written(self, *, planned: bool) -> bytes:
        return packed(
            {
                "policies": self.drawn.policies,
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
        """Whoever does not consent any more is dropped, as a target and as an arm."""
        fleet, everybody = self.fleet, np.unique(self.drawn.policies)
        agreed = consenting(policies, everybody)
        agreed = agreed[np.searchsorted(everybody, self.drawn.policies)]
        fleet.drop(np.flatnonzero(~agreed[:, 0]))
        self.gone |= ~agreed[:, 1:]
        barred = fleet.active & self.gone[fleet.people]
        self.missed[fleet.people] |= barred
        fleet.bar(barred)

    def advance(self, policies: Policies, name: str, until: int) -> None:
        """All running targets take their steps up to this one, block by block."""
        while self.fleet.step < until and len(self.fleet.people):
            # A draw for everybody, running or not: nobody's depends on who else has ended.
            chance = np.random.default_rng([self.secret, self.fleet.step])
            arms = self.fleet.ask(chance.random(len(self.drawn.targets))[self.fleet.people])
            rewards = self._rewards(policies, name, arms)
            boundaries.reached(Boundary.SHOWN)
            self.fleet.tell(rewards)

    @property
    def outcomes(self) -> Outcomes:
        """Who is without too many arms is not known to envy nobody: docs/envy.md."""
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
            found = policies.rewards(name, targets[at], shown[at], steps[at])
            return np.asarray(found, np.float64)

        # What the adapter cannot tell is not a number, and is counted as no reward.
        return call_or_cut(call, len(targets), np.float64(np.nan))


def explore(
    policies: Policies, journal: Journal, terms: Terms, people: Persons, draw: Draw, secret: int
) -> Outcomes:
    """Take all steps up to the ceiling, from where the journal is."""
    ceiling, pace = terms.ceiling or 0, policies.step_seconds
    course, planned = _taken_up(policies, journal, terms, people, draw, secret)
    for done, until in _batches(ceiling, pace):
        if until <= course.done:
            continue
        if not planned:
            journal.wait_until(done * pace, lambda: course.written(planned=False))
            course.plan(policies)
            boundaries.reached(Boundary.BATCH_PLANNED)
            journal.write(course.written(planned=True))
            boundaries.reached(Boundary.BATCH_COMMITTED)
        planned = False
        _refuse_other(policies, course.digest)
        course.advance(policies, journal.course, until)
        course.done = until
        _refuse_other(policies, course.digest)
        boundaries.reached(Boundary.BATCH_TAKEN)
    journal.wait_until(ceiling * pace, lambda: course.written(planned=False))
    outcomes = course.outcomes
    STEPS.inc(int(outcomes.steps.sum()))
    MENDED_REWARDS.inc(int(outcomes.mended.sum()))
    return outcomes


def consenting(policies: Policies, persons: Persons) -> NDArray[np.bool_]:
    """Who agrees; of whom the adapter cannot tell, nobody does."""

    def call(start: int, stop: int) -> NDArray[np.bool_]:
        return np.asarray(policies.consenting(persons[start:stop]), np.bool_)

    return call_or_cut(call, len(persons), np.False_)


def _taken_up(
    policies: Policies, journal: Journal, terms: Terms, people: Persons, draw: Draw, secret: int
) -> tuple[Course, bool]:
    state = journal.read()
    if state is not None:
        return Course.read(terms, state)
    drawn = draw(people[consenting(policies, people)], secret)
    return Course.begin(terms, drawn, secret, policies.policies_digest), False


def _refuse_other(policies: Policies, digest: str) -> None:
    if policies.policies_digest != digest:
        raise PlatformDownError("the policies changed while people were shown them")


def _batches(ceiling: int, pace: float) -> list[tuple[int, int]]:
    """Where each batch begins and ends."""
    size = int(min(max(BATCH_SECONDS / pace, 1), BATCH_STEPS))
    ends = [*range(size, ceiling, size), ceiling]
    return list(zip([0, *ends], ends, strict=False))
