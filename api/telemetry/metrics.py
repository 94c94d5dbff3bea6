"""Prometheus metrics of this process, for the operator only: auditors never see them (R2).

Each process serves them at its metrics address (`api.health.listener`).
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import Counter, Gauge, Histogram

# Upper limits of the latency buckets, in seconds.
ENDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, math.inf)

REQUESTS = Counter("requests", "Requests served", ["method", "route", "status"])
LATENCY = Histogram("request_seconds", "Time to serve a request", ["method", "route"], buckets=ENDS)
AUDITS = Counter("audits", "Audits finished", ["state"])
STEPS = Counter("exploration_steps", "Steps of other recommendations that people were shown")
MENDED_REWARDS = Counter(
    "mended_rewards", "Rewards of an adapter that were clipped or not a number"
)
LATE_PARTS = Counter(
    "late_parts", "Parts not matched in their public time: the platform is slower than it declares"
)
LATE_AUDITS = Counter(
    "late_audits", "Audits not ready in their public time: audit_seconds or audit_rate is too fast"
)
LEFT_OUT = Counter(
    "two_party_left_out",
    "People without a place in runs on hidden audiences: two_party_candidates is too small",
)

# Admission. The classes and reasons are those of `api.app.admission`.
IN_PROGRESS = Gauge("requests_in_progress", "Requests in progress", ["class"])
SHED = Counter(
    "requests_shed",
    "Requests refused by admission: their caller, or everybody together, had too many in progress",
    ["class", "reason"],
)
DROPPED_CONNECTIONS = Counter(
    "connections_dropped",
    "Connections closed without an answer: slow headers, unread answers, or too many connections",
    ["reason"],
)
# At 0 from the start, so that the first event is an increase that alerts can see.
for _reason in ("headers", "answer", "unread", "connections"):
    DROPPED_CONNECTIONS.labels(_reason)

# The queue of the whole deployment, as this process last read it: every process has the same.
QUEUE_LENGTH = Gauge("queue_length", "Audits of the deployment that wait for a worker")
QUEUE_OLDEST = Gauge("queue_oldest_seconds", "Waiting time of the oldest audit in the queue")
RUNNING_AUDITS = Gauge("running_audits", "Audits of the deployment that a worker holds")

BACKGROUND_WRITES = Counter("background_writes", "Background writes to the database", ["result"])
CONNECTIONS = Gauge("database_connections", "Database connections of this process", ["state"])
CONNECTION_LIMIT = Gauge(
    "database_connection_limit", "Database connections that this process may open"
)

ADAPTER_CALLS = Counter("adapter_calls", "Calls to the platform's adapter", ["call"])
ADAPTER_FAILURES = Counter("adapter_call_failures", "Calls to the adapter that raised", ["call"])
ADAPTER_SECONDS = Histogram(
    "adapter_call_seconds", "Time of a call to the adapter", ["call"], buckets=ENDS
)
for _call in ("match", "score", "read", "sample", "held", "confirmed", "consenting", "rewards"):
    ADAPTER_CALLS.labels(_call)
    ADAPTER_FAILURES.labels(_call)


@contextmanager
def adapter_call(call: str) -> Iterator[None]:
    """Count and time one call to the platform's adapter."""
    ADAPTER_CALLS.labels(call).inc()
    started = time.perf_counter()
    try:
        yield
    except Exception:
        ADAPTER_FAILURES.labels(call).inc()
        raise
    finally:
        ADAPTER_SECONDS.labels(call).observe(time.perf_counter() - started)
