"""WebSub: subscriptions at hubs, the sources they are for, and pushes that are not stored yet."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, LargeBinary, Table, UniqueConstraint

from tidings.engine.columns import instant, key, metadata, number, words

websub_subscriptions = Table(
    "websub_subscriptions",
    metadata,
    key(),
    words("hub", None),
    words("topic", None, "As the publisher names its document at the hub."),
    words("token", None, "The end of the callback address; random, known to the hub alone."),
    words("secret", None, "What the hub signs pushes with."),
    words("state", "requested", "requested, active, denied or ended."),
    instant("asked_at", nullable=True, comment="When the hub was last asked for something: only that it may verify."),
    instant("lease_until", nullable=True, comment="Null: nothing is promised."),
    instant("last_push_at", nullable=True, comment="Null: pushes are not to be relied on, polling is not slowed down."),
    instant("next_attempt_at", comment="When it is renewed, tried again, or forgotten."),
    number("attempts", 0, "Requests since the hub last verified one."),
    words("last_error"),
    instant("created_at"),
    UniqueConstraint("hub", "topic"),
    UniqueConstraint("token"),
    Index("ix_websub_subscriptions_due", "next_attempt_at", "id"),
    sqlite_autoincrement=True,
    comment="One for each hub and topic, for the feeds of all users.",
)

websub_topics = Table(
    "websub_topics",
    metadata,
    Column("source_id", Integer, ForeignKey("sources.id", ondelete="CASCADE"), primary_key=True),
    Column("subscription_id", Integer, ForeignKey("websub_subscriptions.id", ondelete="CASCADE"), primary_key=True),
    Index("ix_websub_topics_subscription", "subscription_id"),
    sqlite_with_rowid=False,
    comment="Which documents named the hub and the topic themselves: a push is for no others.",
)

websub_pushes = Table(
    "websub_pushes",
    metadata,
    key(),
    Column("subscription_id", Integer, ForeignKey("websub_subscriptions.id", ondelete="CASCADE"), nullable=False),
    Column("digest", LargeBinary, nullable=False, comment="Of the body: the same again while it waits is dropped."),
    words("charset"),
    Column("body", LargeBinary, nullable=False),
    instant("received_at"),
    instant("claimed_until", nullable=True, comment="A worker stores it until then; who dies loses it."),
    number("attempts"),
    UniqueConstraint("subscription_id", "digest"),
    sqlite_autoincrement=True,
    comment="Genuine pushes that a worker has still to store.",
    info={"has_large_rows": True},
)
