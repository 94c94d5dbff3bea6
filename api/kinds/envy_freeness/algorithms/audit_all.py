"""Algorithm 2, AUDIT, and the audit of everybody against everybody, with all targets at once.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, §4.5, Algorithm 2 and Theorem 2.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from api.kinds.envy_freeness.algorithms.batch import BatchOutcomes, Fleet, Ints, Rewards, run
from api.kinds.envy_freeness.algorithms.criteria import AuditSize
from api.kinds.envy_freeness.algorithms.minimum_steps import require_enough_steps
from api.kinds.envy_freeness.algorithms.terms import Terms

Finding = Literal["envy-free", "not-envy-free", "undecided"]


@dataclass(frozen=True)
class Certificate:
    """The findings of the audit by target and arm; `terms` are those of each target."""

    finding: Finding
    targets: Ints
    arms: Ints
    outcomes: BatchOutcomes
    terms: Terms


def make_fleet(terms: Terms, arms: int, targets: int) -> Fleet[Any]:
    """Return a fleet of `targets` with the bounds that the terms name."""
    require_enough_steps(terms, arms)
    # Import Numba only where a fleet runs, because the import is slow.
    if terms.bounds == "tight":
        from api.kinds.envy_freeness.algorithms.tight_batch import TightFleet

        return TightFleet(terms, arms, targets)
    from api.kinds.envy_freeness.algorithms.paper_batch import PrintedFleet

    return PrintedFleet(terms, arms, targets)


def sample(size: AuditSize, people: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw targets, and for each of them distinct arms among the others (lines 1 and 3)."""
    targets = rng.choice(people, size.targets, replace=False)
    others = np.stack([rng.choice(people - 1, size.arms, replace=False) for _ in targets])
    return targets, others + (others >= targets[:, None])


def audit(
    rewards: Rewards,
    people: int,
    size: AuditSize,
    terms: Terms,
    rng: np.random.Generator,
    *,
    first_envy_ends: bool = True,
    ahead: bool = False,
) -> Certificate:
    """Audit `size` of the people; `rewards(targets, policies)` takes the numbers of people.

    `terms.delta` must be the size's `level`. By line 5 the first envy found ends the audit of all.
    With `first_envy_ends=False` every target runs to its own end, so that nobody's rewards decide
    how long somebody else's audit lasts. `ahead` is that of `run`, for simulated platforms.
    """
    if terms.delta > size.level:
        raise ValueError(
            f"Each target is certified at level {size.level}: pass terms with that delta."
        )
    targets, arms = sample(size, people, rng)
    policies = np.column_stack([targets, arms])

    def of_people(who: Ints, asked: Ints) -> ArrayLike:
        return rewards(targets[who], policies[who, asked])

    fleet = make_fleet(terms, size.arms, size.targets)
    outcomes = run(fleet, of_people, rng, first_envy_ends=first_envy_ends, ahead=ahead)
    return Certificate(_finding(outcomes), targets, arms, outcomes, terms)


def _finding(outcomes: BatchOutcomes) -> Finding:
    if outcomes.are("envy").any():
        return "not-envy-free"  # line 5
    return "envy-free" if outcomes.are("no-envy").all() else "undecided"  # line 7
