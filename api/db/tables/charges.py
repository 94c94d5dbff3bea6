"""Tables: mandates, audits, charges and releases."""

from datetime import datetime
from fractions import Fraction

from sqlalchemy import BigInteger, Index, UniqueConstraint
from sqlmodel import JSON, Column, Field, LargeBinary, SQLModel, Text

from api.db.types import Pico, Utc
from openapi.resources import Currency


class MandateRow(SQLModel, table=True):
    __tablename__ = "mandates"

    id: str = Field(primary_key=True)
    auditor_id: str = Field(foreign_key="auditors.id", index=True)
    granted_by: str = Field(foreign_key="researchers.id")
    purpose: str = Field(sa_column=Column(Text, nullable=False))
    kinds: list[str] = Field(sa_column=Column(JSON, nullable=False))
    # Researchers who may spend it; None means all researchers of the auditor.
    researcher_ids: list[str] | None = Field(default=None, sa_column=Column(JSON))
    state: str = "active"
    # One of the two limits is set, which determines the currency of all amounts of this mandate.
    epsilon_limit: Fraction | None = Field(default=None, sa_column=Column(Pico))
    rho_limit: Fraction | None = Field(default=None, sa_column=Column(Pico))
    delta: str | None = None
    renewal: str | None = None
    renewal_days: int | None = None
    lifetime_limit: Fraction | None = Field(default=None, sa_column=Column(Pico))
    spent: Fraction = Field(sa_column=Column(Pico, nullable=False))
    # For a limit that renews at fixed times: the number of the period, and its spent amount.
    period: int = 0
    period_spent: Fraction = Field(sa_column=Column(Pico, nullable=False))
    # Reward that people may lose, and the charged part of it: for the mandate's whole life.
    exploration_limit: Fraction = Field(default=Fraction(0), sa_column=Column(Pico, nullable=False))
    exploration_spent: Fraction = Field(default=Fraction(0), sa_column=Column(Pico, nullable=False))
    # The share of two-party runs that a regulator opens before they are delivered.
    opened_share: Fraction = Field(default=Fraction(1), sa_column=Column(Pico, nullable=False))
    valid_from: datetime = Field(sa_type=Utc)
    valid_until: datetime = Field(sa_type=Utc)
    created_at: datetime = Field(sa_type=Utc)

    @property
    def currency(self) -> Currency:
        return "epsilon" if self.epsilon_limit is not None else "rho"

    def allows(self, researcher_id: str) -> bool:
        return self.researcher_ids is None or researcher_id in self.researcher_ids

    @property
    def limit(self) -> Fraction:
        return self.epsilon_limit or self.rho_limit or Fraction(0)


class AuditRow(SQLModel, table=True):
    """An audit is also the job that runs it: a worker holds the lease while it is `running`."""

    __tablename__ = "audits"
    __table_args__ = (
        UniqueConstraint("auditor_id", "idempotency_key"),
        # Workers take the first of the waiting audits.
        Index("ix_audits_state_turn", "state", "turn"),
    )

    id: str = Field(primary_key=True)
    auditor_id: str = Field(foreign_key="auditors.id")
    researcher_id: str = Field(foreign_key="researchers.id")
    mandate_id: str = Field(foreign_key="mandates.id")
    audience_id: str = Field(foreign_key="audiences.id", index=True)
    kind: str
    state: str
    request: str = Field(sa_column=Column(Text, nullable=False))
    price: str = Field(sa_column=Column(Text, nullable=False))
    idempotency_key: str
    request_digest: str
    submitted_at: datetime = Field(sa_type=Utc)
    finished_at: datetime | None = Field(default=None, sa_type=Utc)
    failure: str | None = None
    # Number of claims by workers, and of failed attempts; both are limited.
    claims: int = 0
    attempts: int = 0
    claim: str | None = None
    # Whether somebody stopped it: its worker learns of it before the next batch.
    stopped: bool = False
    lease_until: datetime | None = Field(default=None, sa_type=Utc)
    # Its position in the queue: `api.audits.queue.fair_queue`.
    turn: int = Field(default=0, sa_column=Column(BigInteger, nullable=False))


class ChargeRow(SQLModel, table=True):
    __tablename__ = "charges"
    # A rolling budget is the sum of a mandate's charges since some time.
    __table_args__ = (Index("ix_charges_mandate_id_charged_at", "mandate_id", "charged_at"),)

    id: str = Field(primary_key=True)
    audit_id: str = Field(foreign_key="audits.id", unique=True)
    auditor_id: str = Field(foreign_key="auditors.id", index=True)
    researcher_id: str = Field(foreign_key="researchers.id")
    mandate_id: str = Field(foreign_key="mandates.id")
    audience_id: str = Field(index=True)
    audience_commitment: str
    content_digests: list[str] = Field(sa_column=Column(JSON, nullable=False))
    kind: str
    price: str = Field(sa_column=Column(Text, nullable=False))
    currency: str
    # Debit of the mandate, in its currency, and the period in which it counts.
    debit: Fraction = Field(sa_column=Column(Pico, nullable=False))
    period: int = 0
    # Debit of the platform's account, and of everybody in the audience within the cap.
    rho: Fraction = Field(sa_column=Column(Pico, nullable=False))
    # Reward that people may lose by being shown something else, in units of reward.
    exploration_loss: Fraction = Field(default=Fraction(0), sa_column=Column(Pico, nullable=False))
    # Digest that binds the charge to the people it debits (`api.accounting.people_digest`). None:
    # nobody was recorded. Empty: charged before migration 0015. In both cases nobody is read or
    # refunded.
    people_digest: bytes | None = Field(default=None, sa_column=Column(LargeBinary), repr=False)
    charged_at: datetime = Field(sa_type=Utc, index=True)
    refunded_at: datetime | None = Field(default=None, sa_type=Utc)


class CourseRow(SQLModel, table=True):
    """Steps that an exploring audit has done so far. Private, and deleted when it ends."""

    __tablename__ = "courses"

    audit_id: str = Field(primary_key=True, foreign_key="audits.id")
    begun_at: datetime = Field(sa_type=Utc)
    state: bytes | None = Field(default=None, sa_column=Column(LargeBinary))


class ReleaseRow(SQLModel, table=True):
    """Bytes of a release: a retry is answered with these and no others (R3)."""

    __tablename__ = "releases"

    audit_id: str = Field(primary_key=True, foreign_key="audits.id")
    body: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    digest: str
    # Number of its entry in the ledger.
    entry: int = Field(sa_column=Column(BigInteger, nullable=False))
    released_at: datetime = Field(sa_type=Utc)
