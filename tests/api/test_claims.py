"""A claim looks at what waits and at what runs, however much has ended since the last vacuum."""

from typing import Any

import numpy as np
from sqlalchemy import text

from api import claims, turns
from api.clock import now
from api.operation.presence import SILENCE
from api.platform import Platform
from api.store import Store
from bench.hosted import hosted_on
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
    """How many blocks PostgreSQL looks at to claim one audit, which nobody keeps."""
    asked = {"token": "t", "until": now(), "now": now(), "share": 4}
    asked |= {"latest": now() + turns.LONGEST_LEASE, "heard": now() - SILENCE}
    claim = turns._TAKE.compile(dialect=store.engine.dialect)
    explained = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + claim.string
    with store.engine.connect() as connection:
        plan: Any = connection.exec_driver_sql(explained, claim.params | asked).scalar_one()
        connection.rollback()
    assert plan[0]["Plan"]["Actual Rows"] == 1
    return int(plan[0]["Plan"]["Shared Hit Blocks"])


def test_a_claim_does_not_look_at_what_has_ended(postgresql: str, platform: Platform) -> None:
    with hosted_on(new_postgresql(postgresql), platform) as host:
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
        host.submit(request)
        # It is stepped over once, by whoever comes first.
        first = claims.take(store, settings)
        assert first is not None
        claims.leave(store, [first], now())
        assert blocks_of_a_claim(store) < ENDED / 30
