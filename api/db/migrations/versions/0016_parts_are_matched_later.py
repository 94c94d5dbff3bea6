"""Parts are accepted before they are matched, and unpaid matching has a quota"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

PARTS, QUOTAS = "audience_parts", "matching_quotas"


def upgrade() -> None:
    op.add_column(PARTS, sa.Column("claim", sa.String()))
    op.add_column(PARTS, sa.Column("due_at", sa.DateTime(timezone=True)))
    op.create_table(
        QUOTAS,
        sa.Column("auditor_id", sa.String(), sa.ForeignKey("auditors.id"), primary_key=True),
        sa.Column("day", sa.String(), nullable=False),
        sa.Column("identifiers", sa.BigInteger(), nullable=False),
    )


def downgrade() -> None:
    # The version before cannot match what was only accepted: it must be sent again.
    op.execute(
        "UPDATE audience_groups SET members = 0 WHERE audience_id IN"
        " (SELECT audience_id FROM audience_parts WHERE claim IS NOT NULL)"
    )
    op.execute(
        "DELETE FROM audience_parts WHERE audience_id IN"
        " (SELECT audience_id FROM audience_parts WHERE claim IS NOT NULL)"
    )
    op.drop_table(QUOTAS)
    op.drop_column(PARTS, "due_at")
    op.drop_column(PARTS, "claim")
