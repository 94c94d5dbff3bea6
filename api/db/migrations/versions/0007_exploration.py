"""Audits that show people something else: consent, what they may lose, how far it got"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_AMOUNTS = (
    ("mandates", "exploration_limit"),
    ("mandates", "exploration_spent"),
    ("charges", "exploration_loss"),
)
_FLAGS = (("audiences", "consented"), ("audits", "stopped"))


def upgrade() -> None:
    for table, name in _AMOUNTS:
        _add(table, sa.Column(name, sa.BigInteger(), nullable=False, server_default="0"))
    for table, name in _FLAGS:
        _add(table, sa.Column(name, sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "courses",
        sa.Column("audit_id", sa.String(), nullable=False),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(["audit_id"], ["audits.id"]),
        sa.PrimaryKeyConstraint("audit_id"),
    )


def downgrade() -> None:
    op.drop_table("courses")
    for table, name in (*_AMOUNTS, *_FLAGS):
        with op.batch_alter_table(table) as columns:
            columns.drop_column(name)


def _add(table: str, column: sa.Column[int] | sa.Column[bool]) -> None:
    with op.batch_alter_table(table) as columns:
        columns.add_column(column)
