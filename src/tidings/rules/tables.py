"""Rules with actions, the runs that apply them to stored entries, and what these runs changed."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, SmallInteger, Table

from tidings.engine.columns import (
    BY_USER,
    LongId,
    big,
    flag,
    instant,
    key,
    metadata,
    number,
    owner,
    partial_index,
    words,
)

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

rule_runs = Table(
    "rule_runs",
    metadata,
    key(),
    owner(),
    Column("rule_id", Integer, nullable=False, comment="It may be gone or changed: what follows is as it was."),
    words("query", None),
    Column("category_id", Integer),
    Column("feed_id", Integer),
    words("actions", None, "As in rules."),
    words("timezone", None, "Of the user, for dates in the query."),
    words("state", None, "running, done, undoing or undone."),
    Column("before_entry_id", LongId, comment="Entries with a lower id are still to be looked at; NULL: all."),
    number("total", 0, "Entries to change, counted at the beginning."),
    number("changed", 0, "Entries that are changed by it now."),
    instant("started_at", comment="Relative times in the query are meant for then."),
    instant("finished_at", nullable=True),
    instant("claimed_until", nullable=True, comment="A worker holds it until then; who dies loses it."),
    words("claimed_by"),
    Index("ix_rule_runs_user", "user_id", "id"),
    sqlite_autoincrement=True,
    info=BY_USER,
    comment="Rules that users apply to stored entries.",
)
partial_index("ix_rule_runs_open", rule_runs.c.id, where="state IN ('running', 'undoing')")

rule_run_entries = Table(
    "rule_run_entries",
    metadata,
    Column("run_id", Integer, ForeignKey("rule_runs.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column(
        "entry_id",
        LongId,
        ForeignKey("entries.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
        index=True,
    ),
    Column("user_id", Integer, nullable=False),
    Column("status", SmallInteger, nullable=False, comment="Before, as in entries."),
    Column("starred", Boolean, nullable=False, comment="Before."),
    instant("changed_at", comment="As in entries afterwards: with another value there, the user has changed it since."),
    words("label_ids", "[]", "JSON array: labels that it got."),
    flag("hidden", comment="Whether the run hid it from the global lists."),
    sqlite_with_rowid=False,
    comment="What the entries that a run changed were before, for a day, so that it can be undone.",
)
