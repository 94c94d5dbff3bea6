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
    _wait_for_uploads()
    op.add_column(TABLE, sa.Column("tokens", sa.LargeBinary()))
    op.add_column(TABLE, sa.Column("sketch", sa.LargeBinary()))
    _store("EXTERNAL")


def downgrade() -> None:
    _wait_for_uploads()
    # The version before could not read them: what was not sealed must be sent again.
    op.execute(
        "UPDATE audience_groups SET members = 0"
        " WHERE audience_id IN (SELECT audience_id FROM audience_parts)"
    )
    op.execute("DELETE FROM audience_parts")
    _store("EXTENDED")
    op.drop_column(TABLE, "sketch")
    op.drop_column(TABLE, "tokens")


def _wait_for_uploads() -> None:
    """Lock the audiences, so that no upload, sealing or erasure is half-way."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute("LOCK TABLE audiences IN ACCESS EXCLUSIVE MODE")


def _store(how: str) -> None:
    if op.get_bind().dialect.name == "postgresql":
        for table, column in AS_THEY_ARE:
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE {how}")
