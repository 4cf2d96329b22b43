"""Delete enclosures whose address runs code or opens local content where it is followed.

Enclosures were the only rows that took such an address: those of feeds, entries and comments were http(s) before.
"""

from __future__ import annotations

import re

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

# As a browser finds it: behind controls and blanks, with tabs and line ends in it, in upper or lower case.
_EXECUTABLE = re.compile(r"[\s\x00-\x20]*(?:blob|data|file|javascript|vbscript):", re.IGNORECASE)


def upgrade() -> None:
    connection = op.get_bind()
    # Reads every row once; of most databases it returns none.
    odd = connection.execute(sa.text("SELECT id, url FROM enclosures WHERE url NOT LIKE 'http%'"))
    executable = [{"id": id_} for id_, url in odd if _EXECUTABLE.match(re.sub(r"[\t\r\n]", "", url))]
    if executable:
        connection.execute(sa.text("DELETE FROM enclosures WHERE id = :id"), executable)
