"""Cumulative counts of logged rows by one of their numbers, and the quantiles they give."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from auditor_client.errors import InputError
from auditor_client.result import Result
from openapi.models import AuditKind, LogCdfRelease, LogCdfRequest


@dataclass(frozen=True)
class LogCdf(Result[LogCdfRelease]):
    """Noisy running counts of rows. Noise may make them negative, or let them fall."""

    kind: ClassVar[AuditKind] = "log-cdf"

    @classmethod
    def differing(cls, asked: LogCdfRequest, made: LogCdfRelease) -> Iterator[str]:
        if (made.log, made.column) != (asked.log, asked.column):
            yield "log"
        if made.rows_per_person != asked.rows_per_person:
            yield "number of rows a person"
        # One running count for each bin, and one for everything.
        fits = all(len(group.cumulative) == len(asked.bins.edges) for group in made.groups)
        if made.bins != asked.bins or not fits:
            yield "bins"

    def numbers(self) -> dict[str, Any]:
        running = {"up_to": [*self.edges, "everything"], **self.cumulative}
        return {**running, "error_95": self.error_95}

    @property
    def edges(self) -> list[float]:
        """The ends of the bins: one running count each, the last one included."""
        return self.release.bins.edges[1:]

    @property
    def cumulative(self) -> dict[str, list[float]]:
        """By name of group: rows in the bins up to each edge, and at last all of them."""
        return self.by_name({group.label: group.cumulative for group in self.release.groups})

    @property
    def error_95(self) -> int:
        """Each running count alone is off by more than this with a probability of at most 5 %."""
        return self.part("cdf").error_95

    def quantile_edges(self, bins: int) -> list[float]:
        """Edges, among those asked for, of about equally full bins of all groups together.

        Which edges they are is all that an analysis takes from here: it is valid for any edges, so
        that a bad choice costs power and nothing else.
        """
        if bins < 1:
            raise InputError("At least one bin is needed.")
        running = np.sum([counts[:-1] for counts in self.cumulative.values()], axis=0)
        # Running counts rise; noise that lets them fall is smoothed away.
        running = np.maximum.accumulate(np.maximum(running, 0.0))
        ends = running[-1] * np.arange(1, bins) / bins
        chosen = np.searchsorted(running, ends)
        inner = [self.edges[place] for place in chosen.tolist()]
        return _distinct([self.release.bins.edges[0], *inner, self.edges[-1]])


def _distinct(edges: Sequence[float]) -> list[float]:
    return sorted(set(edges))
