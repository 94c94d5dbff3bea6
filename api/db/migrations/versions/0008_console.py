"""The console: codes to sign in with, and sessions"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_TABLES = ("sign_in_codes", "console_sessions")


def upgrade() -> None:
    op.create_table("sign_in_codes", *_columns())
    thumbprint = sa.Column("key_thumbprint", sa.String(), nullable=True)
    op.create_table("console_sessions", *_columns(), thumbprint)
    for table in _TABLES:
        for column in ("researcher_id", "expires_at"):
            op.create_index(f"ix_{table}_{column}", table, [column])


def downgrade() -> None:
    for table in _TABLES:
        op.drop_table(table)


def _columns() -> list[sa.Column[str] | sa.schema.SchemaItem]:
    return [
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("researcher_id", sa.String(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["researcher_id"], ["researchers.id"]),
        sa.PrimaryKeyConstraint("digest"),
    ]
