"""The audits that a claim takes, and the few blocks that it reads before a vacuum."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

from api.audits.queue import fair_queue, leases
from api.audits.queue.heartbeats import SILENCE
from api.db import AuditRow, Store
from api.kernel.clock import now
from api.platforms.interfaces import Platform
from bench.hosted import Hosted, first_regulator, hosted_on, vetted
from tests.conftest import new_postgresql

ENDED = 3_000
_COPIES = text("""
    INSERT INTO audits (id, auditor_id, researcher_id, mandate_id, audience_id, kind, state,
        request, price, idempotency_key, request_digest, submitted_at, claims, attempts, stopped,
        turn)
    SELECT id || n, auditor_id, researcher_id, mandate_id, audience_id, kind, 'charged', request,
        price, idempotency_key || n, request_digest, submitted_at, 0, 0, false, turn
    FROM audits, generate_series(1, :ended) AS n
""")


def blocks_of_a_claim(store: Store) -> int:
    """Return the number of blocks that PostgreSQL reads to claim one audit."""
    asked = {"token": "t", "until": now(), "now": now(), "share": 4}
    asked |= {"latest": now() + fair_queue.LONGEST_LEASE, "heard": now() - SILENCE}
    claim = fair_queue._TAKE.compile(dialect=store.engine.dialect)
    # The kinds that no worker runs are a list, whose length is known when the statement runs.
    whole = claim.construct_expanded_state(asked)
    explained = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + whole.statement
    with store.engine.connect() as connection:
        plan: Any = connection.exec_driver_sql(explained, dict(whole.parameters)).scalar_one()
        connection.rollback()
    assert plan[0]["Plan"]["Actual Rows"] == 1
    return int(plan[0]["Plan"]["Shared Hit Blocks"])


@pytest.fixture
def host(postgresql: str, platform: Platform) -> Iterator[Hosted]:
    with hosted_on(new_postgresql(postgresql), platform) as host:
        yield host


def test_a_claim_does_not_look_at_what_has_ended(host: Hosted) -> None:
    store, settings = host.service.store, host.service.settings
    request, _ = host.sealed(np.arange(20))
    host.audit(request)
    with store.engine.begin() as connection:
        connection.execute(text("ALTER TABLE audits SET (autovacuum_enabled = false)"))
        connection.execute(_COPIES, {"ended": ENDED})
    for state in ("running", "released"):
        with store.engine.begin() as connection:
            those = "UPDATE audits SET state = :state WHERE state <> 'released'"
            connection.execute(text(those), {"state": state})
    # The first claim skips it once.
    host.audit(request)
    host.submit(request)
    assert blocks_of_a_claim(store) < ENDED / 30
    # Nor does it for an audit that another worker has left.
    left = leases.claim_next(store, settings)
    assert left is not None
    leases.release_lease(store, [left], now())
    assert blocks_of_a_claim(store) < ENDED / 30


def test_what_was_left_does_not_stand_before_lower_places(host: Hosted) -> None:
    """As audits that explore are, between two batches: others would never be served."""
    store, settings = host.service.store, host.service.settings
    request, _ = host.sealed(np.arange(20))
    other = vetted(host.service, first_regulator(host.service))
    theirs, _ = other.sealed(np.arange(20))
    host.submit(request)
    left = leases.claim_next(store, settings)
    assert left is not None
    leases.release_lease(store, [left], now())
    other.submit(theirs)
    with store.write() as session:
        row = session.get_one(AuditRow, left.id)
        row.turn += 10
        session.add(row)
    first, second = leases.claim_next(store, settings), leases.claim_next(store, settings)
    assert first is not None
    assert first.auditor_id == other.auditor.auditor_id
    assert second is not None
    assert second.id == left.id
