"""WebSub: subscriptions at hubs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
EMPTY = sa.text("''")
ZERO = sa.text("0")


def upgrade() -> None:
    op.create_table(
        "websub_subscriptions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("hub", WORDS, nullable=False),
        sa.Column("topic", WORDS, nullable=False, comment="As the publisher names its document at the hub."),
        sa.Column(
            "token", WORDS, nullable=False, comment="The end of the callback address; random, known to the hub alone."
        ),
        sa.Column("secret", WORDS, nullable=False, comment="What the hub signs pushes with."),
        sa.Column(
            "state",
            WORDS,
            server_default=sa.text("'requested'"),
            nullable=False,
            comment="requested, active, denied or ended.",
        ),
        sa.Column(
            "asked_at", sa.BigInteger(), comment="When the hub was last asked for something: only that it may verify."
        ),
        sa.Column("lease_until", sa.BigInteger(), comment="Null: nothing is promised."),
        sa.Column(
            "last_push_at",
            sa.BigInteger(),
            comment="Null: pushes are not to be relied on, polling is not slowed down.",
        ),
        sa.Column(
            "next_attempt_at",
            sa.BigInteger(),
            nullable=False,
            comment="When it is renewed, tried again, or forgotten.",
        ),
        sa.Column(
            "attempts",
            sa.Integer(),
            server_default=ZERO,
            nullable=False,
            comment="Requests since the hub last verified one.",
        ),
        sa.Column("last_error", WORDS, server_default=EMPTY, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_websub_subscriptions"),
        sa.UniqueConstraint("hub", "topic", name="uq_websub_subscriptions_hub_topic"),
        sa.UniqueConstraint("token", name="uq_websub_subscriptions_token"),
        comment="One for each hub and topic, for the feeds of all users.",
        sqlite_autoincrement=True,
    )
    op.create_index("ix_websub_subscriptions_due", "websub_subscriptions", ["next_attempt_at", "id"])
    op.create_table(
        "websub_topics",
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("subscription_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"], ["sources.id"], name="fk_websub_topics_source_id_sources", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["subscription_id"],
            ["websub_subscriptions.id"],
            name="fk_websub_topics_subscription_id_websub_subscriptions",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("source_id", "subscription_id", name="pk_websub_topics"),
        comment="Which documents named the hub and the topic themselves: a push is for no others.",
        sqlite_with_rowid=False,
    )
    op.create_index("ix_websub_topics_subscription", "websub_topics", ["subscription_id"])
    op.create_table(
        "websub_pushes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("subscription_id", sa.Integer(), nullable=False),
        sa.Column(
            "digest",
            sa.LargeBinary(),
            nullable=False,
            comment="Of the body: the same again while it waits is dropped.",
        ),
        sa.Column("charset", WORDS, server_default=EMPTY, nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.Column("claimed_until", sa.BigInteger(), comment="A worker stores it until then; who dies loses it."),
        sa.Column("attempts", sa.Integer(), server_default=ZERO, nullable=False),
        sa.ForeignKeyConstraint(
            ["subscription_id"],
            ["websub_subscriptions.id"],
            name="fk_websub_pushes_subscription_id_websub_subscriptions",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_websub_pushes"),
        sa.UniqueConstraint("subscription_id", "digest", name="uq_websub_pushes_subscription_id_digest"),
        comment="Genuine pushes that a worker has still to store.",
        sqlite_autoincrement=True,
    )
