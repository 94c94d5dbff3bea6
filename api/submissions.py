"""Submitting an audit: price, then charge, then nothing but the charge has happened (R3).

One transaction debits all limits, writes the charge into the ledger and puts the audit in the
queue. A retry with the same key finds it and costs nothing. All charges wait for each other, so
what an audit is about is read and priced before, while nothing is locked; people are not read
before everything else is paid (R2).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from sqlalchemy import Connection, bindparam, exists
from sqlmodel import Session, col, select

from api import boundaries, budgets, charging, contents, mandates, memory, turns
from api.advice import advise
from api.audiences import uploads
from api.audits import KINDS, AudienceFacts
from api.auth.caller import Caller
from api.boundaries import Boundary
from api.clock import now
from api.errors import (
    ApiError,
    AudienceNotSealedError,
    IdempotencyConflictError,
    NotCancellableError,
    NotFoundError,
    RefusalError,
)
from api.ids import new_id
from api.ledger import append, lock
from api.platform import Platform
from api.pricing import facts_of, in_currency, is_taken, price_of
from api.settings import Settings
from api.store import AudienceRow, AuditRow, ChargeRow, ContentRow, Store, find, insert
from api.store.types import as_decimal
from api.two_party.sealed_to import regulator_key
from openapi.models import (
    REQUEST,
    Audit,
    AuditRequest,
    BatchQuote,
    Currency,
    Price,
    Quote,
)
from privacy import waist
from privacy.ledger.statements import Statement
from privacy.price import Price as ExactPrice
from privacy.receipts import canonical, digest

_STATES = select(AuditRow.id, AuditRow.state).where(
    col(AuditRow.id).in_(bindparam("audits", expanding=True))
)
_STATE = select(AuditRow.state).where(
    AuditRow.id == bindparam("audit"), AuditRow.auditor_id == bindparam("auditor")
)

# What may have come about since a request was looked at: its first try, and the audience's end.
_SINCE = select(
    exists().where(
        col(AuditRow.auditor_id) == bindparam("auditor"),
        col(AuditRow.idempotency_key) == bindparam("key"),
    ),
    exists().where(
        col(AudienceRow.id) == bindparam("audience"), col(AudienceRow.state) == "sealed"
    ),
)


def quote(
    session: Session,
    caller: Caller,
    request: AuditRequest,
    platform: Platform,
    settings: Settings,
) -> Quote:
    """What it would cost and what would remain. Nothing is spent."""
    [only] = quote_all(session, caller, [request], platform, settings).quotes
    return only


def quote_all(
    session: Session,
    caller: Caller,
    requests: Sequence[AuditRequest],
    platform: Platform,
    settings: Settings,
) -> BatchQuote:
    """Several audits priced together: each sees what those before it would leave."""
    quotes, debits, taken = [], dict[Currency, Fraction](), dict[str, Fraction]()
    explored: dict[str, Fraction] = {}
    for request in requests:
        asked = _asked(session, caller, request, platform, settings)
        exact = asked.price
        mandate = mandates.choose(
            session,
            caller.auditor,
            request.kind,
            exact,
            request.mandate_id,
            now(),
            researcher_id=caller.researcher_id,
            taken=taken,
            explored=explored,
        )
        price = in_currency(asked.shown, mandate.currency)
        charging.refuse_unbearable(price, settings)
        debit, loss = Fraction(price.debit), exact.exploration_loss
        before = budgets.remaining(session, mandate, now()) - taken.get(mandate.id, Fraction(0))
        unharmed = budgets.explorable(mandate) - explored.get(mandate.id, Fraction(0))
        quotes.append(
            Quote(
                price=price,
                mandate_id=mandate.id,
                remaining_before=as_decimal(max(before, Fraction(0))),
                remaining_after=as_decimal(before - debit),
                exploration_before=as_decimal(max(unharmed, Fraction(0))),
                exploration_after=as_decimal(unharmed - loss),
                covered=before >= debit and unharmed >= loss,
                buys=max(0, min(before // debit, unharmed // loss if loss else before // debit)),
                advice=advise(request, asked.question, price),
            )
        )
        taken[mandate.id] = taken.get(mandate.id, Fraction(0)) + debit
        explored[mandate.id] = explored.get(mandate.id, Fraction(0)) + loss
        debits[mandate.currency] = debits.get(mandate.currency, Fraction(0)) + debit
    return BatchQuote(
        quotes=quotes,
        debits={currency: as_decimal(amount) for currency, amount in debits.items()},
        covered=all(quote.covered for quote in quotes),
    )


def submit(
    store: Store,
    caller: Caller,
    request: AuditRequest,
    statement: Statement,
    platform: Platform,
    settings: Settings,
) -> Audit:
    """Charge the audit and put it in the queue, once per idempotency key."""
    request_digest = digest(canonical(request.model_dump(mode="json")))
    try:
        with store.ask() as session:
            if earlier := _earlier(session, caller, statement.key, request_digest):
                return earlier
            ahead = _ahead(session, caller, request, platform, settings)
        with store.write() as session:
            at = lock(session)
            # Others have held the books since these were read.
            retried, sealed = _since(session, caller, statement.key, request.audience_id)
            if retried and (earlier := _earlier(session, caller, statement.key, request_digest)):
                return earlier
            if ahead is not None and sealed and _is_as_free(session, ahead):
                asked = ahead
            else:
                asked = _asked(session, caller, request, platform, settings)
            audit = view(
                _submit(session, at, caller, request, request_digest, statement, asked, settings)
            )
            boundaries.reached(Boundary.CHARGE_WRITTEN)
    except RefusalError as refusal:
        with store.write() as session:
            body = {
                "by": caller.researcher_id,
                "code": refusal.code,
                "audit_kind": request.kind,
                "request": request_digest,
            }
            append(session, "refusal", body, caller.auditor)
        raise
    boundaries.reached(Boundary.CHARGE_COMMITTED)
    return audit


def cancel(session: Session, caller: Caller, audit_id: str) -> Audit:
    """Give the charge back, as long as no worker has begun to read."""
    at = lock(session)
    row = owned(session, caller, audit_id, lock=True)
    if row.state != "charged":
        raise NotCancellableError(f"the audit is {row.state}; a charge stays once data were read")
    give_back(session, at, row)
    boundaries.reached(Boundary.CANCEL_WRITTEN)
    return view(row)


def give_back(session: Session, at: datetime, row: AuditRow) -> None:
    """Cancel a locked audit that no worker has begun, and refund it."""
    charge = session.exec(select(ChargeRow).where(ChargeRow.audit_id == row.id)).one()
    charging.refund(session, at, charge)
    row.state, row.finished_at = "cancelled", at
    session.add(row)
    session.flush()


def owned(session: Session, caller: Caller, audit_id: str, *, lock: bool = False) -> AuditRow:
    """The auditor's own audit; another auditor's is not there."""
    row = find(session, AuditRow, lock=lock, id=audit_id, auditor_id=caller.auditor)
    if row is None:
        raise NotFoundError(f"no audit {audit_id}")
    return row


def states(store: Store, audit_ids: Collection[str]) -> dict[str, str]:
    """Where these audits stand, whosever they are."""
    with store.look() as connection:
        return {
            row.id: row.state for row in connection.execute(_STATES, {"audits": list(audit_ids)})
        }


def state(connection: Connection, caller: Caller, audit_id: str) -> str:
    """Where the auditor's own audit stands; another auditor's is not there."""
    asked = {"audit": audit_id, "auditor": caller.auditor}
    if (found := connection.execute(_STATE, asked).scalar()) is None:
        raise NotFoundError(f"no audit {audit_id}")
    return str(found)


def view(row: AuditRow) -> Audit:
    return Audit(
        id=row.id,
        kind=row.kind,
        state=row.state,
        mandate_id=row.mandate_id,
        request=REQUEST.validate_json(row.request),
        price=Price.model_validate_json(row.price),
        submitted_at=row.submitted_at,
        finished_at=row.finished_at,
        failure=row.failure,
    )


@dataclass(frozen=True)
class _Asked:
    """A request that can be asked: what it is about, and the question it comes to."""

    contents: list[ContentRow]
    audience: AudienceRow
    facts: AudienceFacts
    question: waist.Question
    price: ExactPrice
    shown: Price  # in rho, which everything has


def _ahead(
    session: Session,
    caller: Caller,
    request: AuditRequest,
    platform: Platform,
    settings: Settings,
) -> _Asked | None:
    """What the request is about, as things are. Whether it is refused is found under the lock."""
    try:
        return _asked(session, caller, request, platform, settings)
    except ApiError:
        return None


def _since(session: Session, caller: Caller, key: str, audience_id: str) -> tuple[bool, bool]:
    """Whether there is an earlier answer to this key, and whether the audience is still sealed."""
    asked = {"auditor": caller.auditor, "key": key, "audience": audience_id}
    retried, sealed = session.connection().execute(_SINCE, asked).one()
    return bool(retried), bool(sealed)


def _is_as_free(session: Session, asked: _Asked) -> bool:
    """Whether no other audit has taken a hidden audience meanwhile."""
    return is_taken(session, asked.audience) == asked.facts.taken


def _submit(
    session: Session,
    at: datetime,
    caller: Caller,
    request: AuditRequest,
    request_digest: str,
    statement: Statement,
    asked: _Asked,
    settings: Settings,
) -> AuditRow:
    turn = turns.next_turn(session, caller.auditor, asked.facts, settings)
    exact = asked.price
    mandate = mandates.choose(
        session,
        caller.auditor,
        request.kind,
        exact,
        request.mandate_id,
        at,
        researcher_id=caller.researcher_id,
        lock=True,
    )
    if request.assumes:
        regulator_key(session, mandate)
    price = in_currency(asked.shown, mandate.currency)
    charging.refuse_unbearable(price, settings)
    row = AuditRow(
        id=new_id("audit"),
        auditor_id=caller.auditor,
        researcher_id=caller.researcher_id,
        mandate_id=mandate.id,
        audience_id=asked.audience.id,
        kind=request.kind,
        state="charged",
        request=request.model_dump_json(),
        price=price.model_dump_json(),
        idempotency_key=statement.key,
        request_digest=request_digest,
        submitted_at=at,
        turn=turn,
    )
    insert(session, row)
    boundaries.reached(Boundary.BEFORE_CHARGE)
    charging.charge(
        session,
        at,
        mandate,
        row,
        asked.audience,
        asked.contents,
        price,
        settings,
        statement,
    )
    return row


def _asked(
    session: Session, caller: Caller, request: Any, platform: Platform, settings: Settings
) -> _Asked:
    """What the request is about, or why it cannot be asked."""
    kind = KINDS[request.kind]
    about = [contents.owned(session, caller, content) for content in request.content_ids]
    audience = uploads.owned(session, caller, request.audience_id)
    if audience.state != "sealed":
        raise AudienceNotSealedError(
            f"the audience is {audience.state}: seal it first. Nothing was charged."
        )
    facts = facts_of(session, audience)
    kind.check(request, facts, platform)
    question = kind.question(request, facts)
    memory.refuse_too_large(kind, request, facts, question, settings)
    price = waist.price(question) + ExactPrice.exploration(Fraction(request.exploration_loss))
    shown = price_of(question, "rho", request.exploration_loss, request.assumes)
    return _Asked(about, audience, facts, question, price, shown)


def _earlier(session: Session, caller: Caller, key: str, asked: str) -> Audit | None:
    """The answer this key got before: the audit as it was when it was submitted."""
    row = find(session, AuditRow, auditor_id=caller.auditor, idempotency_key=key)
    if row is None:
        return None
    if row.request_digest != asked:
        raise IdempotencyConflictError(
            f"this key was used for audit {row.id} with another body; nothing was charged"
        )
    return view(row).model_copy(update={"state": "charged", "finished_at": None, "failure": None})
