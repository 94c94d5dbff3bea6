"""The platform's account and what people bear"""

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "person_blocks",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("spent", sa.LargeBinary(), nullable=False),
        sa.Column("carried", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("number"),
    )
    op.create_table(
        "platform_account",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("window", sa.Integer(), nullable=False),
        sa.Column("spent", sa.BigInteger(), nullable=False),
        sa.Column("latest", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "exclusions",
        sa.Column("audit_id", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("able", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["audit_id"],
            ["audits.id"],
        ),
        sa.PrimaryKeyConstraint("audit_id", "label"),
    )
    account = sa.table(
        "platform_account",
        sa.column("id", sa.Integer),
        sa.column("window", sa.Integer),
        sa.column("spent", sa.BigInteger),
        sa.column("latest", sa.DateTime(timezone=True)),
    )
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    op.bulk_insert(account, [{"id": 1, "window": 0, "spent": 0, "latest": epoch}])


def downgrade() -> None:
    op.drop_table("exclusions")
    op.drop_table("platform_account")
    op.drop_table("person_blocks")
