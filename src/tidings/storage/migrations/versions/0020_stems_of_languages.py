"""Search: words are stemmed in the language of their entry. Every entry is indexed anew, after the start."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "search_languages",
        sa.Column("user_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("language", WORDS, nullable=False, comment="ISO 639 code of a language with stems of its own."),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_search_languages_user_id_users", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "language", name="pk_search_languages"),
        sqlite_with_rowid=False,
        comment="Which languages with stems of their own entries of a user have, so that a search asks in them.",
    )
    if op.get_bind().dialect.name == "sqlite":
        op.add_column(
            "search_documents",
            sa.Column(
                "language",
                WORDS,
                server_default=sa.text("''"),
                nullable=False,
                comment="Of the entry, if it has stems of its own; every term has it behind the owner's id.",
            ),
        )
    op.execute(
        "INSERT INTO search_pending (entry_id, user_id) SELECT id, user_id FROM entries WHERE true"
        " ON CONFLICT (entry_id) DO NOTHING"
    )
