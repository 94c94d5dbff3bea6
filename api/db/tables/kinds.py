"""Tables: packages that add kinds of audit, as the operator checked them."""

from datetime import datetime

from sqlmodel import Field, SQLModel

from api.db.types import Utc


class KindCheckRow(SQLModel, table=True):
    """The last check of a kind that held: the package and the digest of all its files.

    `found` is JSON: what the search found for each table, and what the kind claims.
    """

    __tablename__ = "kind_checks"

    kind: str = Field(primary_key=True)
    package: str
    version: str
    digest: str
    found: str
    checked_at: datetime = Field(sa_type=Utc)
