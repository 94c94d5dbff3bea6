"""Tables: token buckets that all processes share."""

from datetime import datetime

from sqlmodel import Field, SQLModel

from api.db.types import Utc


class RateBucketRow(SQLModel, table=True):
    """A bucket after its last draw; `name` is a keyed digest of its caller.

    A bucket that is full again is deleted, because a missing bucket counts as full. Only PostgreSQL
    has rows here.
    """

    __tablename__ = "rate_buckets"

    name: str = Field(primary_key=True)
    # Negative while processes have lent more than there was.
    tokens: float
    drawn_at: datetime = Field(sa_type=Utc)
    full_at: datetime = Field(sa_type=Utc, index=True)
