"""Hashes of deleted entries name the user, as all rows of a user do."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Integer

revision = "0087"
down_revision = "0086"
branch_labels = None
depends_on = None

# Without a default, SQLite adds no column that is never null: the table is written again.
_SQLITE = (
    """
    CREATE TABLE owned_tombstones (
        feed_id INTEGER NOT NULL, hash BLOB NOT NULL, seen_at BIGINT NOT NULL, user_id INTEGER NOT NULL,
        CONSTRAINT pk_tombstones PRIMARY KEY (feed_id, hash),
        CONSTRAINT fk_tombstones_feed_id_feeds FOREIGN KEY(feed_id) REFERENCES feeds (id) ON DELETE CASCADE
    ) WITHOUT ROWID
    """,
    (
        "INSERT INTO owned_tombstones SELECT feed_id, hash, seen_at, user_id FROM tombstones"
        " JOIN feeds ON feeds.id = feed_id"
    ),
    "DROP TABLE tombstones",
    "ALTER TABLE owned_tombstones RENAME TO tombstones",
)


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        for statement in _SQLITE:
            op.execute(statement)
        return
    op.add_column("tombstones", Column("user_id", Integer(), nullable=True, comment="The feed's."))
    op.execute("UPDATE tombstones SET user_id = feeds.user_id FROM feeds WHERE feeds.id = feed_id")
    op.alter_column("tombstones", "user_id", nullable=False)
