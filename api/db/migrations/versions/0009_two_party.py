"""Two-party audits: the order of an upload, runs and their messages, how many are opened"""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

# One, in millionths of a millionth: where nothing was said, every run is opened.
_ALL = "1000000000000"


def upgrade() -> None:
    share = sa.Column("opened_share", sa.BigInteger(), nullable=False, server_default=_ALL)
    with op.batch_alter_table("mandates") as columns:
        columns.add_column(share)
    ordered: sa.Column[bool] = sa.Column(
        "ordered", sa.Boolean(), nullable=False, server_default=sa.false()
    )
    with op.batch_alter_table("audiences") as columns:
        columns.add_column(ordered)
        columns.add_column(sa.Column("identifiers", sa.String(), nullable=True))
        columns.add_column(sa.Column("candidates", sa.Integer(), nullable=True))
    op.create_table(
        "audience_orders",
        sa.Column("audience_id", sa.String(), nullable=False),
        sa.Column("persons", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["audience_id"], ["audiences.id"]),
        sa.PrimaryKeyConstraint("audience_id"),
    )
    op.create_table(
        "two_party_runs",
        sa.Column("audit_id", sa.String(), nullable=False),
        sa.Column("run", sa.String(), nullable=False),
        sa.Column("terms", sa.Text(), nullable=False),
        sa.Column("sealed_to", sa.String(), nullable=False),
        sa.Column("begun_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("transcript", sa.String(), nullable=True),
        sa.Column("release", sa.Text(), nullable=True),
        sa.Column("entry", sa.BigInteger(), nullable=True),
        sa.Column("opened", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["audit_id"], ["audits.id"]),
        sa.PrimaryKeyConstraint("audit_id"),
    )
    op.create_table(
        "two_party_messages",
        sa.Column("audit_id", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["audit_id"], ["two_party_runs.audit_id"]),
        sa.PrimaryKeyConstraint("audit_id", "number"),
    )


def downgrade() -> None:
    for table in ("two_party_messages", "two_party_runs", "audience_orders"):
        op.drop_table(table)
    with op.batch_alter_table("audiences") as columns:
        for name in ("ordered", "identifiers", "candidates"):
            columns.drop_column(name)
    with op.batch_alter_table("mandates") as columns:
        columns.drop_column("opened_share")
