"""Several webhooks of a user, and whether a feed is known to fail."""

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

revision = "0072"
down_revision = "0071"
branch_labels = None
depends_on = None

# Compared by code point on both engines.
WORDS = Text().with_variant(Text(collation="C"), "postgresql")
# What the only webhook of a user has received until now.
_EVENTS = '["save_entry","new_entries","rule_matched"]'


def _words(name: str, default: str, comment: str | None = None) -> Column[str]:
    return Column(name, WORDS, server_default=text(f"'{default}'"), nullable=False, comment=comment)


def upgrade() -> None:
    op.create_table(
        "webhooks",
        Column("id", Integer(), nullable=False),
        Column("user_id", Integer(), nullable=False),
        _words("name", ""),
        Column(
            "is_main",
            Boolean(),
            server_default=false(),
            nullable=False,
            comment="The one among the integrations; at most one of each user.",
        ),
        Column("enabled", Boolean(), server_default=false(), nullable=False),
        _words("settings", "{}", "JSON object with url and secret."),
        _words("events", "[]", "JSON: names of the events that it gets."),
        _words("feed_ids", "[]", "JSON: the feeds that it is told of; empty, as category_ids: all. Deleted ones stay."),
        _words("category_ids", "[]", "JSON: categories, with those below them, whose feeds it is told of, too."),
        _words("query", "", "In the query language; empty for every entry."),
        Column("changed_at", BigInteger(), nullable=False),
        _words("last_error", "", "As in integrations."),
        _words("last_error_form", "", "As in integrations."),
        ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_webhooks_user_id_users"), ondelete="CASCADE"),
        PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_webhooks_user", "webhooks", ["user_id", "id"])
    op.create_index(
        "ix_webhooks_main",
        "webhooks",
        ["user_id"],
        unique=True,
        sqlite_where=text("is_main"),
        postgresql_where=text("is_main"),
    )
    same = "enabled, settings, changed_at, last_error, last_error_form"
    op.execute(
        f"INSERT INTO webhooks (user_id, name, is_main, events, {same}) "  # noqa: S608 - constants
        f"SELECT user_id, 'Webhook', true, '{_EVENTS}', {same} FROM integrations "
        "WHERE name = 'webhook' ORDER BY user_id"
    )
    op.execute("DELETE FROM integrations WHERE name = 'webhook'")
    if op.get_bind().dialect.name == "postgresql":
        of_delivery = "As in integrations.name; of webhooks, webhook for the main one, else webhook:id."
        op.alter_column("integrations", "name", comment="As in the API: wallabag, linkding …; not webhook.")
        op.alter_column("deliveries", "integration", comment=of_delivery)
        op.alter_column("deliveries", "event_type", comment="new_entries, save_entry …")
        op.alter_column("deliveries", "feed_id", comment="Kept when the feed goes; null: of no single feed.")
        op.alter_column("receivers", "integration", comment="As in deliveries.")
    op.add_column(
        "feeds",
        Column(
            "is_failing",
            Boolean(),
            server_default=false(),
            nullable=False,
            comment="An error was counted, and no check has succeeded since. Edits, which clear the errors, leave it.",
        ),
    )
    op.execute("UPDATE feeds SET is_failing = true WHERE parsing_error_count > 0 AND failed_checks > 0")
