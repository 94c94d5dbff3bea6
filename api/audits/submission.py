"""Submitting an audit: price, then charge, then nothing but the charge has happened (R3).

One transaction debits all limits, writes the charge into the ledger and puts the audit in the
queue. A retry with the same key finds it and costs nothing.

All charges wait for each other. So what an audit is about is read and priced before, while nothing
is locked, and those of several auditors who wait are charged together, in one transaction
(`api.audits.queue.group_commit`). People are not read before everything else is paid (R2).
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from sqlalchemy import and_, bindparam
from sqlmodel import Session, col, select

from api.accounting import charge
from api.accounting.charge import ChargeOrder
from api.audits import queries, request_pricing
from api.audits.pricing import in_currency, is_taken
from api.audits.queue.fair_queue import Line
from api.audits.queue.group_commit import Together
from api.audits.request_pricing import About, Asked
from api.db import UNAVAILABLE, AudienceRow, AuditRow, HeadRow, MandateRow, Store, find_one, insert
from api.identity.caller import Caller
from api.kernel import failpoints
from api.kernel.errors import ApiError, IdempotencyConflictError, RefusalError
from api.kernel.failpoints import Boundary
from api.kernel.ids import new_id
from api.kernel.settings import Settings
from api.ledger import append, lock
from api.mandates import service as mandates
from api.mandates.regulator_key import regulator_key
from api.platforms.interfaces import Platform
from openapi.resources import Audit, AuditRequest
from privacy.ledger.statements import Statement
from privacy.plans.assumptions import BOUNDED_WEIGHTS
from privacy.receipts import canonical, digest
from privacy.tables.membership import BATCH

# So many are charged together at most.
_TOGETHER = 32
# Of so many it is remembered what they are about.
_KEPT = 1_024

# What may have come about since requests were looked at: their first tries, and audiences' ends.
# From the one head: audiences that are sealed, each beside all first tries that are there.
_SINCE = (
    select(AudienceRow.id, AuditRow.auditor_id, AuditRow.idempotency_key)
    .select_from(HeadRow)
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


_Books = tuple[Session, datetime]


@dataclass(frozen=True, eq=False)
class _Order:
    """A request as it was made, and what it is about, as things were before the lock."""

    caller: Caller
    request: AuditRequest
    text: str  # canonical JSON, under its digest
    digest: str
    statement: Statement
    ahead: Asked | None

    @property
    def key(self) -> tuple[str, str]:
        """What makes it the same order as an earlier one."""
        return self.caller.auditor, self.statement.key

    @property
    def members(self) -> int:
        """How many identifiers were uploaded for it."""
        return self.ahead.about.facts.members if self.ahead else 0


class Submissions:
    """Charges audits and puts them in the queue."""

    def __init__(self, store: Store, platform: Platform, settings: Settings) -> None:
        self._store, self._platform, self._settings = store, platform, settings
        self._charge = Together(self._books, self._charged, _joins, hopeless=UNAVAILABLE)
        # Read once: whether it has changed is looked at under the lock.
        self._about = lru_cache(maxsize=_KEPT)(self._read_about)

    def submit(self, caller: Caller, request: AuditRequest, statement: Statement) -> Audit:
        """Charge the audit and put it in the queue, once per idempotency key."""
        whole = canonical(request.model_dump(mode="json"))
        asked = digest(whole)
        try:
            ahead = self._ahead(caller, request)
            audit = self._charge(_Order(caller, request, whole.decode(), asked, statement, ahead))
        except RefusalError as refusal:
            body = {
                "by": caller.researcher_id,
                "code": refusal.code,
                "audit_kind": request.kind,
                "request": asked,
            }
            with self._store.write() as session:
                append(session, "refusal", body, caller.auditor)
            raise
        failpoints.reached(Boundary.CHARGE_COMMITTED)
        return audit

    def _ahead(self, caller: Caller, request: AuditRequest) -> Asked | None:
        """What the request is about, as things are. Whether it is refused is found later."""
        try:
            about = self._about(caller.auditor, request.content_ids, request.audience_id)
            return request_pricing.priced(about, request, self._platform, self._settings)
        except ApiError:
            return None

    def _read_about(self, auditor_id: str, content_ids: tuple[str, ...], audience_id: str) -> About:
        with self._store.ask() as session:
            return request_pricing.about(session, auditor_id, content_ids, audience_id)

    def _ask(self, session: Session, caller: Caller, request: AuditRequest) -> Asked:
        return request_pricing.ask(session, caller, request, self._platform, self._settings)

    @contextmanager
    def _books(self) -> Iterator[_Books]:
        """The books, locked at a moment of theirs; what is written is committed in the end."""
        with self._store.write() as session:
            yield session, lock(session)
            failpoints.reached(Boundary.CHARGE_WRITTEN)

    def _charged(self, books: _Books, orders: Sequence[_Order]) -> list[Audit]:
        """An audit for each; who was charged before gets the answer of then."""
        session, at = books
        sealed, tried = _since(session, orders)
        earlier = {order: _earlier(session, order) for order in orders if order.key in tried}
        new = [order for order in orders if order not in earlier]
        made = dict(zip(new, self._make(session, at, new, sealed), strict=True))
        return [earlier.get(order) or made[order] for order in orders]

    def _make(
        self, session: Session, at: datetime, orders: Sequence[_Order], sealed: Collection[str]
    ) -> list[Audit]:
        """New audits, charged and in the queue; the books are locked."""
        if not orders:
            return []
        # Others have held the books since these were read.
        everything = [self._asked(session, order, sealed) for order in orders]
        line = Line.found(session, self._settings)
        granted = mandates.of(session, [order.caller.auditor for order in orders], lock=True)
        bills = [
            self._bill(session, at, order, asked, line, granted[order.caller.auditor])
            for order, asked in zip(orders, everything, strict=True)
        ]
        insert(session, *(bill.audit for bill in bills))
        failpoints.reached(Boundary.BEFORE_CHARGE)
        charge.charge(session, at, bills, self._settings)
        return [
            queries.view(bill.audit, order.request, bill.price)
            for order, bill in zip(orders, bills, strict=True)
        ]

    def _asked(self, session: Session, order: _Order, sealed: Collection[str]) -> Asked:
        """What the request is about now: as it was, unless an audience has ended or was taken."""
        ahead = order.ahead
        if ahead is None or ahead.about.audience.id not in sealed:
            return self._ask(session, order.caller, order.request)
        if is_taken(session, ahead.about.audience) != ahead.about.facts.taken:
            return self._ask(session, order.caller, order.request)
        return ahead

    def _bill(
        self,
        session: Session,
        at: datetime,
        order: _Order,
        asked: Asked,
        line: Line,
        granted: Collection[MandateRow],
    ) -> ChargeOrder:
        """A place on the line, and the mandate that pays: or a refusal."""
        caller, request = order.caller, order.request
        turn = line.join(caller.auditor, asked.about.facts)
        mandate = mandates.choose(
            session,
            granted,
            request.kind,
            asked.price,
            request.mandate_id,
            at,
            researcher_id=caller.researcher_id,
        )
        if BOUNDED_WEIGHTS in asked.shown.assumes:
            regulator_key(session, mandate)
        price = in_currency(asked.shown, mandate.currency)
        charge.refuse_above_lifetime_cap(price, self._settings)
        audit = AuditRow(
            id=new_id("audit"),
            auditor_id=caller.auditor,
            researcher_id=caller.researcher_id,
            mandate_id=mandate.id,
            audience_id=asked.about.audience.id,
            kind=request.kind,
            state="charged",
            request=order.text,
            price=price.model_dump_json(),
            idempotency_key=order.statement.key,
            request_digest=order.digest,
            submitted_at=at,
            turn=turn,
        )
        audience, digests = asked.about.audience, asked.about.digests
        return ChargeOrder(audit, mandate, audience, digests, price, order.statement)


def _joins(order: _Order, others: Sequence[_Order]) -> bool:
    """Whether it may be charged with these: of another auditor each, and not too many people.

    So each has a line, mandates and keys of its own, and what is held in memory is bounded. Who
    could not be asked before is charged, or refused, alone.
    """
    return (
        all(each.ahead is not None for each in (order, *others))
        and len(others) < _TOGETHER
        and order.caller.auditor_id not in {other.caller.auditor_id for other in others}
        and order.members + sum(other.members for other in others) <= BATCH
    )


def _since(session: Session, orders: Sequence[_Order]) -> tuple[set[str], set[tuple[str, str]]]:
    """Which audiences are still sealed, and who has used which key before."""
    asked = {
        "audiences": [order.request.audience_id for order in orders],
        "auditors": [order.caller.auditor for order in orders],
        "keys": [order.statement.key for order in orders],
    }
    rows = session.connection().execute(_SINCE, asked).all()
    return {row.id for row in rows}, {(row.auditor_id, row.idempotency_key) for row in rows}


def _earlier(session: Session, order: _Order) -> Audit:
    """The answer this key got before: the audit as it was when it was submitted."""
    auditor, key = order.key
    row = find_one(session, AuditRow, auditor_id=auditor, idempotency_key=key)
    if row.request_digest != order.digest:
        raise IdempotencyConflictError(
            f"this key was used for audit {row.id} with another body; nothing was charged"
        )
    then = {"state": "charged", "finished_at": None, "failure": None}
    return queries.view(row).model_copy(update=then)
