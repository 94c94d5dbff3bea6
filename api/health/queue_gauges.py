"""Gauges of the queue and of the connection pool.

The queue is read from the database by the heartbeat, never while Prometheus waits for an answer.
"""

from sqlalchemy.pool import QueuePool
from sqlmodel import col, func, select

from api.audits.queue import fair_queue
from api.db import AuditRow, Store
from api.kernel.clock import now
from api.telemetry.metrics import (
    CONNECTION_LIMIT,
    CONNECTIONS,
    QUEUE_LENGTH,
    QUEUE_OLDEST,
    RUNNING_AUDITS,
)


def update_queue_gauges(store: Store) -> None:
    """Set the gauges to the queue of the whole deployment."""
    waits = select(func.count(), func.min(col(AuditRow.submitted_at))).where(
        fair_queue.waiting_audits()
    )
    runs = select(func.count()).select_from(AuditRow).where(fair_queue.running_audits())
    with store.autocommit_session() as session:
        length, oldest = session.exec(waits).one()
        running = session.exec(runs).one()
    QUEUE_LENGTH.set(length)
    QUEUE_OLDEST.set(max(0.0, (now() - oldest).total_seconds()) if oldest else 0.0)
    RUNNING_AUDITS.set(running)


def watch_pool(store: Store) -> None:
    """Make the gauges of connections read the pool of this store."""
    pool = store.engine.pool
    # SQLite in memory has one connection, which is the database
    if not isinstance(pool, QueuePool):
        return
    CONNECTIONS.labels("in_use").set_function(pool.checkedout)
    CONNECTIONS.labels("idle").set_function(pool.checkedin)
    CONNECTION_LIMIT.set(connection_limit(store))


def connection_limit(store: Store) -> int:
    """Return the number of connections that a process with such a store may open."""
    pool = store.engine.pool
    return pool.size() + pool._max_overflow if isinstance(pool, QueuePool) else 1
