"""Fills a database with 100,000 entries in seconds: SQL generates narrow rows with short texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import text

from support.entry_fixtures import NOW, FeedFixture
from tidings.base.times import SECOND
from tidings.engine.database import Database, Write
from tidings.storage.entries import labels
from tidings.storage.feeds import further_categories

ENTRIES = 100_000
# Entries by user. The first user has more than half of all; a query plan must not read rows of other users.
SHARES = (60_000, 10_000, 10_000, 10_000, 10_000)
CATEGORIES, FEEDS = 10, 100
# The last ones: the others of these are below the first.
TREE = 3
SPAN_S = 400 * 86_400


@dataclass(frozen=True)
class Archive:
    """user_id: the user with the most entries. feed_id, category_id: one of theirs, as large as the others.

    label_ids: by name, "large" of a third of the entries and "small" of one in two hundred. tree_id: a category with
    others below it. shared_id: a category that feeds of another one are in, too.
    """

    database: Database
    user_id: int
    category_id: int
    feed_id: int
    label_ids: dict[str, int]
    tree_id: int
    shared_id: int


def build(
    database: Database,
    shares: Sequence[int] = SHARES,
    *,
    feeds: int = FEEDS,
    has_removed: bool = True,
    has_enclosures: bool = False,
) -> Archive:
    """Fill the database. Returns the largest user.

    Two thirds of the entries are read, a fiftieth starred, a hundredth removed if `has_removed`, a tenth tagged, a
    quarter are in German, a fortieth hidden; a twentieth have an enclosure if `has_enclosures`; one feed and one
    category are hidden.
    shares: entries by user. feeds: of each user who has as many entries.
    """
    built = [_user(database, share, min(feeds, share), has_removed=has_removed) for share in shares]
    with database.writing() as db:
        _trust_references(db)
        if has_enclosures:
            db.run(text(_ENCLOSURES))
        _give_sources(db, database.is_sqlite)
        _fill_index(db, database.is_sqlite)
        _subscribe(db, sum(shares) // 5, sum(min(feeds, share) for share in shares), database.is_sqlite)
        _count(db)
    if not database.is_sqlite:
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            # All rows instead of a random sample, with which a plan may be another one in every tenth archive.
            connection.exec_driver_sql("SET default_statistics_target = 1000")
            connection.exec_driver_sql("VACUUM ANALYZE")
            connection.exec_driver_sql("RESET default_statistics_target")
    return built[0]


def _user(database: Database, share: int, feed_count: int, *, has_removed: bool) -> Archive:
    feed_fixture = FeedFixture.create(database)
    values = {"user": feed_fixture.user_id, "share": share, "now": NOW, "span": SPAN_S * SECOND}
    with database.writing() as db:
        _trust_references(db)
        db.run(text(_CATEGORIES.format(numbers=_numbers(CATEGORIES, database.is_sqlite))), **values)
        categories = db.scalars(text("SELECT id FROM categories WHERE user_id = :user ORDER BY id"), **values)[1:]
        values |= {"category": categories[0]}
        below = text("UPDATE categories SET parent_id = :above WHERE user_id = :user AND id > :above")
        db.run(below, user=feed_fixture.user_id, above=categories[-TREE])
        db.run(text(_FEEDS.format(numbers=_numbers(feed_count, database.is_sqlite), categories=CATEGORIES)), **values)
        feeds = db.scalars(text("SELECT id FROM feeds WHERE user_id = :user ORDER BY id"), **values)[1:]
        values |= {"feed": feeds[0]}
        created = "CAST(CAST(i AS text) AS blob)" if database.is_sqlite else "convert_to(CAST(i AS text), 'UTF8')"
        truth = "" if database.is_sqlite else "::boolean"
        given = {
            "numbers": _numbers(share, database.is_sqlite),
            "feeds": feed_count,
            "categories": CATEGORIES,
            "hash": created,
            "truth": truth.replace(":", r"\:"),
        }
        db.run(text(_ENTRIES.format(**given, removed="i % 100 = 13" if has_removed else "i < 0")), **values)
        db.run(text(_TAGS), **values)
        shared = categories[4]
        of_other = text("SELECT id FROM feeds WHERE user_id = :user AND category_id = :other ORDER BY id LIMIT 5")
        further = db.scalars(of_other, user=feed_fixture.user_id, other=categories[5])
        further_categories.add(db, feed_fixture.user_id, [(feed_id, shared) for feed_id in further])
        label_ids = {name: labels.add(db, feed_fixture.user_id, name, name) for name in _LABELS}
        for name, condition in _LABELS.items():
            db.run(text(_ENTRY_LABELS + condition), **values, label=label_ids[name])
    return Archive(
        database, feed_fixture.user_id, categories[3], feeds[33 % feed_count], label_ids, categories[-TREE], shared
    )


def _numbers(number: int, is_sqlite: bool) -> str:
    """Return what a statement selects from for the rows 1 to `number`, in the column i."""
    if is_sqlite:
        return (
            f"(WITH RECURSIVE up(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM up WHERE i < {number}) SELECT i FROM up)"
        )
    # PostgreSQL that is distributed refuses recursive statements.
    return f"generate_series(1, {number}) AS numbers(i)"


def _trust_references(db: Write) -> None:
    """Let PostgreSQL skip the lookup of each referenced row in this transaction, which takes as long as the rest."""
    if db.connection.dialect.name == "postgresql":
        db.run(text("SET LOCAL session_replication_role = replica"))


def _give_sources(db: Write, is_sqlite: bool) -> None:
    """Give each feed its own source, ten of each host. No test fetches them."""
    key = "CAST(CAST(id AS text) AS blob)" if is_sqlite else "convert_to(CAST(id AS text), 'UTF8')"
    db.run(
        text(
            "INSERT INTO sources (id, fetch_key, host, next_check_at)"
            f" SELECT id + 100000, {key}, '', next_check_at FROM feeds WHERE source_id IS NULL"
        )
    )
    db.run(text("UPDATE feeds SET source_id = id + 100000 WHERE source_id IS NULL"))
    db.run(text("UPDATE sources SET host = 'host ' || (id % (1 + (SELECT count(*) FROM sources) / 10))"))


_CATEGORIES = """
INSERT INTO categories (user_id, title, title_key, hide_globally)
SELECT :user, 'Category ' || i, 'category ' || i, i = 7 FROM {numbers}
"""
_FEEDS = """
INSERT INTO feeds (
    user_id, category_id, feed_url, title, title_key, created_at, checked_at, next_check_at, hide_globally
)
SELECT :user, :category + i % {categories}, 'https://example.org/' || i, 'Feed ' || i, 'feed ' || i,
       :now, :now, :now + i, i = 5
