"""Personal text: stored so that it can be erased, and found by its commitment and its subjects."""

from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel
from sqlmodel import Session, col, delete, select

from api.db import PersonalRow, PersonalSubjectRow
from api.kernel.clock import now
from privacy.ledger import statements


def store_texts(session: Session, draft: BaseModel, *subject_ids: str) -> None:
    """Store the personal text of a request with its subjects; existing text is not changed."""
    for commitment, salt, text in statements.personal_texts(draft.model_dump(mode="json")):
        if session.get(PersonalRow, commitment) is None:
            session.add(PersonalRow(commitment=commitment, salt=salt, text=text, kept_at=now()))
        for subject_id in subject_ids:
            store_subject(session, subject_id, commitment)


def store_subject(session: Session, subject_id: str, commitment: str) -> None:
    """Record the subject of a text."""
    if session.get(PersonalSubjectRow, (subject_id, commitment)) is None:
        session.add(PersonalSubjectRow(subject_id=subject_id, commitment=commitment))
        session.flush()


def list_commitments(body: Any) -> Iterable[str]:
    """Yield every commitment in a statement's body."""
    if isinstance(body, Mapping):
        if body.keys() == {"commitment"}:
            yield body["commitment"]
        for value in body.values():
            yield from list_commitments(value)
    elif isinstance(body, list):
        for value in body:
            yield from list_commitments(value)


def load_texts(session: Session, commitments: Iterable[str]) -> dict[str, str]:
    """Return the texts of these commitments that still exist."""
    query = select(PersonalRow).where(col(PersonalRow.commitment).in_(set(commitments)))
    return {row.commitment: row.text for row in session.exec(query)}


def open_texts(session: Session, body: Any) -> Any:
    """Return a statement's body with text and salt in place of commitments.

    Raise KeyError if one is gone.
    """
    found = set(list_commitments(body))
    query = select(PersonalRow).where(col(PersonalRow.commitment).in_(found))
    kept = {row.commitment: row for row in session.exec(query)}

    def put_back(value: Any) -> Any:
        if isinstance(value, Mapping) and value.keys() == {"commitment"}:
            row = kept[value["commitment"]]
            return {"text": row.text, "salt": urlsafe_b64encode(row.salt).decode()}
        if isinstance(value, Mapping):
            return {name: put_back(each) for name, each in value.items()}
        return [put_back(each) for each in value] if isinstance(value, list) else value

    return put_back(body)


def erase_texts(session: Session, subject_id: str) -> list[str]:
    """Erase every text about this subject; return the commitments of the erased texts."""
    about = select(PersonalSubjectRow.commitment).where(PersonalSubjectRow.subject_id == subject_id)
    found = sorted(session.exec(about))
    there = sorted(load_texts(session, found))
    session.exec(delete(PersonalRow).where(col(PersonalRow.commitment).in_(there)))
    return there
