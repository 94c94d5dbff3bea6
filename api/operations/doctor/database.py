"""Checks of the database: reachable, durable, of the right schema, with the complete ledger."""

from alembic.migration import MigrationContext
from joserfc.jwk import OKPKey
from sqlalchemy import inspect, text
from sqlmodel import Session, col, func, select

from api.app.capacity import Capacity
from api.audits.queue.heartbeats import SILENCE
from api.db import EntryRow, LedgerEndRow, ProcessRow, SigningKeyRow
from api.db.schema import list_revisions
from api.kernel.checks import Checks, NotApplicableError, WarnedError
from api.kernel.clock import now
from api.kernel.settings import ledger_origin
from api.ledger.checkpoints import load_latest
from api.ledger.tree import load_tree
from api.operations.doctor.subject import DoctorSubject
from privacy.errors import NoteError
from privacy.ledger.merkle import Frontier
from privacy.ledger.notes import Checkpoint, VerifierKey, open_checkpoint

DATABASE = Checks[DoctorSubject]()
# Settings that a committed charge needs to survive a crash (R3).
_DURABLE = ("fsync", "full_page_writes", "synchronous_commit")
# FULL is 2, EXTRA is 3.
_PRAGMAS = {"journal_mode": ("wal",), "synchronous": ("2", "3")}


@DATABASE.check("start it, or correct database_url")
def database_answers(subject: DoctorSubject) -> str | None:
    if subject.is_sqlite and not subject.file.exists():
        return "there is no such file"
    with subject.store.read() as session:
        return (
            None
            if session.execute(text("SELECT 1")).scalar_one() == 1
            else "it gives a wrong answer"
        )


@DATABASE.check(
    "undo the settings that make it faster and less durable: a charge must survive any crash"
)
def commits_are_durable(subject: DoctorSubject) -> str | None:
    if subject.is_sqlite:
        return _weak_pragmas(subject)
    with subject.store.read() as session:
        found = {name: session.execute(text(f"SHOW {name}")).scalar_one() for name in _DURABLE}
    # Values stronger than `on`, such as remote_apply, are accepted.
    weak = [f"{name} is {value}" for name, value in found.items() if value in ("off", "local")]
    return ", ".join(weak) or None


@DATABASE.check(
    "raise max_connections of PostgreSQL, or start fewer processes: requests without a connection"
    " get 503"
)
def connections_are_enough(subject: DoctorSubject) -> str | None:
    """Compare the connections that running processes may open with the limit of PostgreSQL."""
    if subject.is_sqlite:
        raise NotApplicableError("SQLite has no limit on connections")
    each = Capacity.from_settings(subject.settings).connections
    with subject.store.read() as session:
        accepted = _accepted_connections(session)
        running = max(1, _running_processes(session))
    if each > accepted:
        return f"one process may open {each}, PostgreSQL accepts {accepted}"
    if each * running > accepted:
        raise WarnedError(
            f"{running} processes may open {each} each, PostgreSQL accepts {accepted} in total"
        )
    return None


@DATABASE.check("connect to the primary: a replica cannot be written to")
def database_can_be_written(subject: DoctorSubject) -> str | None:
    with subject.store.write() as session:
        if not subject.is_sqlite and session.execute(text("SELECT pg_is_in_recovery()")).scalar():
            return "it is a replica"
        session.execute(text("UPDATE ledger_head SET size = size"))
        session.rollback()
    return None


@DATABASE.check("restore a back-up: the file is damaged")
def database_is_whole(subject: DoctorSubject) -> str | None:
    if not subject.is_sqlite:
        raise NotApplicableError("use pg_amcheck for PostgreSQL")
    with subject.store.read() as session:
        found = session.execute(text("PRAGMA quick_check(1)")).scalar_one()
    return None if found == "ok" else "SQLite finds errors in it"


@DATABASE.check("start a version that knows it, or restore a back-up that this one knows")
def schema_is_known(subject: DoctorSubject) -> str | None:
    found = _revision(subject)
    return (
        None
        if found in list_revisions()
        else f"it is at {found or 'none'}, which this version does not know"
    )


