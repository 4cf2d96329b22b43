"""Tells about which entries a user's webhooks are told: by their feeds and categories, and by their queries.

Queries are tried on entries in memory, as those of rules are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

import msgspec
import structlog

from tidings.base.errors import InvalidInput
from tidings.base.times import Instant, zone_info
from tidings.content.cleaning import text_of
from tidings.content.rules.evaluation import RuleBudget
from tidings.deliveries.webhooks import Webhook
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Entry, EntryStatus
from tidings.domain.feeds.categories import CategoryTree
from tidings.domain.feeds.feeds import Feed
from tidings.engine.database import Read
from tidings.query import Candidate, Matcher
from tidings.query.model import needs_text
from tidings.services.entries.kept_queries import KeptQueries
from tidings.services.listeners import Listeners
from tidings.storage.entries import entries, entry_lists, labels
from tidings.storage.feeds import categories, feeds, further_categories

log = structlog.get_logger()

# Seconds of processor time for the queries of a user's webhooks in one transaction. Entries that are left are not told.
MAX_QUERIES_S: Final = 2.0
# Entries that are in memory at the same time.
BATCH: Final = 100


class EntryTests:
    """The webhooks of one user in one transaction, with what they can ask about entries."""

    def __init__(self, db: Read, user: User, listeners: Listeners, now: Instant) -> None:
        self._db = db
        self._user = user
        self._now = now
        self._budget = RuleBudget(MAX_QUERIES_S)
        self._queries = KeptQueries(db, user.id, listeners)
        self._feeds: dict[int, Feed] = {}
        self._categories_of: dict[int, tuple[int, ...]] = {}

    def covers(self, hook: Webhook, feed_id: int) -> bool:
        """Return whether a webhook is told of a feed."""
        return not hook.has_places or bool(self.covered(hook, [feed_id]))

    def covered(self, hook: Webhook, feed_ids: Iterable[int]) -> set[int]:
        """Return of which of these feeds a webhook is told."""
        if not hook.has_places:
            return set(feed_ids)
        wanted, named = set(feed_ids), set(hook.feeds)
        found = wanted & named
        if hook.categories and (others := wanted - found):
            self._look_up(others)
            inside = set(hook.categories)
            found |= {one for one in others if inside & self._tree.with_above(self._categories_of.get(one, ()))}
        return found

    def accepted(self, hook: Webhook, entry_ids: Sequence[int]) -> list[int]:
        """Return about which of some stored entries the query of a webhook is. Its feeds are not asked for."""
        if not hook.query:
            return list(entry_ids)
        try:
            tree = self._queries.tree(hook.query)
        except InvalidInput as error:
            # The query language, or a view that it names, has changed since the webhook was stored.
            log.warning("webhook unreadable", user=self._user.id, webhook=hook.id, reason=error.message)
            return []
        matcher = Matcher(tree, now=self._now, zone=zone_info(self._user.timezone))
        with_text = needs_text(tree)
        found: list[int] = []
        for start in range(0, len(entry_ids), BATCH):
            if self._budget.is_used_up:
                log.warning("webhooks took too long", user=self._user.id, webhook=hook.id)
                break
            with self._budget:
                candidates = self._candidates(entry_ids[start : start + BATCH], with_text=with_text)
                found += [id_ for id_, candidate in candidates if _matches(matcher, candidate, hook)]
        return found

    @cached_property
    def _tree(self) -> CategoryTree:
        return CategoryTree(categories.list_all(self._db, self._user.id))

    def _look_up(self, feed_ids: Iterable[int]) -> None:
        """Look up feeds and their categories, unless they are known."""
        missing = sorted(set(feed_ids) - self._feeds.keys())
        if not missing:
            return
        further = further_categories.of_feeds(self._db, self._user.id, missing)
        for feed in feeds.get_many(self._db, self._user.id, missing):
            self._feeds[feed.id] = feed
            self._categories_of[feed.id] = (feed.category_id, *further.get(feed.id, ()))

    def _candidates(self, entry_ids: Sequence[int], *, with_text: bool) -> Iterable[tuple[int, Candidate]]:
        """Return stored entries in the order of their ids, as queries are tried on them."""
        rows = sorted(entries.get_many(self._db, self._user.id, entry_ids), key=lambda row: row.id)
        if not rows:
            return
        self._look_up(row.feed_id for row in rows)
        parts = entry_lists.Parts(contents=with_text)
        page = entry_lists.with_bodies(self._db, rows, parts=parts)
        given = labels.of_entries(self._db, self._user.id, [row.id for row in rows])
        for row in rows:
            text = text_of(page.contents.get(row.id, "")) if with_text else ""
            named = given.get(row.id, ())
            yield (
                row.id,
                self._candidate(
                    row,
                    text,
                    labels=tuple(one.name for one in named),
                    label_ids=tuple(one.id for one in named),
                    attachment_types=tuple(one.mime_type for one in page.enclosures.get(row.id, ())),
                ),
            )

    def _candidate(
        self,
        row: Entry,
        text: str,
        *,
        labels: tuple[str, ...],
        label_ids: tuple[int, ...],
        attachment_types: tuple[str, ...],
    ) -> Candidate:
        feed, within = self._feeds[row.feed_id], self._categories_of[row.feed_id]
        return Candidate(
            title=row.title,
            text=text,
            url=row.url,
            author=row.author,
            language=row.language,
            published_at=row.published_at,
            changed_at=row.changed_at,
            added_at=row.created_at,
            is_read=row.status == EntryStatus.READ,
            is_starred=bool(row.starred),
            is_shared=bool(row.share_code),
            is_duplicate=row.status == EntryStatus.FOLDED,
            is_hidden=bool(row.hidden),
            minutes=row.reading_time,
            tags=tuple(msgspec.json.decode(row.tags, type=list[str])),
            labels=labels,
            label_ids=label_ids,
            attachment_types=attachment_types,
            feed_id=feed.id,
            feed_title=feed.title,
            feed_urls=(feed.site_url, feed.feed_url),
            category_ids=tuple(self._tree.with_above(within)),
            category_titles=tuple(map(self._tree.path, within)),
        )


def _matches(matcher: Matcher, candidate: Candidate, hook: Webhook) -> bool:
    try:
        return matcher.matches(candidate)
    except Exception:
        log.exception("webhook failed", user=hook.user_id, webhook=hook.id)
        return False
