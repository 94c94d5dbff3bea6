"""Penalty by day, compared with the line of the four-fifths rule.

[DJHL25] Dong, Jin, Hu, Liu, Measuring fairness in large-scale recommendation systems with missing
         labels, §4.3 and Figure 6.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from auditor_client.errors import InputError
from auditor_client.reo.counts import Positives
from auditor_client.reo.penalty_estimate import Penalty, penalty
from auditor_client.reo.ratio_lines import FOUR_FIFTHS, Lines, four_fifths

if TYPE_CHECKING:
    import polars as pl

    from auditor_client.charts.chart import Chart

State = Literal["below", "above", "unclear"]


@dataclass(frozen=True)
class Monitoring:
    """Penalties by day. Their limits hold for all days at once with probability 1 - delta."""

    days: dict[str, Penalty]
    lines: Lines
    delta: float

    def state(self, day: str) -> State:
        """Return the state: below the line if the rule certainly holds, above if it is certainly
        violated.
        """
        found = self.days[day]
        if found.high <= self.lines.holds:
            return "below"
        return "above" if found.low > self.lines.broken else "unclear"

    def table(self) -> pa.Table:
        """Return day, penalty, limits and state, one row each."""
        rows = [
            {"day": day, "penalty": one.penalty, "low": one.low, "high": one.high}
            | {"state": self.state(day)}
            for day, one in self.days.items()
        ]
        return pa.Table.from_pylist(rows)

    def frame(self) -> "pl.DataFrame":
        """Return `table` as a Polars DataFrame; needs `platform-auditor[logs]`."""
        from auditor_client.local.data_frame import data_frame

        return data_frame(self.table())

    def chart(self) -> "Chart":
        """Return a chart of the days as points with whiskers, and the line."""
        from auditor_client.reo.charts import monitoring_chart  # charts take a second to import

        return monitoring_chart(self)


def monitor(
    days: Mapping[str, Positives],
    random: Positives | None,
    delta: float = 0.05,
    *,
    ratio: float = FOUR_FIFTHS,
    **options: Any,
) -> Monitoring:
    """Return the penalties of several days of default traffic, relative to one random traffic.

    Options are those of `penalty`. Days share delta: more days give wider intervals.
    """
    if not days:
        raise InputError("There are no days to monitor.", case="no-days")
    found = {
        day: penalty(positives, random, delta=delta / len(days), **options)
        for day, positives in days.items()
    }
    return watch_penalties(found, delta, ratio)


def watch_penalties(
    found: dict[str, Penalty], delta: float, ratio: float = FOUR_FIFTHS
) -> Monitoring:
    """Compare penalties, each estimated with its share of delta, with the four-fifths line."""
    groups = len(next(iter(found.values())).u)
    return Monitoring(found, four_fifths(groups, ratio), delta)
