"""Vetting: applications, states of mandates, access per individual, removal, webhooks"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("mandates") as mandates:
        mandates.add_column(sa.Column("researcher_ids", sa.JSON(), nullable=True))
        mandates.add_column(
            sa.Column("state", sa.String(), nullable=False, server_default="active")
        )
    with op.batch_alter_table("mandates") as mandates:
        mandates.alter_column("state", server_default=None)
    with op.batch_alter_table("researchers") as researchers:
        researchers.add_column(sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True))
    op.create_table(
        "applications",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("entry", sa.BigInteger(), nullable=False),
        sa.Column("principal_id", sa.String(), nullable=False),
        sa.Column("auditor_id", sa.String(), nullable=True),
        sa.Column("mandate_id", sa.String(), nullable=True),
        sa.Column("submitted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("due", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["principal_id"], ["researchers.id"]),
        sa.ForeignKeyConstraint(["auditor_id"], ["auditors.id"]),
        sa.ForeignKeyConstraint(["mandate_id"], ["mandates.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_applications_state", "applications", ["state"])
    op.create_table(
        "application_individuals",
        sa.Column("application_id", sa.String(), nullable=False),
        sa.Column("researcher_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["application_id"], ["applications.id"]),
        sa.ForeignKeyConstraint(["researcher_id"], ["researchers.id"]),
        sa.PrimaryKeyConstraint("application_id", "researcher_id"),
    )
    op.create_index(
        "ix_application_individuals_researcher_id", "application_individuals", ["researcher_id"]
    )
    op.create_table(
        "application_events",
        sa.Column("application_id", sa.String(), nullable=False),
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["application_id"], ["applications.id"]),
        sa.PrimaryKeyConstraint("application_id", "number"),
    )
    op.create_table(
        "personal_subjects",
        sa.Column("subject_id", sa.String(), nullable=False),
        sa.Column("commitment", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("subject_id", "commitment"),
    )
    op.create_table(
        "webhooks",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("researcher_id", sa.String(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("after", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("failing_since", sa.DateTime(timezone=True), nullable=True),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["researcher_id"], ["researchers.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_webhooks_researcher_id", "webhooks", ["researcher_id"])


def downgrade() -> None:
    for table in (
        "webhooks",
        "personal_subjects",
        "application_events",
        "application_individuals",
        "applications",
    ):
        op.drop_table(table)
    with op.batch_alter_table("researchers") as researchers:
        researchers.drop_column("removed_at")
    with op.batch_alter_table("mandates") as mandates:
        mandates.drop_column("state")
        mandates.drop_column("researcher_ids")
