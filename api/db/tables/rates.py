"""Tables: token buckets that all processes share."""

from datetime import datetime

from sqlmodel import Field, SQLModel

from api.db.types import Utc


class RateBucketRow(SQLModel, table=True):
    """A bucket as it was last drawn from; `name` is a keyed digest of its caller.

    A bucket that is full again is dropped: none is the same as a full one. Only PostgreSQL has
    rows here.
    """

    __tablename__ = "rate_buckets"

    name: str = Field(primary_key=True)
    # Negative while processes have lent more than there was.
    tokens: float
    drawn_at: datetime = Field(sa_type=Utc)
    full_at: datetime = Field(sa_type=Utc, index=True)
