"""A ledger that can be verified: whole entries, tree, checkpoints, statements, personal text"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().execute(sa.text("SELECT count(*) FROM ledger")).scalar():
        raise RuntimeError(
            "This database has a ledger without signatures, which cannot be made verifiable "
            "afterwards. Keep it as a record, and start with a new database."
        )
    _replace_ledger(
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("leaf", sa.LargeBinary(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    with op.batch_alter_table("ledger_head") as head:
        head.add_column(_latest())
    with op.batch_alter_table("ledger_head") as head:
        head.alter_column("latest", server_default=None)
    with op.batch_alter_table("platform_account") as account:
        account.drop_column("latest")
    with op.batch_alter_table("releases") as releases:
        releases.add_column(sa.Column("entry", sa.BigInteger(), nullable=False))
    op.create_table(
        "ledger_tree",
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("level", "number"),
    )
    op.create_table(
        "checkpoints",
        sa.Column("size", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lasting", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("size"),
    )
    op.create_index("ix_checkpoints_lasting", "checkpoints", ["lasting"])
    op.create_table(
        "statements",
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("by", "key"),
    )
    op.create_table(
        "personal_texts",
        sa.Column("commitment", sa.String(), nullable=False),
        sa.Column("salt", sa.LargeBinary(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("kept_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("commitment"),
    )


def downgrade() -> None:
    op.drop_table("personal_texts")
    op.drop_table("statements")
    op.drop_table("checkpoints")
    op.drop_table("ledger_tree")
    with op.batch_alter_table("releases") as releases:
        releases.drop_column("entry")
    with op.batch_alter_table("platform_account") as account:
        account.add_column(_latest())
    with op.batch_alter_table("ledger_head") as head:
        head.drop_column("latest")
    _replace_ledger(
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("written_at", sa.DateTime(timezone=True), nullable=False),
    )


def _latest() -> sa.Column[object]:
    epoch = sa.text("'1970-01-01 00:00:00+00:00'")
    return sa.Column("latest", sa.DateTime(timezone=True), nullable=False, server_default=epoch)


def _replace_ledger(*columns: sa.Column[object]) -> None:
    op.drop_index("ix_ledger_kind", "ledger")
    op.drop_index("ix_ledger_auditor_id", "ledger")
    op.drop_table("ledger")
    op.create_table(
        "ledger",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("auditor_id", sa.String(), nullable=True),
        *columns,
        sa.PrimaryKeyConstraint("number"),
    )
    op.create_index("ix_ledger_kind", "ledger", ["kind"], unique=False)
    op.create_index("ix_ledger_auditor_id", "ledger", ["auditor_id"], unique=False)
