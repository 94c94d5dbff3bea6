"""The first tables"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "auditors",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "ledger",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("auditor_id", sa.String(), nullable=True),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("written_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("number"),
    )
    op.create_index("ix_ledger_auditor_id", "ledger", ["auditor_id"], unique=False)
    op.create_index("ix_ledger_kind", "ledger", ["kind"], unique=False)

    op.create_table(
        "ledger_head",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "revoked_tokens",
        sa.Column("jti", sa.String(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("jti"),
    )
    op.create_index("ix_revoked_tokens_expires_at", "revoked_tokens", ["expires_at"], unique=False)

    op.create_table(
        "signing_keys",
        sa.Column("kid", sa.String(), nullable=False),
        sa.Column("purpose", sa.String(), nullable=False),
        sa.Column("public_jwk", sa.JSON(), nullable=False),
        sa.Column("sealed_jwk", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("retired_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("kid"),
    )
    op.create_index("ix_signing_keys_purpose", "signing_keys", ["purpose"], unique=False)

    op.create_table(
        "used_assertions",
        sa.Column("researcher_id", sa.String(), nullable=False),
        sa.Column("jti", sa.String(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("researcher_id", "jti"),
    )
    op.create_index(
        "ix_used_assertions_expires_at", "used_assertions", ["expires_at"], unique=False
    )

    op.create_table(
        "researchers",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("auditor_id", sa.String(), nullable=True),
        sa.Column("jwk", sa.JSON(), nullable=True),
        sa.Column("key_thumbprint", sa.String(), nullable=True),
        sa.Column("outside_subject", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["auditor_id"],
            ["auditors.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("key_thumbprint"),
        sa.UniqueConstraint("outside_subject"),
    )
    op.create_index("ix_researchers_auditor_id", "researchers", ["auditor_id"], unique=False)

    op.create_table(
        "audiences",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("auditor_id", sa.String(), nullable=False),
        sa.Column("researcher_id", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("groups_per_person", sa.Integer(), nullable=False),
        sa.Column("participation_code", sa.String(), nullable=True),
        sa.Column("commitment", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("sealed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["auditor_id"],
            ["auditors.id"],
        ),
        sa.ForeignKeyConstraint(
            ["researcher_id"],
            ["researchers.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_audiences_auditor_id", "audiences", ["auditor_id"], unique=False)
    op.create_index("ix_audiences_expires_at", "audiences", ["expires_at"], unique=False)
    op.create_index("ix_audiences_state", "audiences", ["state"], unique=False)

    op.create_table(
        "contents",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("auditor_id", sa.String(), nullable=False),
        sa.Column("researcher_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("attributes", sa.JSON(), nullable=False),
        sa.Column("image", sa.LargeBinary(), nullable=True),
        sa.Column("image_digest", sa.String(), nullable=True),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["auditor_id"],
            ["auditors.id"],
        ),
        sa.ForeignKeyConstraint(
            ["researcher_id"],
            ["researchers.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_contents_auditor_id", "contents", ["auditor_id"], unique=False)

    op.create_table(
        "mandates",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("auditor_id", sa.String(), nullable=False),
        sa.Column("granted_by", sa.String(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("kinds", sa.JSON(), nullable=False),
        sa.Column("epsilon_limit", sa.BigInteger(), nullable=True),
        sa.Column("rho_limit", sa.BigInteger(), nullable=True),
        sa.Column("delta", sa.String(), nullable=True),
        sa.Column("renewal", sa.String(), nullable=True),
        sa.Column("renewal_days", sa.Integer(), nullable=True),
        sa.Column("lifetime_limit", sa.BigInteger(), nullable=True),
        sa.Column("spent", sa.BigInteger(), nullable=False),
        sa.Column("period", sa.Integer(), nullable=False),
        sa.Column("period_spent", sa.BigInteger(), nullable=False),
        sa.Column("valid_from", sa.DateTime(timezone=True), nullable=False),
        sa.Column("valid_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["auditor_id"],
            ["auditors.id"],
        ),
        sa.ForeignKeyConstraint(
            ["granted_by"],
            ["researchers.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_mandates_auditor_id", "mandates", ["auditor_id"], unique=False)

    op.create_table(
        "audience_groups",
        sa.Column("audience_id", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("members", sa.Integer(), nullable=False),
        sa.Column("known_size", sa.Integer(), nullable=True),
        sa.Column("people", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["audience_id"],
            ["audiences.id"],
        ),
        sa.PrimaryKeyConstraint("audience_id", "label"),
    )
    op.create_table(
        "audience_parts",
        sa.Column("audience_id", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["audience_id"],
            ["audiences.id"],
        ),
        sa.PrimaryKeyConstraint("audience_id", "label", "number"),
    )
    op.create_table(
        "audits",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("auditor_id", sa.String(), nullable=False),
        sa.Column("researcher_id", sa.String(), nullable=False),
        sa.Column("mandate_id", sa.String(), nullable=False),
        sa.Column("audience_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("price", sa.Text(), nullable=False),
        sa.Column("idempotency_key", sa.String(), nullable=False),
        sa.Column("request_digest", sa.String(), nullable=False),
        sa.Column("submitted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failure", sa.String(), nullable=True),
        sa.Column("claims", sa.Integer(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("claim", sa.String(), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["audience_id"],
            ["audiences.id"],
        ),
        sa.ForeignKeyConstraint(
            ["auditor_id"],
            ["auditors.id"],
        ),
        sa.ForeignKeyConstraint(
            ["mandate_id"],
            ["mandates.id"],
        ),
        sa.ForeignKeyConstraint(
            ["researcher_id"],
            ["researchers.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("auditor_id", "idempotency_key"),
    )
    op.create_index("ix_audits_audience_id", "audits", ["audience_id"], unique=False)
    op.create_index("ix_audits_state", "audits", ["state"], unique=False)

    op.create_table(
        "charges",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("audit_id", sa.String(), nullable=False),
        sa.Column("auditor_id", sa.String(), nullable=False),
        sa.Column("researcher_id", sa.String(), nullable=False),
        sa.Column("mandate_id", sa.String(), nullable=False),
        sa.Column("audience_id", sa.String(), nullable=False),
        sa.Column("audience_commitment", sa.String(), nullable=False),
        sa.Column("content_digests", sa.JSON(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("price", sa.Text(), nullable=False),
        sa.Column("currency", sa.String(), nullable=False),
        sa.Column("debit", sa.BigInteger(), nullable=False),
        sa.Column("period", sa.Integer(), nullable=False),
        sa.Column("rho", sa.BigInteger(), nullable=False),
        sa.Column("charged_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("refunded_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["audit_id"],
            ["audits.id"],
        ),
        sa.ForeignKeyConstraint(
            ["auditor_id"],
            ["auditors.id"],
        ),
        sa.ForeignKeyConstraint(
            ["mandate_id"],
            ["mandates.id"],
        ),
        sa.ForeignKeyConstraint(
            ["researcher_id"],
            ["researchers.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("audit_id"),
    )
    op.create_index("ix_charges_audience_id", "charges", ["audience_id"], unique=False)
    op.create_index("ix_charges_auditor_id", "charges", ["auditor_id"], unique=False)
    op.create_index("ix_charges_charged_at", "charges", ["charged_at"], unique=False)
    op.create_index("ix_charges_mandate_id", "charges", ["mandate_id"], unique=False)

    op.create_table(
        "releases",
        sa.Column("audit_id", sa.String(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("released_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["audit_id"],
            ["audits.id"],
        ),
        sa.PrimaryKeyConstraint("audit_id"),
    )
    head = sa.table("ledger_head", sa.column("id", sa.Integer), sa.column("size", sa.BigInteger))
    op.bulk_insert(head, [{"id": 1, "size": 0}])


def downgrade() -> None:
    op.drop_table("releases")
    op.drop_index("ix_charges_mandate_id", "charges")
    op.drop_index("ix_charges_charged_at", "charges")
    op.drop_index("ix_charges_auditor_id", "charges")
    op.drop_index("ix_charges_audience_id", "charges")

    op.drop_table("charges")
    op.drop_index("ix_audits_state", "audits")
    op.drop_index("ix_audits_audience_id", "audits")

    op.drop_table("audits")
    op.drop_table("audience_parts")
    op.drop_table("audience_groups")
    op.drop_index("ix_mandates_auditor_id", "mandates")

    op.drop_table("mandates")
    op.drop_index("ix_contents_auditor_id", "contents")

    op.drop_table("contents")
    op.drop_index("ix_audiences_state", "audiences")
    op.drop_index("ix_audiences_expires_at", "audiences")
    op.drop_index("ix_audiences_auditor_id", "audiences")

    op.drop_table("audiences")
    op.drop_index("ix_researchers_auditor_id", "researchers")

    op.drop_table("researchers")
    op.drop_index("ix_used_assertions_expires_at", "used_assertions")

    op.drop_table("used_assertions")
    op.drop_index("ix_signing_keys_purpose", "signing_keys")

    op.drop_table("signing_keys")
    op.drop_index("ix_revoked_tokens_expires_at", "revoked_tokens")

    op.drop_table("revoked_tokens")
    op.drop_table("ledger_head")
    op.drop_index("ix_ledger_kind", "ledger")
    op.drop_index("ix_ledger_auditor_id", "ledger")

    op.drop_table("ledger")
    op.drop_table("auditors")
