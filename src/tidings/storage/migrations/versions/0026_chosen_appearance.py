"""Whether a user has chosen the theme and the order of entries; pages have other defaults than the API."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

COLUMNS = {
    "has_chosen_theme": "False: pages show the theme of the system, and the API the default.",
    "has_chosen_direction": "False: pages show the newest entries first, and the API the default.",
}


def upgrade() -> None:
    for name, comment in COLUMNS.items():
        op.add_column(
            "users", sa.Column(name, sa.Boolean(), server_default=sa.false(), nullable=False, comment=comment)
        )
    # Who kept the defaults may have chosen them: nobody can tell.
    op.execute("UPDATE users SET has_chosen_theme = true WHERE theme <> 'light_serif'")
    op.execute("UPDATE users SET has_chosen_direction = true WHERE entry_sorting_direction <> 'asc'")
