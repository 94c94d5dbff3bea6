"""Parts shared by kinds that release cumulative counts, up to each edge and in total."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import pyarrow as pa

from auditor_client.kinds.protocol import Result
from openapi.resources import LogCdfRelease, ScoreCdfRelease

R = TypeVar("R", ScoreCdfRelease, LogCdfRelease)


@dataclass(frozen=True, repr=False)
class RunningCounts(Result[R]):
    """Noisy cumulative counts. Noise may make them negative or decreasing."""

    # Name of the total, which is the last count.
    all_there_is: ClassVar[str]

    @classmethod
    def mismatches(cls, asked: Any, made: R) -> Iterator[str]:
        # One cumulative count for each bin, and one for the total.
        fits = all(len(group.cumulative) == len(asked.bins.edges) for group in made.groups)
        if made.bins != asked.bins or not fits:
            yield "bins"

    def numbers(self) -> dict[str, Any]:
        running = {"up_to": [*self.edges, self.all_there_is], **self.cumulative}
        return {**running, "error_95": self.error_95}

    def table(self) -> pa.Table:
        """Return group, edge and cumulative count, one row each; the total has no edge."""
        rows = [
            {"group": name, "up_to": edge, "cumulative": count}
            for name, counts in self.cumulative.items()
            for edge, count in zip([*self.edges, None], counts, strict=True)
        ]
        types = {"group": pa.string(), "up_to": pa.float64(), "cumulative": pa.float64()}
        return pa.Table.from_pylist(rows, pa.schema(types))

    @property
    def edges(self) -> list[float]:
        """The upper ends of the bins, each with one cumulative count, including the last."""
        return self.release.bins.edges[1:]

    @property
    def cumulative(self) -> dict[str, list[float]]:
        """Return by group the counts in the bins up to each edge, and the total."""
        return self.by_name({group.label: group.cumulative for group in self.release.groups})

    @property
    def error_95(self) -> int:
        """Error that each cumulative count alone exceeds with a probability of at most 5 %."""
        return self.part("cdf").error_95
