"""Numbers of targets and arms that each criterion of envy-freeness needs, with each target's level.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, Definitions 3.1 and 3.2, §4.5, Algorithm 2.
"""

import math
from dataclasses import dataclass

from api.kinds.envy_freeness.algorithms.terms import TermsError


@dataclass(frozen=True, slots=True)
class AuditSize:
    """Size of an audit: `targets` with `arms` each, each certified at `level`."""

    targets: int
    arms: int
    level: float


def audit_size(delta: float, gamma: float, lam: float) -> tuple[int, int]:
    """Return the targets and arms of the probabilistic criterion, for any number of people."""
    for name, value in (("delta", delta), ("gamma", gamma), ("lam", lam)):
        if not 0 < value < 1:
            raise TermsError(f"{name} must be above 0 and below 1, but is {value!r}")
    # M̃ = ⌈ln(3/δ)/λ⌉   [DCAU22, Algorithm 2, line 1]
    targets = math.ceil(math.log(3 / delta) / lam)
    return targets, arms_needed(targets, delta, gamma)


def arms_needed(targets: int, delta: float, gamma: float) -> int:
    """Return the arms per target for which, except with probability δ/3, no target's arms miss all
    of a share gamma of the others.
    """
    # K = ⌈ln(3M̃/δ)/ln(1/(1-γ))⌉   [DCAU22, Algorithm 2, line 3]
    return math.ceil(math.log(3 * targets / delta) / -math.log1p(-gamma))


def probabilistic(people: int, delta: float, gamma: float, lam: float) -> AuditSize:
    """Return the size for (ε, γ, λ)-envy-freeness, limited to the people there are."""
    _require_people(people)
    targets, arms = audit_size(delta, gamma, lam)
    # OCEF(δ/(3M̃), α, ε)   [DCAU22, Algorithm 2, line 4]
    return AuditSize(min(targets, people), min(arms, people - 1), delta / (3 * targets))


def exact(people: int, delta: float) -> AuditSize:
    """Return the size for ε-envy-freeness: everybody against everybody else, a union over
    targets.
    """
    _require_people(people)
    # δ' = δ/M   [DCAU22, §4.5]
    return AuditSize(people, people - 1, delta / people)


def _require_people(people: int) -> None:
    if people < 2:
        raise TermsError(
            f"An audit of envy needs at least 2 people, or groups, but there are {people}."
        )
