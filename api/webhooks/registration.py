"""Registration of webhooks: a few per person, to allowed addresses."""

from joserfc.jwk import OKPKey
from sqlmodel import Session, col, select

from api.db import LedgerEndRow, ResearcherRow, WebhookRow
from api.identity.caller import Caller
from api.kernel.clock import now
from api.kernel.errors import ConflictError, ForbiddenError, InvalidRequestError, NotFoundError
from api.kernel.ids import new_id
from api.webhooks.addresses import AddressError, parse, refuse_private
from api.webhooks.delivery import public_key
from openapi.resources import Webhook, WebhookDraft

MOST = 5


def check(draft: WebhookDraft, *, private: bool) -> None:
    """Refuse a URL that deliveries never reach; a name is resolved at each delivery."""
    try:
        target = parse(draft.url, private=private)
        if not private:
            refuse_private(target)
    except AddressError as error:
        raise InvalidRequestError(f"{error}. Nothing was registered.") from error


def register(session: Session, caller: Caller, draft: WebhookDraft) -> WebhookRow:
    if caller.role == "applicant":
        raise ForbiddenError("An applicant may see only the application, not ledger entries.")
    # The person is locked, so that two concurrent requests cannot exceed the limit.
    person = select(ResearcherRow).where(ResearcherRow.id == caller.researcher_id)
    session.exec(person.with_for_update()).one()
    if len(list_webhooks(session, caller)) >= MOST:
        raise ConflictError(
            f"You have {MOST} webhooks, which is the limit. Delete one first.",
            case="too-many-webhooks",
        )
    newest = session.exec(select(LedgerEndRow)).one().size - 1
    at = now()
    row = WebhookRow(
        id=new_id("webhook"),
        researcher_id=caller.researcher_id,
        url=draft.url,
        state="active",
        after=newest if draft.after is None else draft.after,
        next_at=at,
        created_at=at,
    )
    session.add(row)
    return row


def list_webhooks(session: Session, caller: Caller) -> list[WebhookRow]:
    mine = select(WebhookRow).where(WebhookRow.researcher_id == caller.researcher_id)
    return list(session.exec(mine.order_by(col(WebhookRow.id).desc())))


def delete(session: Session, caller: Caller, webhook_id: str) -> None:
    row = session.get(WebhookRow, webhook_id)
    if row is None or row.researcher_id != caller.researcher_id:
        raise NotFoundError(f"no webhook {webhook_id}")
    session.delete(row)


def to_wire(row: WebhookRow, key: OKPKey) -> Webhook:
    fields = row.model_dump(include={"id", "url", "state", "after", "failures", "created_at"})
    return Webhook(**fields, public_key=public_key(key))
