"""Consistency checks that every idle database of Tidings must pass, whatever faults happened before."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping

from chaos.ledger import Loss, Value
from chaos.reading import Reader

MICROSECONDS = 1_000_000
# A working feed is checked at least once a day.
MAX_WAIT_S = 2 * 86_400
MAX_LEASE_S = 600
OVERDUE_S = 120

# By check: a message for each returned row, and the query, which runs on both engines.
QUERIES: Mapping[str, list[tuple[str, str]]] = {
    "counters": [
        (
            "feed {}: counted unread {}, read {}, starred {} and {}; there are {}, {}, {} and {}",
            """
            SELECT f.id, COALESCE(c.unread, 0), COALESCE(c.read, 0), COALESCE(c.starred_unread, 0),
                   COALESCE(c.starred_read, 0), COALESCE(e.unread, 0), COALESCE(e.read, 0),
                   COALESCE(e.starred_unread, 0), COALESCE(e.starred_read, 0)
            FROM feeds f LEFT JOIN feed_counters c ON c.feed_id = f.id LEFT JOIN (
              SELECT feed_id,
                     SUM(CASE WHEN status = 0 THEN 1 ELSE 0 END) AS unread,
                     SUM(CASE WHEN status = 1 THEN 1 ELSE 0 END) AS read,
                     SUM(CASE WHEN status = 0 AND starred THEN 1 ELSE 0 END) AS starred_unread,
                     SUM(CASE WHEN status = 1 AND starred THEN 1 ELSE 0 END) AS starred_read
              FROM entries GROUP BY feed_id) e ON e.feed_id = f.id
            WHERE COALESCE(c.unread, 0) <> COALESCE(e.unread, 0) OR COALESCE(c.read, 0) <> COALESCE(e.read, 0)
               OR COALESCE(c.starred_unread, 0) <> COALESCE(e.starred_unread, 0)
               OR COALESCE(c.starred_read, 0) <> COALESCE(e.starred_read, 0)
            """,
        ),
        (
            "receiver {}: counted {} deliveries with {} bytes; {} wait with {}",
            """
            SELECT r.id, r.pending, r.pending_bytes, COUNT(d.id), COALESCE(SUM(d.size), 0)
            FROM receivers r LEFT JOIN deliveries d ON d.receiver_id = r.id AND d.state = 'pending'
            GROUP BY r.id, r.pending, r.pending_bytes
            HAVING r.pending <> COUNT(d.id) OR r.pending_bytes <> COALESCE(SUM(d.size), 0)
            """,
        ),
    ],
    "half-written": [
        ("entry {} has no body", "SELECT id FROM entries WHERE id NOT IN (SELECT entry_id FROM entry_contents)"),
        (
            "the body of entry {} has no entry",
            "SELECT entry_id FROM entry_contents WHERE entry_id NOT IN (SELECT id FROM entries)",
        ),
        (
            "the body of entry {} is shared and gone",
            """
            SELECT entry_id FROM entry_contents
            WHERE shared_id IS NOT NULL AND shared_id NOT IN (SELECT id FROM shared_contents)
            """,
        ),
        ("entry {} has no feed", "SELECT id FROM entries WHERE feed_id NOT IN (SELECT id FROM feeds)"),
        (
            "entry {} is of another user or category than its feed",
            """
            SELECT e.id FROM entries e JOIN feeds f ON f.id = e.feed_id
            WHERE e.user_id <> f.user_id OR e.category_id <> f.category_id
            """,
        ),
        (
            "entry {} has tags that are not filed",
            "SELECT id FROM entries WHERE tags <> '[]' AND id NOT IN (SELECT entry_id FROM entry_tags)",
        ),
        (
            "a tag is filed for entry {}, which is gone",
            "SELECT entry_id FROM entry_tags WHERE entry_id NOT IN (SELECT id FROM entries)",
        ),
        ("enclosure {} has no entry", "SELECT id FROM enclosures WHERE entry_id NOT IN (SELECT id FROM entries)"),
        (
            "feed {} has no source",
            "SELECT id FROM feeds WHERE source_id IS NULL OR source_id NOT IN (SELECT id FROM sources)",
        ),
        ("feed {} has no category", "SELECT id FROM feeds WHERE category_id NOT IN (SELECT id FROM categories)"),
        (
            "pending delivery {} has no body",
            "SELECT id FROM deliveries WHERE state = 'pending' AND id NOT IN (SELECT delivery_id FROM delivery_bodies)",
        ),
    ],
    "double": [
        (
            "feed {} has {} {} times",
            "SELECT feed_id, url, COUNT(*) FROM entries WHERE url <> '' GROUP BY feed_id, url HAVING COUNT(*) > 1",
        ),
        (
            "user {} has feed {} {} times",
            "SELECT user_id, feed_url, COUNT(*) FROM feeds GROUP BY user_id, feed_url HAVING COUNT(*) > 1",
        ),
    ],
    "delivery stuck": [
        (
            "delivery {} ({}) still waits after {} attempts: {}",
            "SELECT id, event_type, attempts, last_error FROM deliveries WHERE state = 'pending'",
        ),
        ("delivery {} was given up: {}", "SELECT id, last_error FROM deliveries WHERE state = 'failed'"),
    ],
    "search index": [
        ("entry {} waits for the index", "SELECT entry_id FROM search_pending"),
    ],
}
NOT_INDEXED = {
    "sqlite": "SELECT id FROM entries e WHERE NOT EXISTS (SELECT 1 FROM search_documents d WHERE d.entry_id = e.id)",
    "postgresql": "SELECT id FROM entries WHERE id NOT IN (SELECT entry_id FROM search_vectors)",
}
# Placeholders are times in microseconds: too far in the past, and too far in the future.
LEASES = [
    (
        "source {} is held by {} for {} s more",
        "SELECT id, claimed_by, (claimed_until - {now}) / 1000000 FROM sources WHERE claimed_until > {lease}",
    ),
    (
        "receiver {} is held by {} for {} s more",
        "SELECT id, claimed_by, (claimed_until - {now}) / 1000000 FROM receivers WHERE claimed_until > {lease}",
    ),
    (
        "source {} is due for {} s and not checked",
        """
        SELECT id, ({now} - next_check_at) / 1000000 FROM sources
        WHERE next_check_at < {overdue} AND host NOT IN (SELECT host FROM hosts WHERE closed_until > {now})
        """,
    ),
    (
        "source {} is not checked for {} s more",
        "SELECT id, (next_check_at - {now}) / 1000000 FROM sources WHERE next_check_at > {ahead}",
    ),
    (
        "receiver {} is due for {} s and not tried",
        "SELECT id, ({now} - next_attempt_at) / 1000000 FROM receivers WHERE next_attempt_at < {overdue}",
    ),
    (
        "host {} is left alone for {} s more",
        "SELECT host, (closed_until - {now}) / 1000000 FROM hosts WHERE closed_until > {ahead}",
    ),
]
CHECKS = (*QUERIES, "lease stuck", "integrity")


def inconsistencies(database: Reader, now_s: float | None = None) -> Iterator[Loss]:
    """Yield what is inconsistent, stuck or damaged in the database."""
    for check, queries in QUERIES.items():
        for text, sql in queries:
            yield from (Loss(check, text.format(*row)) for row in database.rows(sql))
    for (entry,) in database.rows(NOT_INDEXED[database.engine]):
        yield Loss("search index", f"entry {entry} cannot be found")
    yield from stuck_leases(database, now_s)
    yield from (Loss("integrity", text) for text in database.damage())


def stuck_leases(database: Reader, now_s: float | None = None) -> Iterator[Loss]:
    now = int((now_s or time.time()) * MICROSECONDS)
    moments = {
        "now": now,
        "lease": now + MAX_LEASE_S * MICROSECONDS,
        "overdue": now - OVERDUE_S * MICROSECONDS,
        "ahead": now + MAX_WAIT_S * MICROSECONDS,
    }
    for text, sql in LEASES:
        yield from (Loss("lease stuck", text.format(*row)) for row in database.rows(sql.format(**moments)))


def facts(database: Reader) -> dict[str, dict[Hashable, Value]]:
    """Return the facts in the database, by the kinds and names that writers use.

    Published entries are named by user id, feed and URL, with spaces between them.
    """
    keys = {row[0]: row[1] for row in database.rows("SELECT token, description FROM api_keys")}
    entries = database.rows(
        "SELECT e.id, e.status, e.starred, e.url, f.feed_url, e.user_id FROM entries e JOIN feeds f ON f.id = e.feed_id"
    )
    titles = [row[0] for row in database.rows("SELECT title FROM categories")]
    urls = [row[0] for row in database.rows("SELECT feed_url FROM feeds")]
    return {
        "category": dict(database.rows("SELECT id, title FROM categories")),
        "category title": _counted(titles),
        "feed": dict(database.rows("SELECT id, title FROM feeds")),
        "feed address": _counted(urls),
        "API key": keys,
        "API key name": _counted(keys.values()),
        "status": {row[0]: row[1] for row in entries},
        "star": {row[0]: bool(row[2]) for row in entries},
        "imported entry": _counted(row[3] for row in entries),
        "published entry": _counted(f"{row[5]} {row[4]} {row[3]}" for row in entries),
    }


def _counted(names: Iterable[str]) -> dict[Hashable, Value]:
    return {name: count for name, count in Counter(names).items()}  # noqa: C416  (the dict has wider types)
