"""The most skewed of several contents: which one it is, and nothing else."""

from dataclasses import dataclass
from typing import ClassVar

from auditor_client.errors import InputError
from auditor_client.result import Result
from openapi.models import AuditKind, Content, MostSkewedRelease


@dataclass(frozen=True)
class MostSkewed(Result[MostSkewedRelease]):
    """The content whose scores differ (about) most between the two groups."""

    kind: ClassVar[AuditKind] = "most-skewed"

    @property
    def position(self) -> int:
        """The number, from 0, of the chosen content among those that were asked about."""
        return self.release.chosen

    @property
    def chosen(self) -> Content:
        """The chosen content."""
        if not 0 <= self.position < len(self.contents):
            raise InputError("The contents are not known here: there is only their `position`.")
        return self.contents[self.position]

    @property
    def error_95(self) -> int:
        """Its skew is further than this below the largest with a probability of at most 5 %."""
        return self.part("skew").error_95
