"""Accounts and keys: change of one's own key, removal, and erasure of personal text."""

from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from api.accounts import personal_text
from api.db import ApplicationRow, ResearcherRow
from api.identity.caller import Caller
from api.identity.key_policy import validate_public_jwk
from api.kernel.errors import ConflictError, NotFoundError, UnsignedError
from api.ledger import append, lock
from api.vetting import individuals
from openapi.resources import Erasure, ErasureDraft, KeyChangeDraft, Me, RemovalDraft
from privacy.errors import EvidenceError
from privacy.ledger import key_possession
from privacy.ledger.statements import Statement

ERASED = "erased"


def get_account(session: Session, caller: Caller) -> Me:
    row = session.get_one(ResearcherRow, caller.researcher_id)
    return Me(**row.model_dump(exclude={"outside_subject", "removed_at"}))


def change_key(
    session: Session, caller: Caller, draft: KeyChangeDraft, statement: Statement, origin: str
) -> Me:
    """Register a new key, with a statement signed by the old one and a proof by the new one."""
    at = lock(session)
    if caller.role == "applicant":
        raise ConflictError(
            "An applicant's key changes with a new version of the application.",
            case="key-of-an-applicant",
        )
    row = session.get_one(ResearcherRow, caller.researcher_id)
    jwk, thumbprint = validate_public_jwk(dict(draft.jwk))
    _check_proof(draft, row.id, origin)
    facts = {"researcher_id": row.id, "key_thumbprint": thumbprint}
    append(session, "researcher-key", facts, row.auditor_id, statement, at=at)
    row.jwk, row.key_thumbprint = jwk, thumbprint
    session.add(row)
    try:
        session.flush()
    except IntegrityError as error:
        raise ConflictError("This key is registered already.", case="registered-already") from error
    return get_account(session, caller)


def remove(
    session: Session, caller: Caller, draft: RemovalDraft, statement: Statement
) -> ResearcherRow:
    """Remove an individual's access: their tokens stop working at once."""
    at = lock(session)
    row = session.get(ResearcherRow, draft.researcher_id)
    if row is None:
        raise NotFoundError(f"no researcher {draft.researcher_id}")
    if row.removed_at is not None:
        raise ConflictError("This individual was removed already.", case="removed-already")
    if row.role == "applicant":
        raise ConflictError(
            "An applicant has no access that could be removed. Refuse the application instead.",
            case="nothing-to-remove",
        )
    if row.id == caller.researcher_id:
        raise ConflictError(
            "You cannot remove yourself: another regulator must do it.",
            case="removal-of-oneself",
        )
    row.removed_at = at
    session.add(row)
    personal_text.store_texts(session, draft, row.id)
    append(session, "researcher-removal", {}, row.auditor_id, statement, at=at)
    return row


def erase(session: Session, draft: ErasureDraft, statement: Statement) -> Erasure:
    """Erase the personal text of an application or an individual; commitments stay."""
    at = lock(session)
    people, auditor_id = _concerned(session, draft.subject_id)
    commitments = personal_text.erase_texts(session, draft.subject_id)
    for row in people:
        row.name = ERASED
        session.add(row)
    append(session, "erasure", {"commitments": commitments}, auditor_id, statement, at=at)
    return Erasure(subject_id=draft.subject_id, commitments=commitments)


def _concerned(session: Session, subject_id: str) -> tuple[list[ResearcherRow], str | None]:
    """Return the people named in the text; applicants belong to their application."""
    if application := session.get(ApplicationRow, subject_id):
        people = individuals.load_individuals(session, application.id)
        return [row for row in people if row.role == "applicant"], application.auditor_id
    if person := session.get(ResearcherRow, subject_id):
        return [person], person.auditor_id
    raise NotFoundError(f"no application or researcher {subject_id}")


def _check_proof(draft: KeyChangeDraft, researcher_id: str, origin: str) -> None:
    try:
        proved = key_possession.key_change_bytes(origin, researcher_id, draft.jwk)
        key_possession.check(draft.proof, proved, draft.jwk)
    except EvidenceError as error:
        raise UnsignedError(
            f"The proof is not by the new key: {error}. Nothing was done.", case="key-not-proven"
        ) from error
