"""API passwords of apps, and the server secret that their digests are keyed with."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "api_passwords",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", WORDS, nullable=False, comment="Of the app, as the user calls it."),
        sa.Column("name_key", WORDS, nullable=False, comment="Case-folded: one name once per user."),
        sa.Column(
            "password_digest",
            sa.LargeBinary(),
            nullable=False,
            comment="HMAC-SHA-256 of the password under the server secret.",
        ),
        sa.Column(
            "fever_key_digest",
            sa.LargeBinary(),
            nullable=False,
            comment="HMAC-SHA-256 under the server secret of what a Fever client sends: MD5 of name and password.",
        ),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True, comment="Written at most once a minute."),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_api_passwords_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_api_passwords"),
        sa.UniqueConstraint("user_id", "name_key", name="uq_api_passwords_user_id_name_key"),
        sa.UniqueConstraint("fever_key_digest", name="uq_api_passwords_fever_key_digest"),
        sqlite_autoincrement=True,
        comment="Passwords of apps that use the Google Reader API or the Fever API.",
    )
    op.create_table(
        "server_secrets",
        sa.Column("name", WORDS, nullable=False, comment="What the secret is for."),
        sa.Column(
            "secret",
            sa.LargeBinary(),
            nullable=False,
            comment="Random bytes, written once and shared by all processes.",
        ),
        sa.PrimaryKeyConstraint("name", name="pk_server_secrets"),
        sqlite_with_rowid=False,
    )
    op.add_column(
        "users",
        sa.Column(
            "allow_account_password_in_apps",
            sa.Boolean(),
            server_default=sa.text("true"),
            nullable=False,
            comment="The Google Reader API accepts password_hash, not only API passwords.",
        ),
    )
