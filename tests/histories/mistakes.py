"""Five mistakes, each of which the checker must find.

A mistake is made in the child process that has it, before it starts. Only this harness knows them.
Each leaves a mark once its code has run: a mistake that nobody makes proves nothing.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from sqlmodel import Session, col, func, select

from api.audits import cancellation, queries
from api.audits.queue import leases
from api.audits.submission import AuditSubmission
from api.db import ReleaseRow, Store
from api.identity.caller import Caller
from api.kernel import failpoints
from api.kernel.failpoints import Failpoint
from api.kernel.settings import Settings, load_settings
from api.ledger import lock
from auditor_client.audits.client import Audits
from auditor_client.errors import ConnectionBrokenError
from auditor_client.local.pending_claims import Claim
from openapi.resources import Audit, AuditRequest
from tests.faults import mutants
from tests.histories.plan import Breaks

put = mutants.put
# Seconds for which a charge that was acknowledged is not committed.
LATE = 0.4
_MARK = "mistake-was-made"


def was_made(folder: Path) -> bool:
    """Return whether the code of the mistake has run in a history of this folder."""
    return (folder / _MARK).exists()


def _mark(folder: Path) -> None:
    (folder / _MARK).touch()


def lease_never_expires(folder: Path) -> None:
    """An audit of a dead worker is never claimed again."""
    mutants.lease_without_end({})
    endless = leases.lease_expiry

    def lease(settings: Any) -> Any:
        _mark(folder)
        return endless(settings)

    put(leases, "lease_expiry", lease)


def answer_before_commit(folder: Path) -> None:
    """A submission is acknowledged when its charge is written, and committed a little later."""
    submit, charged, reached = AuditSubmission.submit, AuditSubmission._charge_batch, failpoints.hit
    waiting: dict[str, Future[Audit]] = {}

    def tell(self: AuditSubmission, locked: Any, orders: Sequence[Any]) -> list[Audit]:
        audits = charged(self, locked, orders)
        for order, audit in zip(orders, audits, strict=True):
            waiting.pop(order.statement.key, Future()).set_result(audit)
        return audits

    def early(self: AuditSubmission, caller: Caller, request: Any, statement: Any) -> Audit:
        answer = waiting.setdefault(statement.key, Future())

        def later() -> None:
            try:
                submit(self, caller, request, statement)
            except Exception as error:  # a refusal, or what the answer came too early for
                if not answer.done():
                    answer.set_exception(error)

        threading.Thread(target=later, daemon=True).start()
        return answer.result()

    def wait(boundary: Failpoint) -> None:
        reached(boundary)
        if boundary is Failpoint.CHARGE_WRITTEN:
            _mark(folder)
            threading.Event().wait(LATE)

    put(AuditSubmission, "_charge_batch", tell)
    put(AuditSubmission, "submit", early)
    failpoints.hit = wait


def release_drawn_again(folder: Path) -> None:
    """A process that starts runs again what was released before."""
    settings = load_settings(folder / "settings.toml")
    store = Store(settings.database_url)
    with store.read() as session:
        released = session.exec(select(func.count(col(ReleaseRow.audit_id)))).one()
    store.close()
    if released:
        _mark(folder)
    mutants.noise_drawn_again({"database_url": settings.database_url})


def refund_twice(folder: Path) -> None:
    """A cancellation that is repeated refunds its charge again."""

    def cancel(session: Session, caller: Caller, audit_id: str, settings: Settings) -> Audit:
        at = lock(session)
        row = queries.get_owned(session, caller, audit_id, lock=True)
        if row.state == "cancelled":
            _mark(folder)
            row.state = "charged"
            cancellation.give_back(session, at, row, settings)
            return queries.to_wire(row)
        return right(session, caller, audit_id, settings)

    right = cancellation.cancel
    put(cancellation, "cancel", cancel)


def retry_without_key(folder: Path) -> None:
    """The SDK sends a submission that got no answer again under another key."""
    submit = Audits._submit

    def forgetful(self: Audits, request: AuditRequest, claim: Claim) -> Audit:
        try:
            return submit(self, request, claim)
        except ConnectionBrokenError:
            _mark(folder)
            changes = {"key": f"{claim.record.key}-again", "signature": None}
            return submit(self, request, Claim(claim.record.model_copy(update=changes)))

    put(Audits, "_submit", forgetful)


OF_SERVICES: dict[str | None, Callable[[Path], None]] = {
    mistake.__name__: mistake
    for mistake in (lease_never_expires, answer_before_commit, release_drawn_again, refund_twice)
}
OF_CLIENTS: dict[str | None, Callable[[Path], None]] = {
    retry_without_key.__name__: retry_without_key
}
# The faults of a small history in which each mistake shows.
FAULTS: dict[str, tuple[Breaks, ...]] = {
    "lease_never_expires": (Breaks.KILL_AT_WORK, Breaks.KILL_WORKER),
    "answer_before_commit": (Breaks.KILL_SERVER, Breaks.LOSE_ANSWERS),
    "release_drawn_again": (Breaks.KILL_SERVER, Breaks.KILL_WORKER, Breaks.KILL_SERVER),
    "refund_twice": (Breaks.HANG_PLATFORM, Breaks.HANG_PLATFORM, Breaks.LOSE_ANSWERS),
    "retry_without_key": (Breaks.LOSE_ANSWERS, Breaks.CUT_ANSWERS),
}
