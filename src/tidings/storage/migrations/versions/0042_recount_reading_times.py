"""Reading times are computed again: each script counts in its own way now, and stored ones are of an older formula.

Only the position of each user is reset. The worker then recomputes in batches, as after a change of the reading speed.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import Integer, column, table

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None

users = table("users", column("reading_times_after", Integer))


def upgrade() -> None:
    op.execute(users.update().values(reading_times_after=0))
