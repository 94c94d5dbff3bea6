"""Tables: the ledger, its tree and its signed heads, and the personal text that may be erased."""

from datetime import datetime

from sqlalchemy import BigInteger
from sqlmodel import Column, Field, LargeBinary, SQLModel, Text

from api.db.types import Utc


class EntryRow(SQLModel, table=True):
    """One entry: its bytes (canonical JSON), numbered without gaps, never changed."""

    __tablename__ = "ledger"

    number: int = Field(sa_column=Column(BigInteger, primary_key=True, autoincrement=False))
    kind: str = Field(index=True)
    auditor_id: str | None = Field(default=None, index=True)
    text: str = Field(sa_column=Column(Text, nullable=False))
    leaf: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    at: datetime = Field(sa_type=Utc)


class LedgerEndRow(SQLModel, table=True):
    """The ledger's end, locked first by everything that appends: entries follow commit order."""

    __tablename__ = "ledger_head"

    id: int = Field(primary_key=True)
    size: int = Field(sa_column=Column(BigInteger, nullable=False))
    # The ledger's time: it never runs backwards, whatever the clocks do.
    latest: datetime = Field(sa_type=Utc)


class TreeHashRow(SQLModel, table=True):
    """The hash of a complete subtree of 256**level leaves; level 0 is kept with the entries."""

    __tablename__ = "ledger_tree"

    level: int = Field(primary_key=True)
    number: int = Field(sa_column=Column(BigInteger, primary_key=True, autoincrement=False))
    hash: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class CheckpointRow(SQLModel, table=True):
    """A signed head (C2SP checkpoint), with the cosignatures it has gathered."""

    __tablename__ = "checkpoints"

    size: int = Field(sa_column=Column(BigInteger, primary_key=True, autoincrement=False))
    note: str = Field(sa_column=Column(Text, nullable=False))
    at: datetime = Field(sa_type=Utc)
    # Whether an export must hold it: a witness cosigned it, or it hands trust to a new key.
    lasting: bool = Field(default=False, index=True)


class StatementRow(SQLModel, table=True):
    """A statement that was made: its maker cannot be made to say it twice."""

    __tablename__ = "statements"

    by: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    number: int = Field(sa_column=Column(BigInteger, nullable=False))


class PersonalRow(SQLModel, table=True):
    """Text about people that the ledger only commits to; erased on its own."""

    __tablename__ = "personal_texts"

    commitment: str = Field(primary_key=True)
    salt: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    text: str = Field(sa_column=Column(Text, nullable=False))
    kept_at: datetime = Field(sa_type=Utc)
