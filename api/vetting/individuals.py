"""Named individuals of an application, who become researchers when it is approved."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlmodel import Session, col, delete, select

from api.accounts import personal_text
from api.db import ApplicationRow, IndividualRow, ResearcherRow
from api.identity.key_policy import validate_public_jwk
from api.kernel.errors import ConflictError, InvalidRequestError, UnsignedError
from api.kernel.ids import new_id
from openapi.resources import ApplicationDraft, IndividualDraft
from privacy.errors import EvidenceError
from privacy.ledger import key_possession


def admit(session: Session, draft: ApplicationDraft, at: datetime) -> list[ResearcherRow]:
    """Return the individuals in the body's order.

    Unknown ones become applicants, with few rights.
    """
    people = [_admit(session, individual, at) for individual in draft.individuals]
    if len({row.id for row in people}) < len(people):
        raise InvalidRequestError(
            "Each individual needs a key of their own. Nothing was done.", case="shared-key"
        )
    return people


def check_proofs(draft: ApplicationDraft, stated: Mapping[str, Any], origin: str) -> None:
    """Raise unless everybody except the principal, who signs, proves to hold the key named here."""
    for number, individual in enumerate(draft.individuals):
        if individual is draft.principal:
            continue
        try:
            proved = key_possession.application_bytes(origin, stated, individual.jwk)
            key_possession.check(individual.proof, proved, individual.jwk)
        except EvidenceError as error:
            raise UnsignedError(
                f"individuals.{number} has not agreed to this application: {error}. Have them run "
                "`auditor application agree FILE`. Nothing was done.",
                case="not-agreed",
            ) from error


def replace_individuals(
    session: Session, application: ApplicationRow, people: Sequence[ResearcherRow]
) -> None:
    """Make these the individuals of the application."""
    of_it = IndividualRow.application_id == application.id
    session.exec(delete(IndividualRow).where(of_it))  # type: ignore[arg-type]
    session.add_all(
        IndividualRow(application_id=application.id, researcher_id=row.id, position=position)
        for position, row in enumerate(people)
    )
    session.flush()


def load_individuals(session: Session, application_id: str) -> list[ResearcherRow]:
    query = (
        select(ResearcherRow)
        .join(IndividualRow, col(IndividualRow.researcher_id) == col(ResearcherRow.id))
        .where(IndividualRow.application_id == application_id)
        .order_by(col(IndividualRow.position))
    )
    return list(session.exec(query))


def promote(session: Session, people: Sequence[ResearcherRow], auditor_id: str) -> None:
    """Make applicants researchers of the auditor; those who are already are unchanged."""
    for row in people:
        if row.removed_at is not None:
            raise ConflictError(
                f"{row.id} was removed. Request a version without them.", case="removed-individual"
            )
        if row.auditor_id not in (None, auditor_id):
            raise ConflictError(
                f"{row.id} is a researcher of another auditor, {row.auditor_id}.",
                case="researcher-of-another-auditor",
            )
        row.role, row.auditor_id = "auditor", auditor_id
        session.add(row)


def state_individuals(people: Sequence[ResearcherRow]) -> list[dict[str, str | None]]:
    return [{"researcher_id": row.id, "key_thumbprint": row.key_thumbprint} for row in people]


def keep_texts(session: Session, draft: ApplicationDraft, people: Sequence[ResearcherRow]) -> None:
    """Store texts about an individual for that person too."""
    for individual, row in zip(draft.individuals, people, strict=True):
        personal_text.store_texts(session, individual, row.id)


def _admit(session: Session, individual: IndividualDraft, at: datetime) -> ResearcherRow:
    jwk, thumbprint = validate_public_jwk(dict(individual.jwk))
    query = select(ResearcherRow).where(ResearcherRow.key_thumbprint == thumbprint)
    row = session.exec(query).first()
    if row is None:
        row = ResearcherRow(
            id=new_id("researcher"),
            name=individual.name.text,
            role="applicant",
            jwk=jwk,
            key_thumbprint=thumbprint,
            created_at=at,
        )
        session.add(row)
        session.flush()
    if row.removed_at is not None:
        raise ConflictError(
            "An individual with one of these keys was removed. Nothing was done.", case="removed"
        )
    if row.role not in ("applicant", "auditor"):
        raise ConflictError(
            f"One of these keys belongs to a {row.role}, who cannot apply.", case="not-an-applicant"
        )
    return row
