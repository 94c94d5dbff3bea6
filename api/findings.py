"""Checks and what they find: one idea for an adapter's conformance and a deployment's health.

A check is one thing that must be right, and what to do where it is not.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Generic, Literal, TypeVar

import typer

Subject = TypeVar("Subject")
Outcome = Literal["right", "wrong", "advice", "skipped"]
_MARKS = {"right": "✓", "wrong": "✗", "advice": "!", "skipped": "-"}


class SkippedError(Exception):
    """There is nothing to try a check on; says what to bring."""


@dataclass(frozen=True)
class Finding:
    check: str
    outcome: Outcome
    what: str
    to_do: str = ""


@dataclass(frozen=True)
class Check(Generic[Subject]):
    """`run` answers None where it is right, else in plain words what is not.

    What is only `advice` breaks no promise.
    """

    name: str
    run: Callable[[Subject], str | None]
    to_do: str
    advice: bool = False

    def __call__(self, subject: Subject) -> Finding:
        try:
            complaint = self.run(subject)
        except SkippedError as reason:
            return Finding(self.name, "skipped", str(reason))
        except Exception as error:
            # Its own words may quote people or passwords.
            complaint = f"it failed with {type(error).__name__}"
        if complaint is None:
            return Finding(self.name, "right", "")
        return Finding(self.name, "advice" if self.advice else "wrong", complaint, self.to_do)


@dataclass
class Checks(Generic[Subject]):
    """Some that belong together, in the order in which they are written."""

    checks: list[Check[Subject]] = field(default_factory=list)

    def check(
        self, to_do: str, *, advice: bool = False
    ) -> Callable[[Callable[[Subject], str | None]], Callable[[Subject], str | None]]:
        """Add a function as a check of the same name."""

        def added(run: Callable[[Subject], str | None]) -> Callable[[Subject], str | None]:
            self.checks.append(Check(run.__name__.replace("_", "-"), run, to_do, advice))
            return run

        return added

    def __iter__(self) -> Iterator[Check[Subject]]:
        return iter(self.checks)


def report(findings: Sequence[Finding], *, as_json: bool) -> int:
    """Print them; 1 if anything is wrong."""
    wrong = [each for each in findings if each.outcome == "wrong"]
    if as_json:
        typer.echo(json.dumps([asdict(each) for each in findings], indent=2))
        return int(bool(wrong))
    for each in findings:
        typer.echo(f"{_MARKS[each.outcome]} {each.check}" + (f": {each.what}" if each.what else ""))
        if each.to_do:
            typer.echo(f"    {each.to_do}")
    right = sum(each.outcome == "right" for each in findings)
    typer.echo(f"{right} right, {len(wrong)} wrong, {len(findings) - right - len(wrong)} other")
    return int(bool(wrong))
