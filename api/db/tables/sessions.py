"""Tables: console sessions, and the codes that open them. They hold digests, not secrets."""

from datetime import datetime

from sqlmodel import Field, SQLModel

from api.db.types import Utc


class SignInCodeRow(SQLModel, table=True):
    """A code that opens one session; deleted when it is used."""

    __tablename__ = "sign_in_codes"

    digest: str = Field(primary_key=True)
    researcher_id: str = Field(foreign_key="researchers.id", index=True)
    expires_at: datetime = Field(sa_type=Utc, index=True)


class ConsoleSessionRow(SQLModel, table=True):
    """A signed-in browser, valid while its researcher keeps the key of the sign-in."""

    __tablename__ = "console_sessions"

    digest: str = Field(primary_key=True)
    researcher_id: str = Field(foreign_key="researchers.id", index=True)
    key_thumbprint: str | None
    expires_at: datetime = Field(sa_type=Utc, index=True)
