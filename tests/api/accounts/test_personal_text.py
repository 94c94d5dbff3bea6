"""Personal text: kept once, found by what it is about, and gone after erasure."""

from collections.abc import Iterator

import pytest
from sqlmodel import Session, select

from api.accounts import personal_text
from api.db import PersonalRow, PersonalSubjectRow, Store
from api.kernel.ids import new_id
from openapi.resources import MandateStateDraft, Personal
from privacy.ledger import statements


@pytest.fixture
def session(store: Store) -> Iterator[Session]:
    """A transaction that is never committed."""
    with Session(store.engine) as session:
        yield session


def draft(text: Personal) -> MandateStateDraft:
    return MandateStateDraft(mandate_id=new_id("mandate"), reason=text)


def test_a_text_is_kept_once_however_often_it_is_sent(session: Session) -> None:
    text = Personal.fresh("Ada was here")
    for _ in range(2):
        personal_text.store_texts(session, draft(text), "application_1", "researcher_1")
    session.flush()
    [row] = session.exec(select(PersonalRow)).all()
    assert row.text == "Ada was here"
    assert row.commitment == statements.commit(row.text, row.salt)
    assert len(session.exec(select(PersonalSubjectRow)).all()) == 2


def test_commitments_are_found_in_a_body_however_deep() -> None:
    body = {
        "name": {"commitment": "sha256:a"},
        "list": [{"deep": {"commitment": "sha256:b"}}, "text", 1, None],
        "jwk": {"commitment": "not alone", "kty": "OKP"},
    }
    assert list(personal_text.list_commitments(body)) == ["sha256:a", "sha256:b"]


def test_what_is_erased_about_one_is_erased_for_all(session: Session) -> None:
    shared, own = Personal.fresh("both"), Personal.fresh("only mine")
    personal_text.store_texts(session, draft(shared), "application_2", "researcher_2")
    personal_text.store_texts(session, draft(own), "researcher_2")
    session.flush()
    erased = personal_text.erase_texts(session, "application_2")
    assert len(erased) == 1
    assert personal_text.erase_texts(session, "application_2") == []
    remaining = personal_text.erase_texts(session, "researcher_2")
    assert len(remaining) == 1
    assert remaining != erased
    assert personal_text.load_texts(session, [*erased, *remaining]) == {}
