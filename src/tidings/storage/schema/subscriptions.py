"""Categories, feeds and their icons."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, LargeBinary, PrimaryKeyConstraint, Table, UniqueConstraint

from tidings.domain.feeds.feed_settings import ALL_FEED_SETTINGS
from tidings.domain.feeds.own_bridges import BRIDGE_SETTINGS
from tidings.engine.columns import (
    BY_USER,
    COPIED,
    Words,
    flag,
    instant,
    key,
    metadata,
    number,
    owner,
    partial_index,
    words,
)
from tidings.storage.schema.setting_columns import setting_columns

categories = Table(
    "categories",
    metadata,
    key(),
    owner(),
    words("title", None, "As apps show it: its path or its name."),
    words("title_key", None, "Case-folded: names are compared without case everywhere."),
    flag("hide_globally"),
    # Not a foreign key: copies of the database write categories in the order of their ids.
    Column("parent_id", Integer, comment="The category that it is under; null: none."),
    words("name", comment="The last part of its path."),
    flag("keep_duplicates", comment="As of each feed in it and below it."),
    UniqueConstraint("user_id", "title_key"),
    Index("ix_categories_user_title", "user_id", "title", "id"),
    Index("ix_categories_user_parent", "user_id", "parent_id"),
    sqlite_autoincrement=True,
    info=BY_USER,
)

partial_index("ix_categories_keep_duplicates", categories.c.user_id, categories.c.id, where="keep_duplicates = true")

icons = Table(
    "icons",
    metadata,
    key(),
    words("digest", None, "SHA-256 of content and media type, hex: one icon serves all feeds that show it."),
    words("external_id", None, "40 hex digits, known to clients that cache icons."),
    words("mime_type", None),
    Column("content", LargeBinary, nullable=False),
    UniqueConstraint("digest"),
    UniqueConstraint("external_id"),
    sqlite_autoincrement=True,
    info={"has_large_rows": True} | COPIED,
)

sources = Table(
    "sources",
    metadata,
    key(),
    Column(
        "fetch_key", LargeBinary, nullable=False, comment="Of address and fetch options: the same for all that share."
    ),
    words("host", None, "Which host a fetch is counted for."),
    instant("next_check_at", nullable=True, comment="The earliest of its enabled feeds; null: it has none."),
    instant("claimed_until", nullable=True, comment="A worker holds it until then; who dies loses it."),
    words("claimed_by"),
    Column(
        "unshared_after",
        Integer,
        comment="Contents of entries of feeds with a higher id may not be shared yet; null: no feed's.",
    ),
    flag("is_shared", comment="A second feed was added: contents of entries are stored once for all feeds."),
    UniqueConstraint("fetch_key"),
    sqlite_autoincrement=True,
    comment="One row for each document that is fetched, however many feeds show it.",
)
partial_index("ix_sources_due", sources.c.next_check_at, sources.c.id, where="next_check_at IS NOT NULL")
partial_index("ix_sources_claimed", sources.c.host, sources.c.claimed_until, where="claimed_by <> ''")
Index("ix_sources_host", sources.c.host, sources.c.next_check_at)
partial_index("ix_sources_claimed_by", sources.c.claimed_by, where="claimed_by <> ''")
partial_index("ix_sources_unshared", sources.c.id, where="unshared_after IS NOT NULL")

hosts = Table(
    "hosts",
    metadata,
    Column("host", Words, primary_key=True),
    instant("closed_until", comment="No feed of it is fetched before."),
    flag("is_asked", comment="By the host itself, with a 429: then nothing else is fetched either."),
    instant(
        "asked_until",
        nullable=True,
        comment="What the host asked for, at most a day: feeds of the users it asked are postponed to then.",
    ),
    sqlite_with_rowid=False,
    comment="Only hosts that are to be left alone for a while.",
)

host_attempts = Table(
    "host_attempts",
    metadata,
    owner(),
    Column("host", Words, nullable=False),
    instant("last_at", comment="When the user last sent a request by hand although the host was paused."),
    PrimaryKeyConstraint("user_id", "host"),
    sqlite_with_rowid=False,
    comment="Of the last minute.",
)

user_bridges = Table(
    "user_bridges",
    metadata,
    Column("user_id", ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    *setting_columns(BRIDGE_SETTINGS),
    instant("taken_until", nullable=True, comment="Its FlareSolverr works until then; whoever dies loses the turn."),
    words("taken_by"),
    comment="Bridges that users have set up for themselves. Most users have no row.",
)

feeds = Table(
    "feeds",
    metadata,
    key(),
    owner(),
    Column("category_id", Integer, ForeignKey("categories.id", ondelete="CASCADE"), nullable=False),
    Column("icon_id", Integer, ForeignKey("icons.id", ondelete="SET NULL"), comment="Null: none found."),
    words("icon_url", comment="As the feed itself names it."),
    instant(
        "icon_checked_at",
        nullable=True,
        comment="When an icon was last looked for; null: to be done at the next check.",
    ),
    words("feed_url", None),
    words("site_url"),
    words("title", None),
    words("title_key", None, "Without case and accents, for the order of the feed list."),
    words("description"),
    words("language"),
    number("edited", 0, "Bits of the fields the user set: they no longer follow the publisher."),
    instant("created_at"),
    # polling
    instant("checked_at"),
    instant("next_check_at", comment="Always true: when the poller may take it next."),
    Column("source_id", Integer, ForeignKey("sources.id"), comment="What is fetched for it; never null."),
    words("etag_header"),
    words("last_modified_header"),
    Column("body_digest", LargeBinary, comment="Of the last parsed body; the same again is not parsed."),
    instant("parsed_at", nullable=True, comment="When a body was last parsed."),
    words("parsing_error_message"),
    words(
        "parsing_error_form",
        "",
        "JSON: template and values of parsing_error_message; empty: English alone.",
    ),
    words(
        "limits_reached",
        comment="Of the last parsed body: elements, entries, text (cut there); pages: they have far less text.",
    ),
    number("parsing_error_count"),
    number("failed_checks", 0, "In a row, whatever the reason: how long the next wait is. 0 after a success."),
    flag(
        "is_failing",
        comment="An error was counted, and no check has succeeded since. Edits, which clear the errors, leave it.",
    ),
    words("publisher_hints", comment="JSON: what the last document asked of its readers."),
    number("news_gap_s", 0, "Seconds between news, on average, as of news_at; 0: not known."),
    instant("news_at", nullable=True, comment="When there was news last; null: not known."),
    number("took_ms", 0, "Milliseconds until the last answer was there, body and all; 0: not known."),
    words("moved_to", comment="Where permanent redirects lead; followed once they are confirmed."),
    number("moved_times", 0, "How often in a row they led there."),
    words(
        "disabled_reason",
        comment="Why a check disabled it: gone (410) or failed; empty: its user did, or it is not.",
    ),
    number("page_items", 0, "Of a feed made from a page: number of entries at the last check that read it."),
    flag("once_matched_by_url", comment="They were, before: some may still be stored under its hash."),
    flag("own_bridge", comment="A bridge of its user fetches it, so that it shares its source with nobody."),
    *setting_columns(ALL_FEED_SETTINGS),
    UniqueConstraint("user_id", "feed_url"),
    Index("ix_feeds_category", "category_id"),
    Index("ix_feeds_icon", "icon_id"),
    # Ends with flag and time, so that the next check of a source is computed from the index alone.
    Index("ix_feeds_source", "source_id", "disabled", "next_check_at"),
    sqlite_autoincrement=True,
)
partial_index("ix_feeds_keep_duplicates", feeds.c.user_id, feeds.c.id, where="keep_duplicates = true")

feed_categories = Table(
    "feed_categories",
    metadata,
    Column("feed_id", Integer, ForeignKey("feeds.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column(
        "category_id", Integer, ForeignKey("categories.id", ondelete="CASCADE"), primary_key=True, autoincrement=False
    ),
    Column("user_id", Integer, nullable=False),
    Index("ix_feed_categories_category", "category_id", "feed_id"),
    Index("ix_feed_categories_user", "user_id", "feed_id", "category_id"),
    sqlite_with_rowid=False,
    comment="The categories of a feed other than its first, which is in feeds.",
)
