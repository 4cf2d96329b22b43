"""Rules with actions, the runs that apply them to stored entries, and what these runs changed."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, Table

from tidings.engine.columns import LongId, big, flag, instant, key, metadata, number, owner, partial_index, words

rules = Table(
    "rules",
    metadata,
    key(),
    owner(),
    number("position", 0, "Rules are tried in this order; equal ones by id."),
    words("name"),
    flag("enabled", True),
    words("scope", "all", "all, category or feed."),
    Column(
        "category_id",
        Integer,
        ForeignKey("categories.id", ondelete="SET NULL"),
        comment="With scope category; NULL when it was deleted: the rule then does nothing.",
    ),
    Column(
        "feed_id",
        Integer,
        ForeignKey("feeds.id", ondelete="SET NULL"),
        comment="With scope feed; NULL when it was deleted: the rule then does nothing.",
    ),
    words("query", "", "In the query language; empty for every entry."),
    words("actions", "[]", "JSON: array of objects with a type."),
    flag("stop", comment="No later rule is tried on an entry that it matches."),
    flag("for_changed", comment="Whether it is tried on entries that the publisher changed, too."),
    big("matched_total", "How many arriving entries it matched."),
    number("matched_today", 0, "Of these, on the day matched_day."),
    number("matched_day", 0, "Day of the user's calendar on which it matched last, counted from 1 January of year 1."),
    instant("matched_at", nullable=True, comment="When it matched last."),
    Index("ix_rules_user", "user_id", "position", "id"),
    sqlite_autoincrement=True,
)
partial_index("ix_rules_category", rules.c.category_id, where="category_id IS NOT NULL")
partial_index("ix_rules_feed", rules.c.feed_id, where="feed_id IS NOT NULL")

rule_changed_entries = Table(
    "rule_changed_entries",
    metadata,
    Column("entry_id", LongId, ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("user_id", Integer, nullable=False),
    instant("changed_at", comment="As in entries after the publisher's change: another value there is of the user."),
    comment="Entries that the publisher changed, of users with rules for these.",
)