FROM {numbers}
"""
# Ids are not in the order of publication, as when many feeds are polled.
_ENTRIES = """
INSERT INTO entries (
    user_id, feed_id, category_id, status, starred, published_at, created_at, changed_at, hash, title, author, language,
    hidden
)
SELECT :user, :feed + i % {feeds}, :category + (i % {feeds} + 1) % {categories},
       CASE WHEN {removed} THEN 2 WHEN i % 3 = 1 THEN 0 ELSE 1 END, CAST(i % 50 = 7 AS integer){truth},
       :now - :span + (CAST(i AS bigint) * 7919 % :share) * (:span / :share), :now - i,
       :now - (CAST(i AS bigint) * 104729 % :share) * (:span / :share), {hash},
       'Title ' || (i * 31 % 9973), 'Author ' || (i % 300), CASE WHEN i % 4 = 1 THEN 'de' ELSE '' END,
       CAST(i % 40 = 21 AS integer){truth}
FROM {numbers}
"""
_TAGS = """
INSERT INTO entry_tags (user_id, tag, entry_id)
SELECT user_id, 'tag ' || (id % 7), id FROM entries WHERE user_id = :user AND id % 10 = 3
"""


_ENCLOSURES = """
INSERT INTO enclosures (user_id, entry_id, url, mime_type)
SELECT user_id, id, '/', CASE WHEN id % 80 = 4 THEN 'audio/mpeg' ELSE 'image/png' END
FROM entries WHERE id % 20 = 4
"""


_LABELS = {"large": " AND id % 3 = 0", "small": " AND id % 200 = 7"}
_ENTRY_LABELS = """
INSERT INTO entry_labels (label_id, entry_id, user_id, published_at)
SELECT :label, id, user_id, published_at FROM entries WHERE user_id = :user
"""


def _fill_index(db: Write, is_sqlite: bool) -> None:
    """Index the entries: half of them contain `rain`, and one in a thousand contains any given number."""
    # The parentheses are needed: in SQLite, || binds more tightly than %.
    terms = "user_id || CASE WHEN (id % 2) = 0 THEN '/rain ' ELSE '/sun ' END || user_id || '/n' || (id % 1000)"
    if is_sqlite:
        db.run(text(f"INSERT INTO entry_words (rowid, title, body) SELECT id, {terms}, '' FROM entries ORDER BY id"))
    else:
        db.run(
            text(
                "INSERT INTO search_vectors (entry_id, user_id, words)"
                f" SELECT id, user_id, CAST({terms} AS tsvector) FROM entries"
            )
        )


def _subscribe(db: Write, number: int, sources: int, is_sqlite: bool) -> None:
    """Add WebSub subscriptions and give each a source; none is due within an hour of `NOW`."""
    db.run(text(_SUBSCRIPTIONS.format(numbers=_numbers(number, is_sqlite))), now=NOW, later=NOW + 3_600 * SECOND)
    db.run(text(_TOPICS.format(sources=sources)))


_SUBSCRIPTIONS = """
INSERT INTO websub_subscriptions (
    hub, topic, token, secret, state, lease_until, next_attempt_at, attempts, last_error, created_at
)
SELECT 'https://hub.example/', 'https://example.org/' || i, 'token ' || i, '', 'active', :later,
    :later + CAST(i AS bigint) * 1000000, 0, '', :now
FROM {numbers}
"""
_TOPICS = """
INSERT INTO websub_topics (source_id, subscription_id)
SELECT sources.id, websub_subscriptions.id FROM websub_subscriptions
JOIN (SELECT id, row_number() OVER (ORDER BY id) AS number FROM sources) AS sources
ON sources.number = 1 + (websub_subscriptions.id % {sources})
"""


def _count(db: Write) -> None:
    db.run(text(_COUNTERS))


_COUNTERS = """
INSERT INTO feed_counters (feed_id, user_id, unread, read, starred_unread, starred_read)
SELECT feed_id, user_id,
       sum(CASE WHEN status = 0 THEN 1 ELSE 0 END),
       sum(CASE WHEN status = 1 THEN 1 ELSE 0 END),
       sum(CASE WHEN status = 0 AND starred THEN 1 ELSE 0 END),
       sum(CASE WHEN status = 1 AND starred THEN 1 ELSE 0 END)
FROM entries GROUP BY feed_id, user_id
"""