@DATABASE.check("start a process of this version: it migrates", warns=True)
def schema_is_the_newest(subject: DoctorSubject) -> str | None:
    found, newest = _revision(subject), list_revisions()[-1]
    return None if found == newest else f"it is at {found or 'none'}, this version needs {newest}"


@DATABASE.check("restore all tables from one back-up of one moment")
def ledger_is_whole(subject: DoctorSubject) -> str | None:
    """Compare the number of entries, and hash all that the newest checkpoint covers."""
    with subject.store.snapshot() as session:
        size = session.exec(select(LedgerEndRow)).one().size
        entries = session.exec(select(func.count()).select_from(EntryRow)).one()
        signed = load_latest(session)
        if entries != size:
            return f"it states {size} entries, and has {entries}"
        if signed is None:
            raise WarnedError("there is no checkpoint yet: only the number of entries was compared")
        head = _opened(subject, signed.note)
        if head is None:
            return "no key of this ledger signed its newest checkpoint"
        if head.size > size or _root(session, head.size) != head.root:
            return "its newest checkpoint does not cover these entries"
        if load_tree(session).root(head.size) != head.root:
            return "the stored hashes of entries are wrong"
    return None


@DATABASE.check(
    "do not serve from it: spent budget would come back. Recover the newer entries, or stop"
    " every mandate and tell the regulator (docs/how-to/platforms/run-the-service.md)"
)
def ledger_continues_the_head(subject: DoctorSubject) -> str | None:
    if subject.head is None:
        raise NotApplicableError(
            "give a checkpoint from outside with --head, especially after a restore"
        )
    head = _opened(subject, subject.head)
    if head is None:
        return "no key of this ledger signed that checkpoint"
    with subject.store.snapshot() as session:
        size = session.exec(select(LedgerEndRow)).one().size
        if size < head.size:
            return f"the database is old: a checkpoint of {head.size} entries exists, it has {size}"
        if load_tree(session).root(head.size) != head.root:
            return "other entries were signed at that size: this is the history of another ledger"
    return None


def _weak_pragmas(subject: DoctorSubject) -> str | None:
    """Return the settings with which a connection of SQLite could lose a commit."""
    with subject.store.read() as session:
        found = {
            name: str(session.execute(text(f"PRAGMA {name}")).scalar_one()) for name in _PRAGMAS
        }
    weak = [f"{name} is {value}" for name, value in found.items() if value not in _PRAGMAS[name]]
    return ", ".join(weak) or None


def _accepted_connections(session: Session) -> int:
    """Return the number of connections that PostgreSQL accepts from roles without privileges."""
    query = text(
        "SELECT sum(CASE WHEN name = 'max_connections' THEN 1 ELSE -1 END * setting::int)"
        " FROM pg_settings WHERE name IN"
        " ('max_connections', 'superuser_reserved_connections', 'reserved_connections')"
    )
    return int(session.execute(query).scalar_one())


def _running_processes(session: Session) -> int:
    """Return the number of processes of this deployment with a recent heartbeat."""
    if not inspect(session.connection()).has_table("processes"):  # a schema before 0010
        return 0
    lately = col(ProcessRow.seen_at) > now() - SILENCE
    return session.exec(select(func.count()).select_from(ProcessRow).where(lately)).one()


def _opened(subject: DoctorSubject, note: str) -> Checkpoint | None:
    """Return the checkpoint if a ledger key of this deployment signed it."""
    origin = ledger_origin(subject.settings)
    with subject.store.read() as session:
        ledger = select(SigningKeyRow).where(SigningKeyRow.purpose == "ledger")
        jwks = [row.public_jwk for row in session.exec(ledger)]
    keys = [VerifierKey.of(origin, OKPKey.import_key(jwk)) for jwk in jwks]
    try:
        return open_checkpoint(note, keys).checkpoint
    except NoteError:
        return None


def _root(session: Session, size: int) -> bytes:
    """Return the root over the texts of the first entries, not over stored hashes."""
    number = col(EntryRow.number)
    texts = session.exec(
        select(EntryRow.text).where(number < size).order_by(number).execution_options(yield_per=500)
    )
    frontier = Frontier()
    frontier.extend(each.encode() for each in texts)
    return frontier.root()


def _revision(subject: DoctorSubject) -> str | None:
    with subject.store.engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()
