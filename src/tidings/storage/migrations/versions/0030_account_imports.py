"""The last import of each user, which runs in the background."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _words(name: str, comment: str) -> sa.Column[str]:
    return sa.Column(name, WORDS, server_default=sa.text("''"), nullable=False, comment=comment)


def upgrade() -> None:
    op.create_table(
        "account_imports",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("token", WORDS, nullable=False, comment="Of the process that runs it; a later one has another."),
        sa.Column("source", WORDS, nullable=False, comment="tidings, miniflux, freshrss …"),
        _words("origin", "Name of the file, or address of the server."),
        sa.Column("state", WORDS, nullable=False, comment="waiting, running, done, failed or interrupted."),
        sa.Column("steps_done", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("steps_total", sa.Integer(), server_default=sa.text("0"), nullable=False, comment="0 while unknown."),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column(
            "renewed_at",
            sa.BigInteger(),
            nullable=False,
            comment="Unless it is renewed within a minute, its process has ended.",
        ),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        _words("report", "JSON; empty before the end."),
        _words("error", "Why it failed."),
        _words("error_form", "JSON: template and values of error; empty: English alone."),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_account_imports_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", name="pk_account_imports"),
        comment="The last import of each user.",
    )
