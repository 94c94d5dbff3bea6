"""The parts of the privacy audit have one form: rows as they come, then an outcome."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Outcome:
    """The checks of a part, and the number of failures."""

    looked_at: str
    violations: int

    def __str__(self) -> str:
        return f"{self.looked_at}, {self.violations} violations"


class Part(Protocol):
    """One part of the audit, at the size of CI or at its full size."""

    def __call__(self, *, long: bool) -> Iterator[str | Outcome]: ...
