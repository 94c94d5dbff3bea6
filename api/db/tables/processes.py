"""Tables: the running processes of this deployment."""

from datetime import datetime
from typing import Any

from sqlmodel import JSON, Column, Field, SQLModel

from api.db.types import Utc


class ProcessRow(SQLModel, table=True):
    """A process with its last report; deleted when the process ends in order."""

    __tablename__ = "processes"

    id: str = Field(primary_key=True)
    host: str
    pid: int
    version: str
    # Whether it answers requests, and whether it runs audits.
    serves: bool
    works: bool
    started_at: datetime = Field(sa_type=Utc)
    seen_at: datetime = Field(sa_type=Utc, index=True)
    figures: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
