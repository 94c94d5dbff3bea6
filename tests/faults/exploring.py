"""People who are shown something, and what must hold of their steps whatever was killed.

Every step that is asked for leaves a line. All targets run to the ceiling, so each has every step
once; one that is asked for again, as it may be after a kill, is the same step: the platform does
not take it twice.
"""

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlmodel import select

from api.db import CourseRow, Store
from api.kernel.failpoints import Failpoint
from api.kinds.envy_freeness.algorithms.checkpoint import unpack_state
from api.platforms.interfaces import Persons
from platform_sim.draws.randomness import draw_uniform

# What no other audit reaches, and what this one shares with all.
EXPLORING = (
    Failpoint.BATCH_PLANNED,
    Failpoint.BATCH_COMMITTED,
    Failpoint.SHOWN,
    Failpoint.BATCH_TAKEN,
)
SHARED = (
    Failpoint.CHARGE_COMMITTED,
    Failpoint.CLAIMED,
    Failpoint.REDUCED,
    Failpoint.SIGNED,
    Failpoint.RELEASE_WRITTEN,
    Failpoint.RELEASE_COMMITTED,
)
# Three batches, two of them of a second.
STEP_SECONDS, STEPS = 0.01, 220
# Everybody may be drawn into any lot: one at least has somebody at home in it, and runs.
TARGETS, PEOPLE = 4, 5
ASKED: dict[str, Any] = {
    "kind": "envy-freeness",
    "alpha": "0.5",
    # Nobody is told from others by so little in so few steps.
    "tolerance": "0.01",
    "delta": "0.1",
    "gamma": "0.9",
    "lam": "0.9",
    "targets": TARGETS,
    "arms": 3,
    "arms_per_person": TARGETS,
    "steps": STEPS,
    "epsilon": "0.1",
    "duration_epsilon": "0",
    "cost_epsilon": "0",
}


class TinyPolicies:
    """Policies whose recommendations please people half of the time, from any person."""

    policies_digest = "sha256:" + "1" * 64
    step_seconds = STEP_SECONDS

    def __init__(self, shown: Path) -> None:
        self.shown = shown

    def consenting(self, persons: Persons) -> NDArray[np.bool_]:
        return np.ones(len(persons), np.bool_)

    def rewards(
        self, course: str, targets: Persons, arms: Persons, steps: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        lines = np.column_stack([targets, steps, arms]).tolist()
        with self.shown.open("a") as file:
            file.writelines(f"{target} {step} {arm}\n" for target, step, arm in lines)
        return np.rint(draw_uniform(1, "pleases", targets * STEPS + steps))


def steps_of(shown: Path) -> dict[int, dict[int, set[int]]]:
    """Target → step → which arms were asked for."""
    steps: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for line in shown.read_text().splitlines() if shown.exists() else []:
        target, step, arm = (int(word) for word in line.split())
        steps[target][step].add(arm)
    return steps


def at_any_moment(store: Store, shown: Path) -> Iterator[str]:
    """Steps follow each other, none was another one before, and what is written was taken."""
    taken = steps_of(shown)
    yield from contradictions(shown)
    for target, steps in taken.items():
        if sorted(steps) != list(range(len(steps))):
            yield f"{target} was not shown one step after the other"
    with store.read() as session:
        for row in session.exec(select(CourseRow)):
            if row.state:
                yield from _written(unpack_state(row.state), taken)


def contradictions(shown: Path) -> Iterator[str]:
    """Yield each target that two different arms were shown to in one step."""
    for target, steps in steps_of(shown).items():
        if any(len(arms) > 1 for arms in steps.values()):
            yield f"{target} was shown two things in one step"


def at_the_end(shown: Path) -> Iterator[str]:
    counts = [len(steps) for steps in steps_of(shown).values()]
    if not 1 <= len(counts) <= TARGETS or set(counts) != {STEPS}:
        yield f"targets took {counts} steps, not {STEPS} each"


def _written(state: dict[str, Any], taken: dict[int, dict[int, set[int]]]) -> Iterator[str]:
    for target in state["policies"][:, 0].tolist():
        if len(taken[target]) < state["step"]:
            yield f"{state['step']} steps of {target} are counted, {len(taken[target])} were taken"
