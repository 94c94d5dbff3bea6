"""Tables: two-party audits. What is kept of a run is what was said, and that is encrypted."""

from datetime import datetime

from sqlalchemy import BigInteger
from sqlmodel import Column, Field, LargeBinary, SQLModel, Text

from api.db.types import Utc


class OrderRow(SQLModel, table=True):
    """People found by the identifiers of an upload, in its order. Private.

    Little-endian int64, -1 where it found nobody; dropped when the audience is erased.
    """

    __tablename__ = "audience_orders"

    audience_id: str = Field(primary_key=True, foreign_key="audiences.id")
    persons: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class RunRow(SQLModel, table=True):
    """The run of a two-party audit: which one may answer, and once it has, what became of it."""

    __tablename__ = "two_party_runs"

    audit_id: str = Field(primary_key=True, foreign_key="audits.id")
    # The name of the run that is under way. Only it can answer; a new run takes its place.
    run: str
    terms: str = Field(sa_column=Column(Text, nullable=False))
    # The regulator's public key (its `x`) that the auditor was told to seal to.
    sealed_to: str = ""
    begun_at: datetime = Field(sa_type=Utc)
    # Set once, together with everything below: then the sums of this charge exist.
    answered_at: datetime | None = Field(default=None, sa_type=Utc)
    transcript: str | None = None
    # The release without its time and receipt, to be signed when it is delivered.
    release: str | None = Field(default=None, sa_column=Column(Text))
    # The number of the ledger's entry of the answer.
    entry: int | None = Field(default=None, sa_column=Column(BigInteger))
    # Whether a regulator opened it and found nothing.
    opened: bool = False


class MessageRow(SQLModel, table=True):
    """One message of the run that answered, from 0 on, by the auditor and the platform in turn."""

    __tablename__ = "two_party_messages"

    audit_id: str = Field(primary_key=True, foreign_key="two_party_runs.audit_id")
    number: int = Field(primary_key=True)
    body: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
