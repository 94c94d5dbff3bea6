"""What people bore in samples whose members are erased, so that an inspection can recompute it"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("person_blocks") as blocks:
        blocks.add_column(sa.Column("carried_drawn", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("person_blocks") as blocks:
        blocks.drop_column("carried_drawn")
