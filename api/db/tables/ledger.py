"""Tables: the ledger, its tree and its checkpoints, and the personal text that may be erased."""

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
    """End of the ledger, which every append locks first: entries follow the commit order."""

    __tablename__ = "ledger_head"

    id: int = Field(primary_key=True)
    size: int = Field(sa_column=Column(BigInteger, nullable=False))
    # Time of the ledger: it never runs backwards, whatever the clocks do.
    latest: datetime = Field(sa_type=Utc)


class TreeHashRow(SQLModel, table=True):
    """Hash of a complete subtree of 256**level leaves; level 0 is stored with the entries."""

    __tablename__ = "ledger_tree"

    level: int = Field(primary_key=True)
    number: int = Field(sa_column=Column(BigInteger, primary_key=True, autoincrement=False))
    hash: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class CheckpointRow(SQLModel, table=True):
    """A checkpoint (C2SP), with its cosignatures."""

    __tablename__ = "checkpoints"

    size: int = Field(sa_column=Column(BigInteger, primary_key=True, autoincrement=False))
    note: str = Field(sa_column=Column(Text, nullable=False))
    at: datetime = Field(sa_type=Utc)
    # Whether an export must include it: a witness cosigned it, or it hands trust to a new key.
    lasting: bool = Field(default=False, index=True)


class StatementRow(SQLModel, table=True):
    """A statement that was made: nobody can repeat it in its maker's name."""

    __tablename__ = "statements"

    by: str = Field(primary_key=True)
    key: str = Field(primary_key=True)
    number: int = Field(sa_column=Column(BigInteger, nullable=False))


class PersonalRow(SQLModel, table=True):
    """Text about people to which the ledger only commits; it can be erased alone."""

    __tablename__ = "personal_texts"

    commitment: str = Field(primary_key=True)
    salt: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
    text: str = Field(sa_column=Column(Text, nullable=False))
    kept_at: datetime = Field(sa_type=Utc)
