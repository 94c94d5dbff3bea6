"""Tables: what auditors uploaded, and whom it reached.

`PartRow.data` and `GroupRow.people` are private. Parts are dropped when the audience is sealed,
people when it is erased. Identifiers are in no column, but for parts that the version before 0014
took in; a part's digests let a guess of the whole part be tested, until it is dropped. A part that
was accepted and is not matched yet has neither data nor tokens: its identifiers are in the memory
of the process that matches it, and nowhere else.
"""

from datetime import datetime
from typing import cast

from sqlalchemy import BigInteger
from sqlmodel import JSON, Column, Field, LargeBinary, SQLModel, Text

from api.db.types import Utc
from openapi.resources.audiences import SupportedSource


class ContentRow(SQLModel, table=True):
    __tablename__ = "contents"

    id: str = Field(primary_key=True)
    auditor_id: str = Field(foreign_key="auditors.id", index=True)
    researcher_id: str = Field(foreign_key="researchers.id")
    kind: str
    title: str
    text: str = Field(sa_column=Column(Text, nullable=False))
    attributes: dict[str, str] = Field(sa_column=Column(JSON, nullable=False))
    image: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    image_digest: str | None = None
    digest: str
    created_at: datetime = Field(sa_type=Utc)


class AudienceRow(SQLModel, table=True):
    __tablename__ = "audiences"

    id: str = Field(primary_key=True)
    auditor_id: str = Field(foreign_key="auditors.id", index=True)
    researcher_id: str = Field(foreign_key="researchers.id")
    state: str = Field(index=True)
    source: str
    groups_per_person: int
    participation_code: str | None = None
    # Whether the auditor declared that everybody agreed to be shown other recommendations.
    consented: bool = False
    # Whether the order of the upload is kept, as a two-party audit needs it.
    ordered: bool = False
    # Of an audience that is hidden: the kind of its identifiers, and the platform's public size.
    identifiers: str | None = None
    candidates: int | None = None
    commitment: str | None = None
    created_at: datetime = Field(sa_type=Utc)
    sealed_at: datetime | None = Field(default=None, sa_type=Utc)
    # An open audience is erased when it was not touched for a while, a sealed one some time after
    # its last release.
    expires_at: datetime = Field(sa_type=Utc, index=True)

    @property
    def source_for_kinds(self) -> SupportedSource:
        """Return the source by which kinds of audit say what they support."""
        return "confirmed" if self.participation_code else cast("SupportedSource", self.source)


class GroupRow(SQLModel, table=True):
    __tablename__ = "audience_groups"

    audience_id: str = Field(primary_key=True, foreign_key="audiences.id")
    label: str = Field(primary_key=True)
    # How many identifiers were uploaded, or people drawn: known to the auditor.
    members: int = 0
    # The number of people to be scored where it is public, else None.
    known_size: int | None = None
    # Sorted person numbers, little-endian int64; None until sealed and after erasure.
    people: bytes | None = Field(default=None, sa_column=Column(LargeBinary))


class PartRow(SQLModel, table=True):
    __tablename__ = "audience_parts"

    audience_id: str = Field(primary_key=True, foreign_key="audiences.id")
    label: str = Field(primary_key=True)
    number: int = Field(primary_key=True)
    kind: str
    rows: int
    digest: str
    # Whom each identifier found, in their order: little-endian int64, negative for nobody. Of a
    # part without tokens, which the version before 0014 kept: an Arrow stream of identifiers.
    data: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    # The digest of its tokens (`privacy.commitment`), and their sketch.
    tokens: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    sketch: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    # Until it is matched: the token of the process that does, and the public time when it will be.
    claim: str | None = None
    due_at: datetime | None = Field(default=None, sa_type=Utc)


class MatchingQuotaRow(SQLModel, table=True):
    """Identifiers that were matched for an auditor on one day (UTC), parts sent again included."""

    __tablename__ = "matching_quotas"

    auditor_id: str = Field(primary_key=True, foreign_key="auditors.id")
    day: str
    identifiers: int = Field(sa_column=Column(BigInteger, nullable=False))
