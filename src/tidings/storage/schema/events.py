"""The outbox: what has to reach somebody else."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, LargeBinary, Table, UniqueConstraint

from tidings.storage.schema.base import instant, key, metadata, number, owner, partial_index, words

deliveries = Table(
    "deliveries",
    metadata,
    key(),
    owner(),
    words("delivery_id", None, "Unique; sent along so that a receiver can drop a repeat."),
    words("integration", None, "Which integration carries it, as in integrations.name."),
    words("event_type", None, "new_entries or save_entry."),
    words("receiver", None, "Deliveries to one receiver go out in order."),
    Column("feed_id", Integer, comment="Kept when the feed goes."),
    Column("body", LargeBinary, nullable=False, comment="What is sent, byte for byte: the signature covers it."),
    words("state", "pending", "pending, delivered or failed."),
    number("attempts"),
    instant("created_at"),
    instant("next_attempt_at", nullable=True, comment="Null when nothing more will be tried."),
    instant("claimed_until", nullable=True),
    words("claimed_by"),
    instant("finished_at", nullable=True),
    number("last_status", 0, "HTTP status of the last answer, 0 when there was none."),
    words("last_error"),
    words("last_response", "", "The beginning of the last answer."),
    UniqueConstraint("delivery_id"),
    Index("ix_deliveries_user", "user_id", "id"),
    sqlite_autoincrement=True,
)
partial_index("ix_deliveries_due", deliveries.c.next_attempt_at, deliveries.c.id, where="state = 'pending'")
partial_index("ix_deliveries_receiver", deliveries.c.receiver, deliveries.c.id, where="state = 'pending'")
