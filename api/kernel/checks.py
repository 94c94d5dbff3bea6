"""Checks and their findings, for an adapter's conformance and for a deployment's health.

A check is one property that must hold, with the advice for the case that it does not.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Generic, Literal, TypeVar

import typer

Subject = TypeVar("Subject")
Outcome = Literal["ok", "warning", "failed", "not-applicable"]
_MARKS: dict[Outcome, str] = {"ok": "✓", "warning": "!", "failed": "✗", "not-applicable": "-"}


class NotApplicableError(Exception):
    """Raised by a check that does not apply; the message says why, or which input it needs."""


class WarnedError(Exception):
    """Raised by a check that finds an improvement without a broken promise."""


@dataclass(frozen=True)
class Finding:
    check: str
    outcome: Outcome
    what: str
    to_do: str = ""


@dataclass(frozen=True)
class Check(Generic[Subject]):
    """Check of a subject; `run` returns None if all is well, otherwise the problem in plain words.

    With `warns`, a problem breaks no promise: it is a warning, not a failure.
    """

    name: str
    run: Callable[[Subject], str | None]
    to_do: str
    warns: bool = False

    def __call__(self, subject: Subject) -> Finding:
        """Run the check. An error that it raises is a failure."""
        try:
            complaint = self.run(subject)
        except NotApplicableError as reason:
            return Finding(self.name, "not-applicable", str(reason))
        except WarnedError as reason:
            return Finding(self.name, "warning", str(reason), self.to_do)
        except Exception as error:
            # The message of the error may quote people or passwords.
            complaint = f"it failed with {type(error).__name__}"
        if complaint is None:
            return Finding(self.name, "ok", "")
        return Finding(self.name, "warning" if self.warns else "failed", complaint, self.to_do)


@dataclass
class Checks(Generic[Subject]):
    """Checks that belong together, in the order of their definition."""

    checks: list[Check[Subject]] = field(default_factory=list)

    def check(
        self, to_do: str, *, warns: bool = False
    ) -> Callable[[Callable[[Subject], str | None]], Callable[[Subject], str | None]]:
        """Add a function as a check of the same name."""

        def added(run: Callable[[Subject], str | None]) -> Callable[[Subject], str | None]:
            self.checks.append(Check(run.__name__.replace("_", "-"), run, to_do, warns))
            return run

        return added

    def __iter__(self) -> Iterator[Check[Subject]]:
        return iter(self.checks)


def report(findings: Sequence[Finding], *, as_json: bool) -> int:
    """Print the findings, and return the exit code: 1 if a check failed, otherwise 0."""
    counts = Counter(each.outcome for each in findings)
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in findings], indent=2))
        return int(counts["failed"] > 0)
    for each in findings:
        typer.echo(f"{_MARKS[each.outcome]} {each.check}" + (f": {each.what}" if each.what else ""))
        if each.to_do:
            typer.echo(f"    {each.to_do}")
    told = (f"{counts[each]} {each.replace('-', ' ')}" for each in _MARKS)
    typer.echo(", ".join(told))
    return int(counts["failed"] > 0)
