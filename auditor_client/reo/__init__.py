"""Ranking-based equal opportunity: whether relevant content of each group is shown equally often.

    from auditor_client import reo

    found = reo.penalty(recommended={"a": 420, "b": 300}, random={"a": 250, "b": 240})
    print(found.explain())

docs/explanation/reo.md explains the metric and why it needs random traffic.
"""

from auditor_client.reo.ab_differences import PenaltyDifference, difference
from auditor_client.reo.logged_rows import OwnLogs, own_logs
from auditor_client.reo.monitoring import Monitoring, monitor
from auditor_client.reo.parity import parity, plain, precision
from auditor_client.reo.penalty_estimate import Bounded, Penalty, penalty
from auditor_client.reo.planning import TrafficRows, error_at, rows_needed, share_rows, utility_rows
from auditor_client.reo.ratio_lines import Lines, four_fifths
from auditor_client.reo.stages import Stages, stages
from auditor_client.reo.traffic_activation import RandomTraffic, random_traffic, tradeoff

__all__ = [
    "Bounded",
    "Lines",
    "Monitoring",
    "OwnLogs",
    "Penalty",
    "PenaltyDifference",
    "RandomTraffic",
    "Stages",
    "TrafficRows",
    "difference",
    "error_at",
    "four_fifths",
    "monitor",
    "own_logs",
    "parity",
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
