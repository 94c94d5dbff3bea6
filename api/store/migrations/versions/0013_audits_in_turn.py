"""Audits of one state are found in the order of their places"""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

NEW, OLD = "ix_audits_state_turn", "ix_audits_state"


def upgrade() -> None:
    op.create_index(NEW, "audits", ["state", "turn"])
    op.drop_index(OLD, "audits")


def downgrade() -> None:
    op.create_index(OLD, "audits", ["state"])
    op.drop_index(NEW, "audits")
