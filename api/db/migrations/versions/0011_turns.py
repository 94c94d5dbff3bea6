"""Places of audits on the line of those that wait"""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("audits", sa.Column("turn", sa.BigInteger(), nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column("audits", "turn")
