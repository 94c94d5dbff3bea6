"""Tables: packages that add kinds of audit, as the operator checked them."""

from datetime import datetime

from sqlmodel import Field, SQLModel

from api.db.types import Utc


class KindCheckRow(SQLModel, table=True):
    """Last successful check of a kind: the package and the digest of all its files.

    `found` is JSON: the result of the search for each table, and the claim of the kind.
    """

    __tablename__ = "kind_checks"

    kind: str = Field(primary_key=True)
    package: str
    version: str
    digest: str
    found: str
    checked_at: datetime = Field(sa_type=Utc)
