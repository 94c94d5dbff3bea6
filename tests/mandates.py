"""A mandate by itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from fractions import Fraction

from sqlalchemy import create_engine
from sqlmodel import Session

from api.db import MandateRow
from api.kernel.clock import now


@contextmanager
def mandate_of(limit: Fraction) -> Iterator[tuple[Session, MandateRow]]:
    """In a database that has nothing else."""
    row = MandateRow(
        id="mandate",
        auditor_id="auditor",
        granted_by="regulator",
        purpose="test",
        kinds=["score-histogram"],
        epsilon_limit=limit,
        spent=Fraction(0),
        period_spent=Fraction(0),
        valid_from=now(),
        valid_until=now() + timedelta(days=1),
        created_at=now(),
    )
    engine = create_engine("sqlite://")
    MandateRow.metadata.create_all(engine, tables=[MandateRow.metadata.tables["mandates"]])
    with Session(engine) as session:
        session.add(row)
        session.flush()
        yield session, row
    engine.dispose()
