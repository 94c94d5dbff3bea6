"""Charges are bound to the people they debit; no balance is below zero

A charge gets a keyed digest of its people. Migrations have no key, so older charges get an empty
one, which binds them to nobody: nothing is read or refunded on them any more. A process of the
version before writes the same, by default.

People whom a run found in a hidden audience move from the audience to the charge of that run. Any
other kind that was charged on such an audience debited nobody; if it was begun, the people it may
have read are recorded for it, and `persons repair` debits them. Balances below zero become zero
here, which is too low still: the service repairs them when it starts.

Processes of the version before may run next to new ones while an upgrade rolls. They know nothing
of recorded people, so the database refuses three of their writes:

- people of a hidden audience, stored in the audience instead of with a charge;
- the erasure of an audience whose recorded people are not dropped;
- the refund of a charge whose recorded people are not dropped, and so did not get theirs back.

Each is refused before anybody is read, and succeeds when it is sent to a new process.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from alembic import op
from numpy.typing import NDArray

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

BLOCK, BYTES, AT_ONCE = 1 << 10, 8 << 10, 512
COLUMNS = ("spent", "carried", "drawn", "carried_drawn")
SET_PEOPLE = "UPDATE audience_groups SET people = :people WHERE audience_id = :audience"
# Writes that no process may make: the trigger's name, its table and column, and its condition.
REFUSED = (
    (
        "hidden_people_belong_to_charges",
        ("audience_groups", "people"),
        "length(NEW.people) > 0 AND EXISTS (SELECT 1 FROM audiences a"
        " WHERE a.id = NEW.audience_id AND a.source = 'hidden')",
    ),
    (
        "erasures_drop_charged_people",
        ("audiences", "state"),
        "NEW.state = 'erased' AND EXISTS (SELECT 1 FROM charged_people p"
        " JOIN audits a ON a.id = p.audit_id WHERE a.audience_id = NEW.id)",
    ),
    (
        "refunds_drop_charged_people",
        ("charges", "refunded_at"),
        "NEW.refunded_at IS NOT NULL AND EXISTS (SELECT 1 FROM charged_people p"
        " WHERE p.audit_id = NEW.audit_id)",
    ),
)
BLOCKS = sa.table("person_blocks", *map(sa.column, ("number", *COLUMNS, "lowest")))
# Person numbers and amounts.
Amounts = NDArray[np.int64]


def upgrade() -> None:
    bind = op.get_bind()
    postgresql = _lock(bind)
    empty, kind = ("''::bytea", "BYTEA") if postgresql else ("X''", "BLOB")
    op.execute(f"ALTER TABLE charges ADD COLUMN people_digest {kind} DEFAULT {empty}")
    op.create_table(
        "charged_people",
        sa.Column("audit_id", sa.String(), nullable=False),
        sa.Column("people", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["audit_id"], ["audits.id"]),
        sa.PrimaryKeyConstraint("audit_id"),
    )
    if postgresql:
        # To compress them takes a time that depends on who was found.
        op.execute("ALTER TABLE charged_people ALTER COLUMN people SET STORAGE EXTERNAL")
    debited = _move_to_charges(bind)
    op.execute(
        "ALTER TABLE person_blocks ADD COLUMN lowest BIGINT DEFAULT 0 NOT NULL"
        " CONSTRAINT ck_person_blocks_lowest CHECK (lowest >= 0)"
    )
    _rewrite(bind, debited, with_lowest=True)
    for name, (table, column), condition in REFUSED:
        _refuse(bind, name, table, column, condition)


def downgrade() -> None:
    bind = op.get_bind()
    postgresql = _lock(bind)
    for name, (table, _), _ in REFUSED:
        op.execute(f"DROP TRIGGER {name}" + (f" ON {table}" if postgresql else ""))
        if postgresql:
            op.execute(f"DROP FUNCTION {name}()")
    recorded = _rows(
        bind,
        "SELECT c.audience_id, c.rho, p.people FROM charged_people p"
        " JOIN charges c ON c.audit_id = p.audit_id"
        " WHERE c.kind = 'two-party' AND c.refunded_at IS NULL",
    )
    for audience_id, _, people in recorded:
        given = {"audience": audience_id, "people": bytes(people)}
        _do(bind, SET_PEOPLE, given)
    debited = [_amounts(people, -rho) for _, rho, people in recorded]
    _rewrite(bind, debited, with_lowest=False)
    op.drop_column("person_blocks", "lowest")
    op.drop_table("charged_people")
    op.drop_column("charges", "people_digest")


def _refuse(bind: sa.Connection, name: str, table: str, column: str, condition: str) -> None:
    """Make the database refuse updates of this column that meet the condition."""
    when, each = f"BEFORE UPDATE OF {column} ON {table}", "FOR EACH ROW"
    if bind.dialect.name != "postgresql":
        raised = f"SELECT RAISE(ABORT, '{name}')"
        op.execute(f"CREATE TRIGGER {name} {when} {each} WHEN {condition} BEGIN {raised}; END")
        return
    op.execute(
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" IF {condition} THEN RAISE check_violation USING MESSAGE = '{name}'; END IF;"
        " RETURN NEW; END $$"
    )
    op.execute(f"CREATE TRIGGER {name} {when} {each} EXECUTE FUNCTION {name}()")


def _lock(bind: sa.Connection) -> bool:
    """Take the lock of everything that charges, refunds and erases: nobody is half-way."""
    if bind.dialect.name != "postgresql":
        return False
    op.execute("SELECT id FROM ledger_head FOR UPDATE")
    return True


def _move_to_charges(bind: sa.Connection) -> list[Amounts]:
    """Record the people of hidden audiences with their charges; return what each was debited.

    A run that had begun to read and found nobody has a set too, which is empty: it can go on.
    """
    groups = _rows(
        bind,
        "SELECT g.audience_id, g.label, g.people FROM audience_groups g"
        " JOIN audiences a ON a.id = g.audience_id"
        " WHERE a.source = 'hidden' AND a.state = 'sealed'",
    )
    debited = list[Amounts]()
    for audience_id, label, people in groups:
        everybody = np.frombuffer(bytes(people or b""), "<i8")
        debited += _record(bind, audience_id, label, everybody)
        given = {"audience": audience_id, "people": b""}
        _do(bind, SET_PEOPLE, given)
    _do(
        bind,
        "UPDATE charges SET people_digest = NULL WHERE audience_id IN (SELECT id FROM audiences"
        " WHERE source = 'hidden') AND audit_id NOT IN (SELECT audit_id FROM charged_people)",
        {},
    )
    return debited


def _record(
    bind: sa.Connection, audience_id: str, label: str, everybody: Amounts
) -> Iterator[Amounts]:
    charges = _rows(
        bind,
        "SELECT c.audit_id, c.kind, c.rho FROM charges c JOIN audits a ON a.id = c.audit_id"
        " WHERE c.audience_id = :audience AND c.refunded_at IS NULL"
        " AND a.state IN ('running', 'released', 'failed')",
        {"audience": audience_id},
    )
    for audit_id, kind, rho in charges:
        people, this = everybody, {"audit": audit_id, "label": label}
        masks = _rows(
            bind, "SELECT able FROM exclusions WHERE audit_id = :audit AND label = :label", this
        )
        for (able,) in masks:
            bits = np.unpackbits(np.frombuffer(bytes(able), np.uint8), count=len(everybody))
            people = everybody[bits.astype(bool)]
        given = {"audit": audit_id, "people": people.tobytes()}
        _do(bind, "INSERT INTO charged_people (audit_id, people) VALUES (:audit, :people)", given)
        _do(bind, "DELETE FROM exclusions WHERE audit_id = :audit AND label = :label", this)
        if kind == "two-party":
            yield _amounts(people.tobytes(), rho)


def _amounts(people: Any, rho: int) -> Amounts:
    persons = np.frombuffer(bytes(people), "<i8")
    return np.stack([persons, np.full_like(persons, rho)])


def _rewrite(bind: sa.Connection, debited: list[Amounts], *, with_lowest: bool) -> None:
    """Add to what displaced people spent, raise balances below zero to it, and fill in `lowest`."""
    persons, amounts = np.concatenate([*debited, np.empty((2, 0), np.int64)], axis=1)
    for number, *packed in _blocks(bind):
        here = persons // BLOCK == number
        kept = {name: _unpack(data) for name, data in zip(COLUMNS, packed, strict=True)}
        if here.any():
            np.add.at(kept["drawn"], persons[here] % BLOCK, amounts[here])
        least = min(int(each.min()) for each in kept.values())
        values: dict[str, Any] = {}
        if least < 0 or here.any():
            values = {name: _pack(np.maximum(each, 0)) for name, each in kept.items()}
        if with_lowest and least > 0:
            values["lowest"] = least
        if values:
            bind.execute(sa.update(BLOCKS).where(BLOCKS.c.number == number).values(values))


def _blocks(bind: sa.Connection) -> Iterator[Any]:
    """All blocks, of which some are held at a time."""
    columns, last = [BLOCKS.c[name] for name in ("number", *COLUMNS)], -1
    query = sa.select(*columns).order_by(BLOCKS.c.number).limit(AT_ONCE)
    while rows := bind.execute(query.where(BLOCKS.c.number > last)).all():
        yield from rows
        last = rows[-1][0]


def _unpack(data: Any) -> Amounts:
    if data is None:
        return np.zeros(BLOCK, np.int64)
    whole = pa.decompress(bytes(data), BYTES, codec="lz4", asbytes=True)
    return np.frombuffer(bytearray(whole), "<i8")


def _pack(balances: Amounts) -> bytes:
    packed: bytes = pa.compress(balances.astype("<i8").tobytes(), codec="lz4", asbytes=True)
    return packed


def _rows(bind: sa.Connection, text: str, given: dict[str, Any] | None = None) -> list[Any]:
    return list(bind.execute(sa.text(text), given or {}).all())


def _do(bind: sa.Connection, text: str, given: dict[str, Any]) -> None:
    bind.execute(sa.text(text), given)
