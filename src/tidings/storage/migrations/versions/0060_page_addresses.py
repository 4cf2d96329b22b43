"""The addresses that the pages of entries have, where they are not the entries' own."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Integer,
    PrimaryKeyConstraint,
    Text,
    false,
    text,
)

revision = "0060"
down_revision = "0059"
branch_labels = None
depends_on = None

WORDS = Text().with_variant(Text(collation="C"), "postgresql")
# SQLite numbers rows by itself only in a column declared as INTEGER.
LONG_ID = BigInteger().with_variant(Integer(), "sqlite")


def upgrade() -> None:
    # A reference names the owner as well where entries are divided by user.
    keys, names = ["entry_id"], ["entries.id"]
    if _is_divided():
        keys, names = ["entry_id", "user_id"], ["entries.id", "entries.user_id"]
    op.create_table(
        "page_addresses",
        Column("entry_id", LONG_ID, autoincrement=False, nullable=False),
        Column("user_id", Integer(), nullable=False, comment="The entry's."),
        Column(
            "url",
            WORDS,
            nullable=False,
            comment="Where the entry's link led, or what the page there gave as its own address.",
        ),
        Column("address", BigInteger(), nullable=False, comment="Digest of the canonical address of the URL."),
        ForeignKeyConstraint(keys, names, name="fk_page_addresses_entry_id_entries", ondelete="CASCADE"),
        PrimaryKeyConstraint("entry_id", name="pk_page_addresses"),
        comment="Only of entries whose page was fetched and has another address than the entry.",
    )
    op.add_column(
        "duplicates",
        Column(
            "by_page",
            Boolean(),
            server_default=false(),
            nullable=False,
            comment="Only its page says that it has the other's address: nothing repeats the other through it.",
        ),
    )
    op.create_index("ix_page_addresses_address", "page_addresses", ["user_id", "address", "entry_id"])


def _is_divided() -> bool:
    if op.get_bind().dialect.name != "postgresql":
        return False
    divided = text("SELECT count(*) FROM pg_inherits WHERE inhparent = CAST('entries' AS regclass)")
    return bool(op.get_bind().scalar(divided))
