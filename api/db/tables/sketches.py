"""Table: sketches of uploads, to detect near-identical audiences. Erased with their audience."""

from sqlmodel import Column, Field, LargeBinary, SQLModel


class SketchRow(SQLModel, table=True):
    """Keyed hashes of a few of the uploaded identifiers: see `privacy.sketch`."""

    __tablename__ = "audience_sketches"

    audience_id: str = Field(primary_key=True, foreign_key="audiences.id")
    # Sorted little-endian uint64, at most `privacy.sketch.SIZE` of them.
    hashes: bytes = Field(sa_column=Column(LargeBinary, nullable=False))
