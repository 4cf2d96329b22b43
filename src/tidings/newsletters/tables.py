"""The tables of newsletters: addresses, senders, and which letters have arrived."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, LargeBinary, Table, UniqueConstraint

from tidings.engine.columns import big, flag, instant, key, long_key, metadata, number, owner, partial_index, words

newsletter_addresses = Table(
    "newsletter_addresses",
    metadata,
    key(),
    owner(),
    words("name", None),
    words("secret", None, "Whoever knows it may deliver."),
    flag("is_one_feed", comment="New senders share one feed, instead of one for each."),
    Column("category_id", Integer, ForeignKey("categories.id", ondelete="SET NULL"), comment="Of new feeds."),
    instant("created_at"),
    instant("last_letter_at", nullable=True),
    number("letters", 0, "How many have arrived, without repeated ones."),
    number("hour", 0, "The hour since 1970 that hour_letters is about."),
    number("hour_letters", 0, "How many were delivered in it, to limit them."),
    UniqueConstraint("secret"),
    Index("ix_newsletter_addresses_user", "user_id", "id"),
    sqlite_autoincrement=True,
    comment="Secret addresses to which letters are delivered.",
)
partial_index("ix_newsletter_addresses_category", newsletter_addresses.c.category_id, where="category_id IS NOT NULL")

newsletter_senders = Table(
    "newsletter_senders",
    metadata,
    key(),
    owner(),
    words("sender_key", None, "list: and its List-Id, or from: and the address."),
    words("name", None, "As its user wrote it, or as the first letter had it."),
    words("address"),
    Column(
        "feed_id",
        Integer,
        ForeignKey("feeds.id", ondelete="SET NULL"),
        comment="Where its letters go; null: the next one makes a feed.",
    ),
    flag("is_blocked", comment="Its letters are discarded."),
    number("letters", 0, "How many have arrived."),
    number("discarded", 0, "How many were discarded since it is blocked."),
    instant("last_letter_at", nullable=True),
    words("unsubscribe_url", comment="Of the newest letter that has one, as what follows."),
    words("unsubscribe_mail"),
    flag("is_one_click", comment="A POST to unsubscribe_url unsubscribes (RFC 8058)."),
    instant("unsubscribed_at", nullable=True),
    words("authentication", comment="Of the newest letter: method=result, separated by blanks (RFC 8601)."),
    flag("is_spam", comment="A filter said so of the newest letter."),
    words("confirmation_url", comment="Where the subscription has to be confirmed; empty: nothing to do."),
    words("confirmation_subject"),
    UniqueConstraint("user_id", "sender_key"),
    sqlite_autoincrement=True,
    comment="Newsletters that have arrived.",
)
partial_index("ix_newsletter_senders_feed", newsletter_senders.c.feed_id, where="feed_id IS NOT NULL")

newsletter_letters = Table(
    "newsletter_letters",
    metadata,
    long_key(),
    owner(),
    Column("digest", LargeBinary, nullable=False, comment="SHA-256 of the Message-ID."),
    instant("received_at"),
    UniqueConstraint("user_id", "digest"),
    Index("ix_newsletter_letters_received", "received_at"),
    sqlite_autoincrement=True,
    comment="Letters that have arrived, so that a copy is not stored again.",
)

newsletter_mailboxes = Table(
    "newsletter_mailboxes",
    metadata,
    key(),
    Column(
        "user_id",
        Integer,
        ForeignKey("users.id", ondelete="CASCADE"),
        comment="NULL for the mailbox of this installation, whose password is in the settings.",
    ),
    flag("is_shared", comment="It is the mailbox of this installation."),
    words("host", None),
    number("port", 993),
    flag("has_tls", default=True, comment="Without it, only connections to this machine are made."),
    flag("has_starttls", comment="TLS begins after STARTTLS, instead of with the first byte."),
    words("username", None),
    words("password"),
    words("folder", None),
    flag("marks_seen", comment="Letters that were stored are marked as seen."),
    big(
        "uid_validity",
        "Of the folder when it was read last; the UIDs are worth nothing with another one. 0: never read.",
    ),
    big("last_uid", "Messages up to this one are done."),
    big("horizon_uid", "The newest message at the first round: up to it, only those since letters_since count."),
    instant("letters_since"),
    words("deferred", comment="UIDs up to last_uid that are tried again, separated by blanks."),
    instant("polled_at", nullable=True, comment="When it was read last, with or without success."),
    instant("next_poll_at"),
    number("failures", 0, "Rounds that failed since the last success."),
    words("error", comment="Why the last round failed, in English; empty if it did not."),
    words("error_form", comment="The same as a JSON message; empty if it cannot be restored from it."),
    number("letters", 0, "How many have become entries."),
    instant("claimed_until", nullable=True, comment="A worker reads it until then; who dies loses it."),
    words("claimed_by"),
    UniqueConstraint("user_id"),
    Index("ix_newsletter_mailboxes_due", "next_poll_at", "id"),
    sqlite_autoincrement=True,
    comment="Folders on IMAP servers, which are polled for letters.",
)
partial_index("uq_newsletter_mailboxes_shared", newsletter_mailboxes.c.is_shared, where="is_shared", unique=True)
