"""Match counts: noisy numbers of the people of each group that the platform found."""

from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from auditor_client.kinds.protocol import Result
from openapi.kinds import match_count as contract
from openapi.resources import AuditKind, MatchCountRelease


@dataclass(frozen=True, repr=False)
class MatchCountResult(Result[MatchCountRelease]):
    """Noisy numbers of people found; they may be below 0 or above the uploaded number."""

    kind: ClassVar[AuditKind] = contract.KIND.name

    def numbers(self) -> dict[str, Any]:
        return {"found": self.counts, "error_95": self.error_95}

    def table(self) -> pa.Table:
        """Return group and noisy count, one row each."""
        types = {"group": pa.string(), "count": pa.int64()}
        rows = [{"group": name, "count": count} for name, count in self.counts.items()]
        return pa.Table.from_pylist(rows, pa.schema(types))

    @property
    def counts(self) -> dict[str, int]:
        """Noisy numbers of people found, by name of group."""
        return self.by_name({group.label: group.count for group in self.release.groups})

    @property
    def error_95(self) -> int:
        """Error that each count alone exceeds with a probability of at most 5 %."""
        return self.part("matched").error_95
