"""For regulators at a glance: sketches of uploads, and what people bore in drawn samples"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "audience_sketches",
        sa.Column("audience_id", sa.String(), nullable=False),
        sa.Column("hashes", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["audience_id"], ["audiences.id"]),
        sa.PrimaryKeyConstraint("audience_id"),
    )
    with op.batch_alter_table("person_blocks") as blocks:
        blocks.add_column(sa.Column("drawn", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("person_blocks") as blocks:
        blocks.drop_column("drawn")
    op.drop_table("audience_sketches")
