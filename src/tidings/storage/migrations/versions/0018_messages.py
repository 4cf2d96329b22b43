"""Template and values beside errors that are kept, so that pages show them in the language of their reader."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_COMMENT = "JSON: template and values of {}; empty: English alone."


def upgrade() -> None:
    _add("feeds", "parsing_error_form", "parsing_error_message")
    _add("integrations", "last_error_form", "last_error")
    _add("deliveries", "last_error_form", "last_error")


def _add(table: str, column: str, of: str) -> None:
    comment = _COMMENT.format(of)
    op.add_column(table, sa.Column(column, _words(), server_default=sa.text("''"), nullable=False, comment=comment))


def _words() -> sa.types.TypeEngine[str]:
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
