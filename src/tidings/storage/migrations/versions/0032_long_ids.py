"""Ids of entries, enclosures and deliveries have 64 bits on PostgreSQL; on SQLite they have had them always.

PostgreSQL writes the tables and their indexes anew, locked for reading and writing until the end of the
upgrade, and needs as much free space as they take. CHANGELOG.md says how long it takes.
"""

from __future__ import annotations

from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

NUMBERED = ("entries", "enclosures", "deliveries")
REFERENCES = {
    "entry_contents": ("entry_id", "entries"),
    "entry_tags": ("entry_id", "entries"),
    "entry_labels": ("entry_id", "entries"),
    "enclosures": ("entry_id", "entries"),
    "search_vectors": ("entry_id", "entries"),
    "delivery_bodies": ("delivery_id", "deliveries"),
}
COLUMNS = {
    "entries": ("id",),
    "entry_contents": ("entry_id",),
    "entry_tags": ("entry_id",),
    "entry_labels": ("entry_id",),
    "enclosures": ("id", "entry_id"),
    "search_pending": ("entry_id",),
    "search_vectors": ("entry_id",),
    "deliveries": ("id",),
    "delivery_bodies": ("delivery_id",),
}


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    # Indexes are sorted in memory; the server's own setting counts again after the upgrade.
    op.execute("SELECT set_config('maintenance_work_mem', '256MB', true)")
    # The foreign keys would be checked once for each of their two columns.
    for table, (column, other) in REFERENCES.items():
        op.drop_constraint(f"fk_{table}_{column}_{other}", table, type_="foreignkey")
    # All columns of a table at once: each statement writes the whole table.
    for table, columns in COLUMNS.items():
        op.execute(f"ALTER TABLE {table} " + ", ".join(f"ALTER COLUMN {name} TYPE bigint" for name in columns))
    for table in NUMBERED:
        op.execute(f"ALTER SEQUENCE {table}_id_seq AS bigint")
    for table, (column, other) in REFERENCES.items():
        op.create_foreign_key(f"fk_{table}_{column}_{other}", table, other, [column], ["id"], ondelete="CASCADE")
