"""Audits that must fail because something raised after their noise was drawn (R3).

A mark is in memory from that moment until the failure is committed, however long the database is
unavailable. A process that has marked an audit draws no noise on its charge. If the process dies
meanwhile the mark is gone; docs/explanation/guarantee.md says why that does not depend on the draw.
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
    """Note that the audit must fail, which `write` commits."""
    with _lock:
        _marks[audit_id] = _Mark(store, write)


def is_marked(audit_id: str) -> bool:
    with _lock:
        return audit_id in _marks


def finish(audit_id: str) -> bool:
    """Commit the failure of this audit; return whether there was one to commit."""
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
    """Commit all failures of this database; one that cannot be written keeps its mark."""
    with _lock:
        mine = [audit_id for audit_id, each in _marks.items() if each.store is store]
    for audit_id in mine:
        try:
            finish(audit_id)
        except UNAVAILABLE:
            raise
        except Exception:  # the others go on; nothing is drawn on this one
            log.exception("audit.unfinished", extra={"audit": audit_id})
