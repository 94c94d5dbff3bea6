"""Tables: uploads of auditors, and the people that they found.

`PartRow.data` and `GroupRow.people` are private. Parts are deleted when the audience is sealed,
people when it is erased. No column has identifiers, except in parts from versions before 0014. A
part's digests let somebody test a guess of the whole part, until the part is deleted. A part that
was accepted and is not matched yet has neither data nor tokens. Its identifiers are in the memory
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
    # For a hidden audience: the kind of its identifiers, and the platform's public size.
    identifiers: str | None = None
    candidates: int | None = None
    commitment: str | None = None
    created_at: datetime = Field(sa_type=Utc)
    sealed_at: datetime | None = Field(default=None, sa_type=Utc)
    # An open audience is erased when it was not changed for a while, a sealed one some time after
    # its last release.
    expires_at: datetime = Field(sa_type=Utc, index=True)

    @property
    def source_for_kinds(self) -> SupportedSource:
        """Return the source, in the terms in which kinds of audit state their support."""
        return "confirmed" if self.participation_code else cast("SupportedSource", self.source)


class GroupRow(SQLModel, table=True):
    __tablename__ = "audience_groups"

    audience_id: str = Field(primary_key=True, foreign_key="audiences.id")
    label: str = Field(primary_key=True)
    # Number of identifiers uploaded, or of people drawn: known to the auditor.
    members: int = 0
    # Number of people to be scored if it is public, otherwise None.
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
    # The person that each identifier found, in order: little-endian int64, negative for nobody. In
    # a part without tokens, from a version before 0014: an Arrow stream of identifiers.
    data: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    # The digest of its tokens (`privacy.commitment`), and their sketch.
    tokens: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    sketch: bytes | None = Field(default=None, sa_column=Column(LargeBinary))
    # Until it is matched: the token of the process that matches it, and the public time of the
    # result.
    claim: str | None = None
    due_at: datetime | None = Field(default=None, sa_type=Utc)


class MatchingQuotaRow(SQLModel, table=True):
    """Identifiers matched for an auditor on one day (UTC), including parts that were sent again."""

    __tablename__ = "matching_quotas"

    auditor_id: str = Field(primary_key=True, foreign_key="auditors.id")
    day: str
    identifiers: int = Field(sa_column=Column(BigInteger, nullable=False))
