"""Parts of uploads are whom they found, with their tokens' digest and sketch: no identifiers"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

TABLE = "audience_parts"
# Person numbers. To try and make them smaller takes PostgreSQL twenty times as long as to write
# them, and how long depends on who was found.
AS_THEY_ARE = ((TABLE, "data"), ("audience_groups", "people"), ("audience_orders", "persons"))


def upgrade() -> None:
    op.add_column(TABLE, sa.Column("tokens", sa.LargeBinary()))
    op.add_column(TABLE, sa.Column("sketch", sa.LargeBinary()))
    _store("EXTERNAL")


def downgrade() -> None:
    _store("EXTENDED")
    op.drop_column(TABLE, "sketch")
    op.drop_column(TABLE, "tokens")


def _store(how: str) -> None:
    if op.get_bind().dialect.name == "postgresql":
        for table, column in AS_THEY_ARE:
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE {how}")
