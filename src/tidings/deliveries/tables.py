"""Integrations, and the outbox: deliveries, their bodies, and the queues of receivers."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, LargeBinary, Table, UniqueConstraint

from tidings.engine.columns import (
    CompressedText,
    LongId,
    Words,
    big,
    flag,
    instant,
    key,
    long_key,
    metadata,
    number,
    owner,
    partial_index,
    words,
)

integrations = Table(
    "integrations",
    metadata,
    Column("user_id", ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("name", Words, primary_key=True, comment="As in the API: wallabag, linkding …; not webhook."),
    flag("enabled"),
    words("settings", "{}", "JSON object; its members are the integration's own."),
    instant("changed_at"),
    words("last_error", "", "What went wrong at the last try, or why it was switched off; empty when all is well."),
    words(
        "last_error_form",
        "",
        "JSON: template and values of last_error; empty: English alone.",
    ),
)

webhooks = Table(
    "webhooks",
    metadata,
    key(),
    owner(),
    words("name"),
    flag("is_main", comment="The one among the integrations; at most one of each user."),
    flag("enabled"),
    words("settings", "{}", "JSON object with url and secret."),
    words("events", "[]", "JSON: names of the events that it gets."),
    words("feed_ids", "[]", "JSON: the feeds that it is told of; empty, as category_ids: all. Deleted ones stay."),
    words("category_ids", "[]", "JSON: categories, with those below them, whose feeds it is told of, too."),
    words("query", "", "In the query language; empty for every entry."),
    instant("changed_at"),
    words("last_error", "", "As in integrations."),
    words("last_error_form", "", "As in integrations."),
    Index("ix_webhooks_user", "user_id", "id"),
    sqlite_autoincrement=True,
)
partial_index("ix_webhooks_main", webhooks.c.user_id, where="is_main", unique=True)

deliveries = Table(
    "deliveries",
    metadata,
    long_key(),
    owner(),
    words("delivery_id", None, "Unique; sent along so that a receiver can drop a repeat."),
    words("integration", None, "As in integrations.name; of webhooks, webhook for the main one, else webhook:id."),
    words("event_type", None, "new_entries, save_entry …"),
    words("receiver", None, "Deliveries to one receiver go out in order."),
    Column("feed_id", Integer, comment="Kept when the feed goes; null: of no single feed."),
    words("state", "pending", "pending, delivered or failed."),
    number("attempts"),
    instant("created_at"),
    instant("finished_at", nullable=True),
    number("last_status", 0, "HTTP status of the last answer, 0 when there was none."),
    words("last_error"),
    words(
        "last_error_form",
        "",
        "JSON: template and values of last_error; empty: English alone.",
    ),
    words("last_response", "", "The beginning of the last answer."),
    Column("receiver_id", Integer, comment="In whose queue it is; null until a worker has put it there."),
    number("size", 0, "Bytes of the body."),
    instant("redelivered_at", nullable=True, comment="When its owner last asked for it again."),
    number("failed_tries", 0, "Attempts that failed because of this event, since its owner last asked for it."),
    instant("retry_at", nullable=True, comment="When it is tried again, after later ones; null: in order."),
    UniqueConstraint("delivery_id"),
    Index("ix_deliveries_user", "user_id", "id"),
    Index("ix_deliveries_user_state", "user_id", "state", "id"),
    Index("ix_deliveries_user_integration", "user_id", "integration", "id"),
    sqlite_autoincrement=True,
)
# Partial indexes for few rows among many: entries that users save, and states of delivery.
partial_index("ix_deliveries_saved", deliveries.c.user_id, deliveries.c.id, where="event_type = 'save_entry'")
partial_index("ix_deliveries_arriving", deliveries.c.id, where="receiver_id IS NULL AND state = 'pending'")
# With retry_at, so that deliveries that stepped aside are skipped without reading their rows.
partial_index(
    "ix_deliveries_waiting",
    deliveries.c.receiver_id,
    deliveries.c.id,
    deliveries.c.retry_at,
    where="state = 'pending'",
)
partial_index(
    "ix_deliveries_retrying",
    deliveries.c.receiver_id,
    deliveries.c.retry_at,
    where="retry_at IS NOT NULL AND state = 'pending'",
)
partial_index("ix_deliveries_finished", deliveries.c.finished_at, where="finished_at IS NOT NULL")

delivery_bodies = Table(
    "delivery_bodies",
    metadata,
    Column(
        "delivery_id",
        LongId,
        ForeignKey("deliveries.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("body", CompressedText, nullable=False, comment="What is sent, byte for byte: the signature covers it."),
    comment="Apart: queues and lists do not read them. Missing for what was given up because too much was waiting.",
    info={"has_large_rows": True},
)

receivers = Table(
    "receivers",
    metadata,
    key(),
    owner(),
    words("integration", None, "As in deliveries."),
    Column("address_digest", LargeBinary, nullable=False, comment="BLAKE2b of deliveries.receiver, which may be long."),
    number("pending", 0, "How many deliveries wait in its queue."),
    big("pending_bytes", "Of their bodies."),
    instant("next_attempt_at", nullable=True, comment="When the first of them is tried; null: none waits."),
    number("failures", 0, "Tries that failed in a row."),
    instant("failing_since", nullable=True),
    number("given_up", 0, "Deliveries that were given up in a row."),
    instant("claimed_until", nullable=True, comment="A worker holds it until then; who dies loses it."),
    words("claimed_by"),
    Column("attempted_id", LongId, comment="Delivery that a worker attempts, or attempted last; null: none yet."),
    UniqueConstraint("user_id", "integration", "address_digest"),
    sqlite_autoincrement=True,
    comment="A queue for each user, integration and address: what is in it goes out one after another.",
)
partial_index(
    "ix_receivers_due",
    receivers.c.next_attempt_at,
    receivers.c.id,
    where="next_attempt_at IS NOT NULL AND failures = 0",
)
partial_index(
    "ix_receivers_failing",
    receivers.c.next_attempt_at,
    receivers.c.id,
    where="next_attempt_at IS NOT NULL AND failures > 0",
)
partial_index("ix_receivers_claimed", receivers.c.claimed_by, where="claimed_by <> ''")
