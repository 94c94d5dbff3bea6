"""A mandate's charges are found by their time"""

from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

NEW, OLD = "ix_charges_mandate_id_charged_at", "ix_charges_mandate_id"


def upgrade() -> None:
    # Dropped first: to ask for more of a lock than one has lets others and us wait for each other.
    op.drop_index(OLD, "charges")
    op.create_index(NEW, "charges", ["mandate_id", "charged_at"])


def downgrade() -> None:
    op.drop_index(NEW, "charges")
    op.create_index(OLD, "charges", ["mandate_id"])
