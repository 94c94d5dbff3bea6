"""Studies, registered by their digest: the entry in the ledger is all there is of them."""

import json

from sqlmodel import Session, col, select
from sqlmodel.sql.expression import SelectOfScalar

from api.db import EntryRow
from api.identity.caller import Caller
from api.ledger import append, lock
from openapi.resources import Registration, RegistrationDraft
from privacy.ledger.statements import Statement

KIND = "registration"


def register(
    session: Session, caller: Caller, draft: RegistrationDraft, statement: Statement
) -> Registration:
    """Write the digest down; the first time an auditor registers it is the one that counts."""
    at = lock(session)
    same = of(caller).where(col(EntryRow.text).contains(draft.digest))
    entry = session.exec(same.order_by(col(EntryRow.number))).first()
    if entry is None:
        entry = append(session, KIND, {}, caller.auditor, statement, at=at)
    return view(entry)


def of(caller: Caller) -> SelectOfScalar[EntryRow]:
    """The registrations of the caller's auditor."""
    return select(EntryRow).where(EntryRow.kind == KIND, EntryRow.auditor_id == caller.auditor)


def view(row: EntryRow) -> Registration:
    statement = json.loads(row.text)["statement"]
    return Registration(
        digest=statement["body"]["digest"], by=statement["by"], entry=row.number, at=row.at
    )
