"""Errors that a price states, in people, rows and reward rather than in a table's own units."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PartUnit:
    """Unit of a part: its name, and the number of the table's units in one."""

    counted: str
    units: int = 1


@dataclass(frozen=True, slots=True)
class StatedError:
    """Error of one number of a part, which is larger with a probability of at most 5 %."""

    part: str
    error_95: float
    counted: str

    def __str__(self) -> str:
        """Return the error with its unit."""
        from auditor_client.reporting.rounding import error

        return f"{error(self.error_95)} {self.counted} (95 %)"
