"""Comments of columns that have new values: pages without an article, and imports that ask first."""

from __future__ import annotations

from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

COMMENTS = {
    "account_imports.state": "waiting, asking, running, done, failed, interrupted or expired.",
    "account_imports.report": "JSON: what was done; while it asks, what it would change. Empty before.",
    "feeds.limits_reached": (
        "Of the last parsed body: elements, entries, text (cut there); pages: they have far less text."
    ),
}


def upgrade() -> None:
    # SQLite has no comments.
    if op.get_bind().dialect.name == "postgresql":
        for column, comment in COMMENTS.items():
            op.execute(f"COMMENT ON COLUMN {column} IS '{comment}'")
