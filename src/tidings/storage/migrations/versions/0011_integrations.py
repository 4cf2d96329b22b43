"""Integrations: nothing to change; the table of the first schema holds what every service needs, as JSON."""

from __future__ import annotations

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass
