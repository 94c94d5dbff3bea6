"""Ranking-based equal opportunity: is relevant content shown as often, whoever made it?

    from auditor_client import reo

    found = reo.penalty(recommended={"a": 420, "b": 300}, random={"a": 250, "b": 240})
    print(found.explain())

docs/reo.md says what it measures and why it needs random traffic.
"""

from auditor_client.reo.ab_differences import Difference, difference
from auditor_client.reo.logged_rows import OwnLogs, own_logs
from auditor_client.reo.monitoring import Monitoring, monitor
from auditor_client.reo.parity import parity, plain, precision
from auditor_client.reo.penalty_estimate import Bounded, Penalty, penalty
from auditor_client.reo.planning import Rows, error_at, rows_needed, share_rows, utility_rows
from auditor_client.reo.ratio_lines import Lines, four_fifths
from auditor_client.reo.stages import Stages, stages
from auditor_client.reo.traffic_activation import RandomTraffic, random_traffic, tradeoff
from replications.paper_4.resampling import (
    Method,
    Resampled,
    bootstrap,
    bootstrap_difference,
    partitions,
)

__all__ = [
    "Bounded",
    "Difference",
    "Lines",
    "Method",
    "Monitoring",
    "OwnLogs",
    "Penalty",
    "RandomTraffic",
    "Resampled",
    "Rows",
    "Stages",
    "bootstrap",
    "bootstrap_difference",
    "difference",
    "error_at",
    "four_fifths",
    "monitor",
    "own_logs",
    "parity",
    "partitions",
    "penalty",
    "plain",
    "precision",
    "random_traffic",
    "rows_needed",
    "share_rows",
    "stages",
    "tradeoff",
    "utility_rows",
]
