"""Tables: two-party audits. The stored messages of a run are encrypted."""

from datetime import datetime

from sqlalchemy import BigInteger
from sqlmodel import Column, Field, LargeBinary, SQLModel, Text

from api.db.types import Utc


class OrderRow(SQLModel, table=True):
    """People found by the identifiers of an upload, in order. Private.

    Little-endian int64, -1 for an identifier that found nobody; deleted when the audience is
    erased.
    """

    __tablename__ = "audience_orders"

    audience_id: str = Field(primary_key=True, foreign_key="audiences.id")
    persons: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class RunRow(SQLModel, table=True):
    """Run of a two-party audit: the one that may answer and, after its answer, the result."""

    __tablename__ = "two_party_runs"

    audit_id: str = Field(primary_key=True, foreign_key="audits.id")
    # The name of the run that is under way. Only it can answer; a new run replaces it.
    run: str
    terms: str = Field(sa_column=Column(Text, nullable=False))
    # The regulator's public key (its `x`) to which the auditor had to seal.
    sealed_to: str = ""
    begun_at: datetime = Field(sa_type=Utc)
    # Set once, together with everything below: from then on the sums of this charge exist.
    answered_at: datetime | None = Field(default=None, sa_type=Utc)
    transcript: str | None = None
    # The release without its time and receipt, which is signed at delivery.
    release: str | None = Field(default=None, sa_column=Column(Text))
    # Number of the ledger entry of the answer.
    entry: int | None = Field(default=None, sa_column=Column(BigInteger))
    # Whether a regulator opened it without a finding.
    opened: bool = False


class MessageRow(SQLModel, table=True):
    """One message of the answered run, from 0 on, by the auditor and the platform alternately."""

    __tablename__ = "two_party_messages"

    audit_id: str = Field(primary_key=True, foreign_key="two_party_runs.audit_id")
    number: int = Field(primary_key=True)
    body: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
