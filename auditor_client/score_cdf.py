"""Cumulative score counts: how many people of each group score up to each edge, with noise."""

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from auditor_client.result import Result
from openapi.models import AuditKind, ScoreCdfRelease


@dataclass(frozen=True)
class ScoreCdf(Result[ScoreCdfRelease]):
    """Noisy running counts. Noise may make them negative, or let them fall."""

    kind: ClassVar[AuditKind] = "score-cdf"

    @property
    def edges(self) -> list[float]:
        """The ends of the bins: one running count each, the last one included."""
        return self.release.bins.edges[1:]

    @property
    def cumulative(self) -> dict[str, list[float]]:
        """By name of group: people in the bins up to each edge, and at last everybody."""
        return self.by_name({group.label: group.cumulative for group in self.release.groups})

    @property
    def error_95(self) -> int:
        """Each running count alone is off by more than this with a probability of at most 5 %."""
        return self.part("cdf").error_95

    def frame(self) -> pa.Table:
        """Group, edge and running count, one row each; everybody has no edge."""
        rows = [
            {"group": name, "up_to": edge, "cumulative": count}
            for name, counts in self.cumulative.items()
            for edge, count in zip([*self.edges, None], counts, strict=True)
        ]
        types = {"group": pa.string(), "up_to": pa.float64(), "cumulative": pa.float64()}
        return pa.Table.from_pylist(rows, pa.schema(types))
