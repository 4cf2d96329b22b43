"""Hints: what a publisher said about when to come back, and the interval a user set."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    for name, comment in (
        ("failed_checks", "In a row, whatever the reason: how long the next wait is. 0 after a success."),
        ("check_interval_minutes", "As the user set it; 0: as the feed publishes."),
        ("news_gap_s", "Seconds between news, on average, as of news_at; 0: not known."),
    ):
        op.add_column(
            "feeds",
            sa.Column(name, sa.Integer(), server_default=sa.text("0"), nullable=False, comment=comment),
        )
    op.add_column(
        "feeds",
        sa.Column(
            "publisher_hints",
            WORDS,
            server_default=sa.text("''"),
            nullable=False,
            comment="JSON: what the last document asked of its readers.",
        ),
    )
    op.add_column("feeds", sa.Column("news_at", sa.BigInteger(), comment="When there was news last; null: not known."))
    # Errors so far were all counted the same way: the waits go on from where they are.
    op.execute("UPDATE feeds SET failed_checks = parsing_error_count")
