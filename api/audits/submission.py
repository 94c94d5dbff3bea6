"""Submission of an audit: its price, then its charge; nothing private is read yet (R3).

One transaction debits all limits, writes the charge into the ledger and puts the audit in the
queue. A retry with the same key finds the audit and costs nothing.

All charges wait for the ledger lock. So the subject of an audit is read and priced before, without
a lock. Charges of several auditors that wait are committed in one transaction
(`api.audits.queue.group_commit`). People are not read before everything else is paid (R2).
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial

from sqlalchemy import and_, bindparam
from sqlmodel import Session, col, select

from api.accounting import charge
from api.accounting.charge import ChargeOrder
from api.audits import queries, request_pricing
from api.audits.pricing import has_running_audit, require_currency
from api.audits.queue.backlog import Backlog
from api.audits.queue.fair_queue import QueueSnapshot
from api.audits.queue.group_commit import GroupCommit
from api.audits.request_pricing import AuditSubject, PricedRequest
from api.audits.states import FIRST
from api.db import (
    UNAVAILABLE,
    AudienceRow,
    AuditRow,
    LedgerEndRow,
    MandateRow,
    Store,
    find_one,
    insert,
)
from api.identity.caller import Caller
from api.kernel import failpoints
from api.kernel.errors import ApiError, IdempotencyConflictError, RefusalError
from api.kernel.failpoints import Failpoint
from api.kernel.ids import new_id
from api.kernel.settings import Settings
from api.kinds.registry import PayingMandate, platform_kind
from api.ledger import append, lock
from api.mandates import service as mandates
from api.mandates.regulator_key import load_regulator_key
from api.platforms.interfaces import Platform
from openapi.resources import Audit, AuditRequest
from privacy.ledger.statements import Statement
from privacy.receipts import canonical, digest
from privacy.tables.membership import BATCH

# Maximum number of charges in one group commit.
_MAX_BATCH = 32
# Maximum number of cached subjects of requests.
_SUBJECT_CACHE_SIZE = 1_024

# Changes since these requests were priced: audiences that are no longer sealed, and earlier
# submissions with the same key. The join starts from the single row of `LedgerEndRow`. It yields
# the audiences that are still sealed, each with all earlier submissions.
_CHANGES_SINCE_PRICING = (
    select(AudienceRow.id, AuditRow.auditor_id, AuditRow.idempotency_key)
    .select_from(LedgerEndRow)
    .outerjoin(
        AudienceRow,
        and_(
            col(AudienceRow.id).in_(bindparam("audiences", expanding=True)),
            col(AudienceRow.state) == "sealed",
        ),
    )
    .outerjoin(
        AuditRow,
        and_(
            col(AuditRow.auditor_id).in_(bindparam("auditors", expanding=True)),
            col(AuditRow.idempotency_key).in_(bindparam("keys", expanding=True)),
        ),
    )
)


_LockedLedger = tuple[Session, datetime]


@dataclass(frozen=True, eq=False)
class _Submission:
    """A request as it was submitted, with its subject and price as they were before the lock."""

    caller: Caller
    request: AuditRequest
    text: str  # canonical JSON, whose digest follows
    digest: str
    statement: Statement
    ahead: PricedRequest | None

    @property
    def key(self) -> tuple[str, str]:
        """Return the key that identifies a repeated submission."""
        return self.caller.auditor, self.statement.key

    @property
    def members(self) -> int:
        """Return the number of identifiers in the upload of its audience."""
        return self.ahead.subject.facts.members if self.ahead else 0


class AuditSubmission:
    """Charges audits and puts them in the queue."""

    def __init__(
        self, store: Store, platform: Platform, settings: Settings, backlog: Backlog | None = None
    ) -> None:
        self._store, self._platform, self._settings = store, platform, settings
        self._backlog = backlog or Backlog()
        self._charge = GroupCommit(
            self._locked_ledger, self._charge_batch, _can_batch_with, fatal=UNAVAILABLE
        )
        # The subject is cached; `_revalidate` checks under the lock whether it has changed.
        self._load_subject = lru_cache(maxsize=_SUBJECT_CACHE_SIZE)(self._read_subject)

    def submit(self, caller: Caller, request: AuditRequest, statement: Statement) -> Audit:
        """Charge the audit and put it in the queue, once per idempotency key."""
        whole = canonical(request.model_dump(mode="json"))
        priced = digest(whole)
        try:
            ahead = self._price_optimistically(caller, request)
            audit = self._charge(
                _Submission(caller, request, whole.decode(), priced, statement, ahead)
            )
        except RefusalError as refusal:
            body = {
                "by": caller.researcher_id,
                "code": refusal.code,
                "audit_kind": request.kind,
                "request": priced,
            }
            with self._store.write() as session:
                append(session, "refusal", body, caller.auditor)
            raise
        failpoints.hit(Failpoint.CHARGE_COMMITTED)
        return audit

    def _price_optimistically(self, caller: Caller, request: AuditRequest) -> PricedRequest | None:
        """Price the request without a lock; a refusal is decided later, under the lock."""
        try:
            subject = self._load_subject(caller.auditor, request.content_ids, request.audience_id)
            return request_pricing.price_request(subject, request, self._platform, self._settings)
        except ApiError:
            return None

    def _read_subject(
        self, auditor_id: str, content_ids: tuple[str, ...], audience_id: str
    ) -> AuditSubject:
        with self._store.autocommit_session() as session:
            return request_pricing.load_subject(session, auditor_id, content_ids, audience_id)

    def _resolve(self, session: Session, caller: Caller, request: AuditRequest) -> PricedRequest:
        return request_pricing.resolve(session, caller, request, self._platform, self._settings)

    @contextmanager
    def _locked_ledger(self) -> Iterator[_LockedLedger]:
        """Hold the ledger lock, and commit on exit."""
        with self._store.write() as session:
            yield session, lock(session)
            failpoints.hit(Failpoint.CHARGE_WRITTEN)

    def _charge_batch(self, locked: _LockedLedger, orders: Sequence[_Submission]) -> list[Audit]:
        """Return one audit per submission; a repeated key gets its original response."""
        session, at = locked
        sealed, tried = _changes_since_pricing(session, orders)
        earlier = {
            order: _original_response(session, order) for order in orders if order.key in tried
        }
        new = [order for order in orders if order not in earlier]
        made = dict(zip(new, self._charge_new(session, at, new, sealed), strict=True))
        return [earlier.get(order) or made[order] for order in orders]

    def _charge_new(
        self, session: Session, at: datetime, orders: Sequence[_Submission], sealed: Collection[str]
    ) -> list[Audit]:
        """Charge and enqueue new audits under the ledger lock."""
        if not orders:
            return []
        # Prices were computed without the lock, so each is checked again.
        everything = [self._revalidate(session, order, sealed) for order in orders]
        queue = QueueSnapshot.load(session, self._settings)
        granted = mandates.load_for_auditors(
            session, [order.caller.auditor for order in orders], lock=True
        )
        bills = [
            self._charge_order(session, at, order, priced, queue, granted[order.caller.auditor])
            for order, priced in zip(orders, everything, strict=True)
        ]
        self._backlog.record(queue.waiting)
        insert(session, *(bill.audit for bill in bills))
        failpoints.hit(Failpoint.BEFORE_CHARGE)
        charge.charge(session, at, bills, self._settings)
        return [
            queries.to_wire(bill.audit, order.request, bill.price)
            for order, bill in zip(orders, bills, strict=True)
        ]

    def _revalidate(
        self, session: Session, order: _Submission, sealed: Collection[str]
    ) -> PricedRequest:
        """Return the price, after checking that the audience has not ended or been taken."""
        ahead = order.ahead
        if ahead is None or ahead.subject.audience.id not in sealed:
            return self._resolve(session, order.caller, order.request)
        if has_running_audit(session, ahead.subject.audience) != ahead.subject.facts.taken:
            return self._resolve(session, order.caller, order.request)
        return ahead

    def _charge_order(
        self,
        session: Session,
        at: datetime,
        order: _Submission,
        priced: PricedRequest,
        queue: QueueSnapshot,
        granted: Collection[MandateRow],
    ) -> ChargeOrder:
        """Enqueue the audit and select the mandate that pays; raise if either is refused."""
        caller, request = order.caller, order.request
        position = queue.enqueue(caller.auditor, priced.subject.facts)
        mandate = mandates.select_payer(
            session,
            granted,
            request.kind,
            priced.price,
            request.mandate_id,
            at,
            researcher_id=caller.researcher_id,
        )
        if before_charge := platform_kind(request.kind).before_charge:
            before_charge(request, PayingMandate(partial(load_regulator_key, session, mandate)))
        price = require_currency(priced.shown, mandate.currency)
        charge.refuse_above_lifetime_cap(price, self._settings, request)
        audit = AuditRow(
            id=new_id("audit"),
            auditor_id=caller.auditor,
            researcher_id=caller.researcher_id,
            mandate_id=mandate.id,
            audience_id=priced.subject.audience.id,
            kind=request.kind,
            state=FIRST,
            request=order.text,
            price=price.model_dump_json(),
            idempotency_key=order.statement.key,
            request_digest=order.digest,
            submitted_at=at,
            turn=position,
        )
        audience, digests = priced.subject.audience, priced.subject.digests
        return ChargeOrder(audit, mandate, audience, digests, price, order.statement)


def _can_batch_with(order: _Submission, others: Sequence[_Submission]) -> bool:
    """Return whether a submission may be charged in one batch with these others.

    Each must come from another auditor, and together they may have at most `BATCH` identifiers. So
    no two share a queue position, a mandate or a key, and the memory is bounded. A submission that
    could not be priced before the lock is charged, or refused, alone.
    """
    return (
        all(each.ahead is not None for each in (order, *others))
        and len(others) < _MAX_BATCH
        and order.caller.auditor_id not in {other.caller.auditor_id for other in others}
        and order.members + sum(other.members for other in others) <= BATCH
    )


def _changes_since_pricing(
    session: Session, orders: Sequence[_Submission]
) -> tuple[set[str], set[tuple[str, str]]]:
    """Return the audiences that are still sealed, and the keys that were used before."""
    priced = {
        "audiences": [order.request.audience_id for order in orders],
        "auditors": [order.caller.auditor for order in orders],
        "keys": [order.statement.key for order in orders],
    }
    rows = session.connection().execute(_CHANGES_SINCE_PRICING, priced).all()
    return {row.id for row in rows}, {(row.auditor_id, row.idempotency_key) for row in rows}


def _original_response(session: Session, order: _Submission) -> Audit:
    """Return the original response to this key: the audit as it was when it was submitted."""
    auditor, key = order.key
    row = find_one(session, AuditRow, auditor_id=auditor, idempotency_key=key)
    if row.request_digest != order.digest:
        raise IdempotencyConflictError(
            f"This key was used for audit {row.id} with another body. Nothing was charged."
        )
    then = {"state": "charged", "finished_at": None, "failure": None}
    return queries.to_wire(row).model_copy(update=then)
