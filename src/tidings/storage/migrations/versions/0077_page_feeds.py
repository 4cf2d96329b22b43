"""Feeds that are made from pages: how they are read, and how many entries there were."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Integer, Text, text

revision = "0077"
down_revision = "0076"
branch_labels = None
depends_on = None

WORDS = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column(
        "feeds",
        Column(
            "page_items",
            Integer(),
            server_default=text("0"),
            nullable=False,
            comment="Of a feed made from a page: number of entries at the last check that read it.",
        ),
    )
    _add_text("kind", "How a page or JSON is read by the selectors; empty: it is a feed.")
    _add_text("selectors", "JSON: where a page has items and their fields.")


def _add_text(name: str, comment: str) -> None:
    op.add_column("feeds", Column(name, WORDS, server_default=text("''"), nullable=False, comment=comment))
