"""Quarters of a year, in UTC: `2026-Q4`."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from auditor_client.errors import InputError


@dataclass(frozen=True)
class Quarter:
    year: int
    number: int

    @classmethod
    def parse(cls, text: str) -> "Quarter":
        found = re.fullmatch(r"(\d{4})-?[Qq]([1-4])", text.strip())
        if found is None or int(found[1]) < 1970:
            raise InputError(f"{text!r} is not a quarter like 2026-Q4.", case="not-a-quarter")
        return cls(int(found[1]), int(found[2]))

    @property
    def since(self) -> datetime:
        return datetime(self.year, 3 * self.number - 2, 1, tzinfo=UTC)

    @property
    def until(self) -> datetime:
        """The first instant after the quarter."""
        year, month = divmod(12 * self.year + 3 * self.number, 12)
        return datetime(year, month + 1, 1, tzinfo=UTC)

    def __str__(self) -> str:
        return f"{self.year}-Q{self.number}"
