"""Tables: auditors, researchers, signing keys, and used or revoked credentials."""

from datetime import datetime
from typing import Any

from sqlmodel import JSON, Column, Field, SQLModel, Text

from api.db.types import Utc


class AuditorRow(SQLModel, table=True):
    """A vetted research organisation: it owns resources and holds mandates."""

    __tablename__ = "auditors"

    id: str = Field(primary_key=True)
    name: str
    created_at: datetime = Field(sa_type=Utc)


class ResearcherRow(SQLModel, table=True):
    """A named individual with a key; also a regulator's or an operator's staff, by role."""

    __tablename__ = "researchers"

    id: str = Field(primary_key=True)
    name: str
    role: str
    auditor_id: str | None = Field(default=None, foreign_key="auditors.id", index=True)
    jwk: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON))
    key_thumbprint: str | None = Field(default=None, unique=True)
    outside_subject: str | None = Field(default=None, unique=True)
    created_at: datetime = Field(sa_type=Utc)
    removed_at: datetime | None = Field(default=None, sa_type=Utc)


class SigningKeyRow(SQLModel, table=True):
    """A signing key of the service; the private part is sealed (JWE) under the operator's key."""

    __tablename__ = "signing_keys"

    kid: str = Field(primary_key=True)
    purpose: str = Field(index=True)
    public_jwk: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    sealed_jwk: str = Field(sa_column=Column(Text, nullable=False))
    created_at: datetime = Field(sa_type=Utc)
    retired_at: datetime | None = Field(default=None, sa_type=Utc)


class UsedAssertionRow(SQLModel, table=True):
    """A client assertion that was used: its jti cannot be used again."""

    __tablename__ = "used_assertions"

    researcher_id: str = Field(primary_key=True)
    jti: str = Field(primary_key=True)
    expires_at: datetime = Field(sa_type=Utc, index=True)


class RevokedTokenRow(SQLModel, table=True):
    """An access token that was revoked before it expired."""

    __tablename__ = "revoked_tokens"

    jti: str = Field(primary_key=True)
    expires_at: datetime = Field(sa_type=Utc, index=True)
