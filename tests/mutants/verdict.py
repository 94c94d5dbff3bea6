"""Verdict on one mutant: killed, survived, or in error."""

from dataclasses import dataclass
from typing import Literal

from tests.mutants.mutant import Mutant
from tests.mutants.trial import Outcome, Trial

# By these a test says that it failed. Everything else may be an accident of the mutation.
ASSERTIONS = ("AssertionError", "Failed")


@dataclass(frozen=True)
class Verdict:
    state: Literal["killed", "survived", "error"]
    why: str = ""


def judged(mutant: Mutant, trial: Trial) -> Verdict:
    """Killed only if each of the mutant's tests failed, and failed as it should."""
    if trial.broken:
        return Verdict("error", trial.broken)
    for test in mutant.tests:
        failures = [one for one in trial.of(test) if not one.passed]
        if not failures:
            return Verdict("survived", f"{test} passes")
        if not any(_as_it_should(mutant, one) for one in failures):
            found = failures[0]
            kind = next(iter(found.exceptions), "")
            return Verdict("error", f"{test} ended by {kind} in {found.phase}: {found.message}")
    return Verdict("killed")


def unsound(trial: Trial, tests: tuple[str, ...]) -> list[str]:
    """Say which of the tests do not pass without a mutant, or are not there."""
    if trial.broken:
        return [trial.broken]
    missing = [f"{test} is not there" for test in tests if not trial.of(test)]
    failed = [f"{one.test}: {one.message}" for one in trial.outcomes if not one.passed]
    return missing + [f"fails without a mutant: {each}" for each in failed]


def _as_it_should(mutant: Mutant, outcome: Outcome) -> bool:
    if outcome.phase != "call" or outcome.message.startswith("Timeout"):
        return False
    return not {*ASSERTIONS, *mutant.raises}.isdisjoint(outcome.exceptions)
