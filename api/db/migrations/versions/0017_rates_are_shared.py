"""Request rates hold across processes"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

RATES = "rate_buckets"


def upgrade() -> None:
    op.create_table(
        RATES,
        sa.Column("name", sa.String(), primary_key=True),
        sa.Column("tokens", sa.Float(), nullable=False),
        sa.Column("drawn_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("full_at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index(op.f("ix_rate_buckets_full_at"), RATES, ["full_at"])


def downgrade() -> None:
    op.drop_table(RATES)
