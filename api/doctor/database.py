"""Checks of the database: there, durable, of the right schema, and with the whole ledger in it."""

from alembic.migration import MigrationContext
from sqlalchemy import text
from sqlmodel import func, select

from api.doctor.patient import Patient
from api.findings import Checks, SkippedError
from api.ledger.checkpoints import latest
from api.ledger.tree import tree
from api.store import EntryRow, HeadRow
from api.store.schema import revisions
from privacy.ledger.notes import Checkpoint, Note

DATABASE = Checks[Patient]()
# What a committed charge needs so that no crash undoes it (R3).
_DURABLE = ("fsync", "full_page_writes", "synchronous_commit")


@DATABASE.check("start it, or mend database_url")
def database_answers(patient: Patient) -> str | None:
    if patient.is_sqlite and not patient.file.exists():
        return "there is no such file"
    with patient.store.read() as session:
        return None if session.execute(text("SELECT 1")).scalar_one() == 1 else "it does not count"


@DATABASE.check("take back what makes it faster and forgetful: a charge must survive any crash")
def commits_are_durable(patient: Patient) -> str | None:
    if patient.is_sqlite:
        raise SkippedError("every connection to SQLite is told to be: WAL and FULL")
    with patient.store.read() as session:
        found = {name: session.execute(text(f"SHOW {name}")).scalar_one() for name in _DURABLE}
    # More than `on`, such as remote_apply, waits for more.
    weak = [f"{name} is {value}" for name, value in found.items() if value in ("off", "local")]
    return ", ".join(weak) or None


@DATABASE.check("connect to the primary: a copy cannot be written to")
def database_can_be_written(patient: Patient) -> str | None:
    with patient.store.write() as session:
        if not patient.is_sqlite and session.execute(text("SELECT pg_is_in_recovery()")).scalar():
            return "it is a copy of another one"
        session.execute(text("UPDATE ledger_head SET size = size"))
        session.rollback()
    return None


@DATABASE.check("restore a back-up: the file is damaged")
def database_is_whole(patient: Patient) -> str | None:
    if not patient.is_sqlite:
        raise SkippedError("PostgreSQL has pg_amcheck for it")
    with patient.store.read() as session:
        found = session.execute(text("PRAGMA quick_check(1)")).scalar_one()
    return None if found == "ok" else "SQLite finds errors in it"


@DATABASE.check("start a version that knows it, or restore a back-up that this one knows")
def schema_is_known(patient: Patient) -> str | None:
    found = _revision(patient)
    return (
        None if found in revisions() else f"it is at {found or 'none'}: not one of this version's"
    )


@DATABASE.check("start a process of this version: it migrates", advice=True)
def schema_is_the_newest(patient: Patient) -> str | None:
    found, newest = _revision(patient), revisions()[-1]
    return None if found == newest else f"it is at {found or 'none'}, this version needs {newest}"


@DATABASE.check("restore all tables of one back-up, of one moment")
def ledger_is_whole(patient: Patient) -> str | None:
    with patient.store.snapshot() as session:
        size = session.exec(select(HeadRow)).one().size
        entries = session.exec(select(func.count()).select_from(EntryRow)).one()
        signed = latest(session)
        if entries != size:
            return f"it says that it has {size} entries, and has {entries}"
        if signed is None:
            return None
        head = Checkpoint.parse(Note.parse(signed.note).text)
        if head.size > size or tree(session).root(head.size) != head.root:
            return "its newest signed head is not of these entries"
    return None


@DATABASE.check(
    "do not serve from it: budget that was spent would come back. Recover what is newer, or stop"
    " every mandate and tell the regulator (docs/operations.md)"
)
def ledger_continues_the_head(patient: Patient) -> str | None:
    if patient.head is None:
        raise SkippedError(
            "bring a signed head from outside with --head, after a restore above all"
        )
    head = Checkpoint.parse(Note.parse(patient.head).text)
    with patient.store.snapshot() as session:
        size = session.exec(select(HeadRow)).one().size
        if size < head.size:
            return f"the database is old: a head of {head.size} entries was signed, it has {size}"
        if tree(session).root(head.size) != head.root:
            return "other entries were signed at that size: this is another ledger's history"
    return None


def _revision(patient: Patient) -> str | None:
    with patient.store.engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()
