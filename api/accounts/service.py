"""Registration of auditors and of the researchers who act for them."""

from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from api.accounts import personal_text
from api.db import AuditorRow, ResearcherRow
from api.identity.key_policy import validate_public_jwk
from api.kernel.clock import now
from api.kernel.errors import ConflictError, InvalidRequestError, NotFoundError
from api.kernel.ids import new_id
from api.ledger import append
from openapi.resources import Auditor, AuditorDraft, Researcher, ResearcherDraft
from privacy.ledger.statements import Statement


def register_auditor(session: Session, draft: AuditorDraft, statement: Statement) -> Auditor:
    row = AuditorRow(id=new_id("auditor"), name=draft.name, created_at=now())
    session.add(row)
    append(session, "auditor", {"auditor_id": row.id}, row.id, statement)
    return auditor_to_wire(row)


def register_researcher(
    session: Session, draft: ResearcherDraft, statement: Statement | None
) -> Researcher:
    """Register an individual, on a regulator's statement or, at set-up, by the operator."""
    _check(session, draft)
    jwk, thumbprint = validate_public_jwk(draft.jwk) if draft.jwk else (None, None)
    row = ResearcherRow(
        id=new_id("researcher"),
        jwk=jwk,
        key_thumbprint=thumbprint,
        created_at=now(),
        name=draft.name.text,
        **draft.model_dump(exclude={"jwk", "name"}),
    )
    session.add(row)
    try:
        session.flush()
    except IntegrityError as error:
        raise ConflictError("This key or outside subject is registered already.") from error
    facts = {
        "researcher_id": row.id,
        "role": row.role,
        "jwk": jwk,
        "key_thumbprint": thumbprint,
        **({} if statement else {"by": "init"}),
    }
    personal_text.store_texts(session, draft, row.id)
    append(session, "researcher", facts, row.auditor_id, statement)
    return researcher_to_wire(row)


def auditor_to_wire(row: AuditorRow) -> Auditor:
    return Auditor(**row.model_dump())


def researcher_to_wire(row: ResearcherRow) -> Researcher:
    return Researcher(**row.model_dump(exclude={"jwk", "outside_subject"}))


def _check(session: Session, draft: ResearcherDraft) -> None:
    if (draft.role == "auditor") != (draft.auditor_id is not None):
        raise InvalidRequestError("Only a researcher has an auditor_id, and must have one.")
    if draft.jwk is None and draft.outside_subject is None:
        raise InvalidRequestError("A public key or an outside subject is required.")
    if draft.auditor_id and session.get(AuditorRow, draft.auditor_id) is None:
        raise NotFoundError(f"There is no auditor {draft.auditor_id}.")
