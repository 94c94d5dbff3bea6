"""Audits that must fail because an error was raised after their noise was drawn (R3).

A mark is in memory from that moment until the failure is committed, however long the database is
unavailable. A process that has marked an audit draws no noise on its charge. If the process dies in
between, the mark is lost. docs/explanation/guarantee.md says why that does not depend on the draw.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from api.db import UNAVAILABLE, Store

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Mark:
    """Function that commits the failure, and its database."""

    store: Store
    write: Callable[[], object]


_marks: dict[str, _Mark] = {}
_lock = threading.Lock()


def mark(store: Store, audit_id: str, write: Callable[[], object]) -> None:
    """Mark the audit as one that must fail; `write` commits the failure."""
    with _lock:
        _marks[audit_id] = _Mark(store, write)


def is_marked(audit_id: str) -> bool:
    with _lock:
        return audit_id in _marks


def finish(audit_id: str) -> bool:
    """Commit the failure of this audit; return whether it was marked."""
    with _lock:
        found = _marks.get(audit_id)
    if found is None:
        return False
    found.write()
    with _lock:
        if _marks.get(audit_id) is found:
            del _marks[audit_id]
    return True


def finish_all(store: Store) -> None:
    """Commit all failures of this database; a failure that cannot be written keeps its mark."""
    with _lock:
        mine = [audit_id for audit_id, each in _marks.items() if each.store is store]
    for audit_id in mine:
        try:
            finish(audit_id)
        except UNAVAILABLE:
            raise
        # the other failures are still written; this audit stays marked, so no noise is drawn
        except Exception:
            log.exception("audit.unfinished", extra={"audit": audit_id})
