"""Audits of one state are found in the order of their places"""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

NEW, OLD = "ix_audits_state_turn", "ix_audits_state"


def upgrade() -> None:
    # Dropped first: to ask for more of a lock than one has lets others and us wait for each other.
    op.drop_index(OLD, "audits")
    op.create_index(NEW, "audits", ["state", "turn"])


def downgrade() -> None:
    op.drop_index(NEW, "audits")
    op.create_index(OLD, "audits", ["state"])
