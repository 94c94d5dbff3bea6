"""Terms of one certificate, and the names of the outcomes of a target's audit.

[DCAU22] Do, Corbett-Davies, Atif, Usunier, AAAI 2022, §4.2 and Theorem 1 (the ranges).
"""

from dataclasses import dataclass
from typing import Literal, get_args

Bounds = Literal["printed", "tight"]
Verdict = Literal["running", "envy", "no-envy", "undecided", "withdrawn"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


class TermsError(ValueError):
    """Terms under which no audit can keep its promise, or end.

    `case` is a stable word for the reason.
    """

    def __init__(self, *message: str, case: str | None = None) -> None:
        super().__init__(*message)
        self.case = case


@dataclass(frozen=True, slots=True)
class Terms:
    """Promise of a verdict: with probability 1 - delta, it is right and (3) holds at every step.

    `envy` means that some arm is better than the baseline, `no-envy` that none is better by more
    than `epsilon`. People keep, at every step, a share 1 - `alpha` of the reward that the baseline
    would have given them. `omega` and `sigma` shape only the paper's bounds (`printed`). A target
    that has reached no verdict after `ceiling` steps ends `undecided`.
    """

    delta: float
    epsilon: float
    alpha: float
    omega: float = 0.99
    sigma: float = 0.5
    bounds: Bounds = "printed"
    ceiling: int | None = None

    def __post_init__(self) -> None:
        _require(0 < self.delta < 0.5, "delta", self.delta, "above 0 and below 0.5")
        _require(0 < self.epsilon <= 1, "epsilon", self.epsilon, "above 0 and at most 1")
        _require(0 < self.alpha <= 1, "alpha", self.alpha, "above 0 and at most 1")
        _require(0 < self.omega < 1, "omega", self.omega, "above 0 and below 1")
        # A reward that is 0 or 1 with equal chances is no better than 0.5-sub-Gaussian.
        _require(0.5 <= self.sigma < 1e6, "sigma", self.sigma, "at least 0.5")
        _require(self.bounds in get_args(Bounds), "bounds", self.bounds, "'printed' or 'tight'")
        if self.ceiling is not None:
            _require(self.ceiling >= 1, "ceiling", self.ceiling, "at least 1, or None")


def require_arms(arms: int) -> None:
    """Raise `TermsError` unless there is at least one arm in addition to the baseline."""
    _require(arms >= 1, "arms", arms, "at least 1: envy needs somebody else's recommendations")


def _require(holds: bool, name: str, value: object, allowed: str) -> None:
    if not holds:
        raise TermsError(f"{name} must be {allowed}, but is {value!r}")
