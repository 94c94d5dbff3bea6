"""Submitting an audit: price, then charge, then nothing but the charge has happened (R3).

One transaction debits the mandate, writes the charge into the ledger and puts the audit in the
queue. A retry with the same key finds it and costs nothing.
"""

from fractions import Fraction

from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, select

from api import contents, mandates
from api.audiences import uploads
from api.audits import KINDS
from api.auth.caller import Caller
from api.clock import now
from api.errors import (
    AudienceNotSealedError,
    IdempotencyConflictError,
    NotCancellableError,
    NotFoundError,
    RefusalError,
)
from api.ids import new_id
from api.ledger import append
from api.platform import Platform
from api.pricing import exact_price, facts_of, price_of
from api.store import AudienceRow, AuditRow, ChargeRow, ContentRow, MandateRow, Store
from api.store.types import as_decimal
from openapi.models import Audit, AuditRequest, Price, Quote
from privacy.price import ADD_REMOVE, CHANGE_ONE
from privacy.receipts import canonical, digest


def quote(session: Session, caller: Caller, request: AuditRequest, platform: Platform) -> Quote:
    """What it would cost and what would remain. Nothing is spent."""
    _, _, price = _priced(session, caller, request, platform)
    mandate = mandates.choose(session, caller.auditor, request.kind, request.mandate_id)
    before = mandate.epsilon_limit - mandate.spent
    after = before - Fraction(exact_price(price).debit("epsilon"))
    return Quote(
        price=price,
        mandate_id=mandate.id,
        remaining_before=as_decimal(before),
        remaining_after=as_decimal(after),
        covered=after >= 0,
    )


def submit(
    store: Store, caller: Caller, request: AuditRequest, key: str, platform: Platform
) -> Audit:
    """Charge the audit and put it in the queue, once per idempotency key."""
    try:
        with store.write() as session:
            return _submit(session, caller, request, key, platform)
    except IntegrityError:
        # Another request with this key committed first.
        with store.read() as session:
            earlier = _earlier(session, caller, key, _request_digest(request))
        if earlier is None:
            raise
        return earlier
    except RefusalError as refusal:
        with store.write() as session:
            body = {
                "by": caller.researcher_id,
                "code": refusal.code,
                "audit_kind": request.kind,
                "request": _request_digest(request),
            }
            append(session, "refusal", body, caller.auditor)
        raise


def cancel(session: Session, caller: Caller, audit_id: str) -> Audit:
    """Give the charge back, as long as no worker has begun to read."""
    row = owned(session, caller, audit_id, lock=True)
    if row.state != "charged":
        raise NotCancellableError(f"the audit is {row.state}; a charge stays once data were read")
    charge = session.exec(select(ChargeRow).where(ChargeRow.audit_id == row.id)).one()
    mandates.refund(session, row.mandate_id, charge.debit)
    charge.refunded_at = row.finished_at = now()
    row.state = "cancelled"
    session.add_all([charge, row])
    body = {"charge": charge.id, "audit": row.id, "debit": str(as_decimal(charge.debit))}
    append(session, "refund", body, row.auditor_id)
    return view(row)


def owned(session: Session, caller: Caller, audit_id: str, *, lock: bool = False) -> AuditRow:
    """The auditor's own audit; another auditor's is not there."""
    query = select(AuditRow).where(AuditRow.id == audit_id, AuditRow.auditor_id == caller.auditor)
    row = session.exec(query.with_for_update() if lock else query).first()
    if row is None:
        raise NotFoundError(f"no audit {audit_id}")
    return row


def view(row: AuditRow) -> Audit:
    return Audit(
        id=row.id,
        kind=row.kind,
        state=row.state,
        mandate_id=row.mandate_id,
        request=AuditRequest.model_validate_json(row.request),
        price=Price.model_validate_json(row.price),
        submitted_at=row.submitted_at,
        finished_at=row.finished_at,
        failure=row.failure,
    )


def _submit(
    session: Session, caller: Caller, request: AuditRequest, key: str, platform: Platform
) -> Audit:
    asked = _request_digest(request)
    if earlier := _earlier(session, caller, key, asked):
        return earlier
    # Locked, so that the audience is not erased before the charge is committed.
    content, audience, price = _priced(session, caller, request, platform, lock=True)
    mandate = mandates.choose(session, caller.auditor, request.kind, request.mandate_id, lock=True)
    if earlier := _earlier(session, caller, key, asked):
        return earlier
    mandates.debit(session, mandate, Fraction(exact_price(price).debit("epsilon")))
    row = AuditRow(
        id=new_id("audit"),
        auditor_id=caller.auditor,
        researcher_id=caller.researcher_id,
        mandate_id=mandate.id,
        content_id=content.id,
        audience_id=audience.id,
        kind=request.kind,
        state="charged",
        request=request.model_dump_json(),
        price=price.model_dump_json(),
        idempotency_key=key,
        request_digest=asked,
        submitted_at=now(),
    )
    session.add(row)
    session.flush()
    _charge(session, row, mandate, content, audience, price)
    return view(row)


def _charge(
    session: Session,
    row: AuditRow,
    mandate: MandateRow,
    content: ContentRow,
    audience: AudienceRow,
    price: Price,
) -> None:
    exact = exact_price(price)
    charge = ChargeRow(
        id=new_id("charge"),
        audit_id=row.id,
        auditor_id=row.auditor_id,
        researcher_id=row.researcher_id,
        mandate_id=mandate.id,
        audience_id=audience.id,
        audience_commitment=audience.commitment or "",
        content_digest=content.digest,
        kind=row.kind,
        add_remove=Fraction(exact.of("epsilon", ADD_REMOVE)),
        change_one=Fraction(exact.of("epsilon", CHANGE_ONE)),
        debit=Fraction(exact.debit("epsilon")),
        charged_at=row.submitted_at,
    )
    session.add(charge)
    fields = charge.model_dump(
        include={"audit_id", "researcher_id", "mandate_id", "audience_commitment", "content_digest"}
    )
    body = {
        **fields,
        "charge": charge.id,
        "audit_kind": charge.kind,
        "epsilon": price.epsilon.model_dump(mode="json"),
        "debit": str(price.debit),
        "request": row.request_digest,
    }
    append(session, "charge", body, row.auditor_id)


def _priced(
    session: Session,
    caller: Caller,
    request: AuditRequest,
    platform: Platform,
    *,
    lock: bool = False,
) -> tuple[ContentRow, AudienceRow, Price]:
    """The request's content and audience and its price, or why it cannot be asked."""
    kind = KINDS[request.kind]
    content = contents.owned(session, caller, request.content_id)
    audience = uploads.owned(session, caller, request.audience_id, lock=lock)
    if audience.state != "sealed":
        raise AudienceNotSealedError(
            f"the audience is {audience.state}: seal it first. Nothing was charged."
        )
    kind.check(request, platform)
    return content, audience, price_of(kind.question(request, facts_of(session, audience)))


def _earlier(session: Session, caller: Caller, key: str, asked: str) -> Audit | None:
    """The answer this key got before: the audit as it was when it was submitted."""
    query = select(AuditRow).where(
        AuditRow.auditor_id == caller.auditor, AuditRow.idempotency_key == key
    )
    row = session.exec(query).first()
    if row is None:
        return None
    if row.request_digest != asked:
        raise IdempotencyConflictError(
            f"this key was used for audit {row.id} with another body; nothing was charged"
        )
    return view(row).model_copy(update={"state": "charged", "finished_at": None, "failure": None})


def _request_digest(request: AuditRequest) -> str:
    return digest(canonical(request.model_dump(mode="json")))
