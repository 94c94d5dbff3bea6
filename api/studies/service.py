"""Studies, registered by their digest: the ledger entry is the only record of them."""

import json

from sqlmodel import Session, col, select
from sqlmodel.sql.expression import SelectOfScalar

from api.db import EntryRow, Store
from api.identity.caller import Caller
from api.ledger import append, lock
from api.ledger.signed_requests import SignedRequest
from api.web.pagination import page
from openapi.resources import Page, Registration, RegistrationDraft

KIND = "registration"


def register_study(
    store: Store, caller: Caller, draft: RegistrationDraft, signed: SignedRequest
) -> Registration:
    """Record the digest; only the first registration by an auditor counts."""
    with store.write() as session:
        at = lock(session)
        statement = signed.statement(session, caller, KIND, draft)
        same = _registrations(caller).where(col(EntryRow.text).contains(draft.digest))
        entry = session.exec(same.order_by(col(EntryRow.number))).first()
        if entry is None:
            entry = append(session, KIND, {}, caller.auditor, statement, at=at)
        return to_wire(entry)


def list_studies(
    session: Session, caller: Caller, cursor: int | None = None, limit: int = 50
) -> Page[Registration]:
    """Return the registered studies of the caller's auditor, newest first."""
    return page(session, _registrations(caller), EntryRow.number, to_wire, cursor, limit)


def _registrations(caller: Caller) -> SelectOfScalar[EntryRow]:
    return select(EntryRow).where(EntryRow.kind == KIND, EntryRow.auditor_id == caller.auditor)


def to_wire(row: EntryRow) -> Registration:
    statement = json.loads(row.text)["statement"]
    return Registration(
        digest=statement["body"]["digest"], by=statement["by"], entry=row.number, at=row.at
    )
