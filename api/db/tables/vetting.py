"""Tables: applications and their events, subjects of personal text, and webhooks."""

from datetime import datetime

from sqlalchemy import BigInteger
from sqlmodel import Column, Field, SQLModel, Text

from api.db.types import Utc


class ApplicationRow(SQLModel, table=True):
    """State of an application; its text is in the ledger entry of its newest version."""

    __tablename__ = "applications"

    id: str = Field(primary_key=True)
    state: str = Field(index=True)
    version: int
    entry: int = Field(sa_column=Column(BigInteger, nullable=False))
    principal_id: str = Field(foreign_key="researchers.id")
    auditor_id: str | None = Field(default=None, foreign_key="auditors.id")
    mandate_id: str | None = Field(default=None, foreign_key="mandates.id")
    submitted_at: datetime = Field(sa_type=Utc)
    # First moment after the period that runs in this state.
    due: datetime | None = Field(default=None, sa_type=Utc)


class IndividualRow(SQLModel, table=True):
    """A named individual of the newest version, in the order of its body."""

    __tablename__ = "application_individuals"

    application_id: str = Field(primary_key=True, foreign_key="applications.id")
    researcher_id: str = Field(primary_key=True, foreign_key="researchers.id", index=True)
    position: int


class ApplicationEventRow(SQLModel, table=True):
    """Ledger entry that changed the state of an application."""

    __tablename__ = "application_events"

    application_id: str = Field(primary_key=True, foreign_key="applications.id")
    number: int = Field(sa_column=Column(BigInteger, primary_key=True, autoincrement=False))
    state: str


class PersonalSubjectRow(SQLModel, table=True):
    """Subject of a personal text (an application, an individual), so that it can be erased."""

    __tablename__ = "personal_subjects"

    subject_id: str = Field(primary_key=True)
    commitment: str = Field(primary_key=True)


class WebhookRow(SQLModel, table=True):
    """Webhook of a person. The ledger is the queue; `after` is the newest entry pushed."""

    __tablename__ = "webhooks"

    id: str = Field(primary_key=True)
    researcher_id: str = Field(foreign_key="researchers.id", index=True)
    url: str = Field(sa_column=Column(Text, nullable=False))
    state: str
    after: int = Field(sa_column=Column(BigInteger, nullable=False))
    failures: int = 0
    failing_since: datetime | None = Field(default=None, sa_type=Utc)
    next_at: datetime = Field(sa_type=Utc)
    created_at: datetime = Field(sa_type=Utc)
