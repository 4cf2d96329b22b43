"""Earlier versions of entries."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Text,
    false,
    text,
)

revision = "0074"
down_revision = "0073"
branch_labels = None
depends_on = None

WORDS = Text().with_variant(Text(collation="C"), "postgresql")
LONG_ID = BigInteger().with_variant(Integer(), "sqlite")


def upgrade() -> None:
    # A reference names the owner as well where entries are divided by user.
    keys, names = ["entry_id"], ["entries.id"]
    if _is_divided():
        keys, names = ["entry_id", "user_id"], ["entries.id", "entries.user_id"]
    op.create_table(
        "entry_versions",
        Column("entry_id", LONG_ID, autoincrement=False, nullable=False),
        Column("version", Integer(), autoincrement=False, nullable=False, comment="Counted from 1 for each entry."),
        Column("user_id", Integer(), nullable=False, comment="The entry's."),
        Column("title", WORDS, nullable=False),
        Column("content", LargeBinary(), nullable=False, comment="Cleaned HTML of the feed."),
        Column("replaced_at", BigInteger(), nullable=False, comment="When the next version was stored."),
        ForeignKeyConstraint(keys, names, name=op.f("fk_entry_versions_entry_id_entries"), ondelete="CASCADE"),
        PrimaryKeyConstraint("entry_id", "version", name=op.f("pk_entry_versions")),
        comment="The last few versions of entries whose words the publisher changed, without the present one.",
    )
    op.add_column(
        "feeds",
        Column(
            "discard_versions",
            Boolean(),
            server_default=false(),
            nullable=False,
            comment="Earlier versions of entries that the publisher changes are not kept.",
        ),
    )


def _is_divided() -> bool:
    if op.get_bind().dialect.name != "postgresql":
        return False
    divided = text("SELECT count(*) FROM pg_inherits WHERE inhparent = CAST('entries' AS regclass)")
    return bool(op.get_bind().scalar(divided))
