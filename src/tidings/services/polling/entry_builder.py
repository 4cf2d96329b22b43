"""Prepares entries of a document for storage, once for all feeds with the same rules, within a limit of memory."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping
from typing import Final, TypeVar

import structlog

from tidings.base.times import Instant
from tidings.content.articles import Article
from tidings.content.model import ParsedEntry
from tidings.content.rules.budget import MAX_CHECK_S, RuleBudget
from tidings.domain.accounts.users import User
from tidings.domain.entries.ready import ReadyEntry
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.changes import ChangeSet, PreparedFeedUpdate
from tidings.domain.polling.ingestion import DEFAULT_INSTANCE, EntryPolicy, InstanceSettings, PreparationResult, prepare
from tidings.domain.polling.sources import NO_VALIDATORS

log = structlog.get_logger()

# Bytes of cleaned content. The largest of 200 real feeds needs a tenth of it.
MAX_CONTENT_BYTES: Final = 64 * 2**20

Key = TypeVar("Key")


class EntryBuilder:
    """Prepares the entries of one document, and reuses prepared entries for feeds with the same rules and settings."""

    def __init__(self, instance: InstanceSettings = DEFAULT_INSTANCE) -> None:
        self._instance = instance
        self._built: dict[tuple[Hashable, str], PreparationResult] = {}
        self._size = 0
        self._worse_pages = 0

    def update(
        self,
        user: User,
        feed: Feed,
        changes: ChangeSet,
        now: Instant,
        *,
        articles: Mapping[bytes, Article] | None = None,
    ) -> PreparedFeedUpdate:
        """Returns the update of one feed, with its new and changed entries prepared, and without a lease.

        articles: full content of new entries, by hash. If not all entries fit into memory, the columns of the update
        clear the validators, so that the next check reads the document again.
        """
        if not changes.new and not changes.changed:
            return PreparedFeedUpdate(user, feed, None, now, {}, changes)
        policy = EntryPolicy.for_feed(feed, user, self._instance)
        errors = list(policy.rule_errors)
        # A document has up to 10,000 entries: what one of them may use is too much for all of them.
        budget = RuleBudget(MAX_CHECK_S)
        self._worse_pages = 0
        new, is_all_new = self._all(policy, feed, changes.new, now, errors, budget, articles)
        changed, is_all_changed = self._all(policy, feed, changes.changed, now, errors, budget)
        columns = {} if is_all_new and is_all_changed else dict(NO_VALIDATORS)
        worse_pages = self._worse_pages if articles else None
        if worse_pages:
            log.info("pages have less text than the feed", feed=feed.id or None, pages=worse_pages)
        return PreparedFeedUpdate(
            user, feed, None, now, columns, changes, list(new.values()), changed, errors, worse_pages=worse_pages
        )

    def _all(
        self,
        policy: EntryPolicy,
        feed: Feed,
        entries: Mapping[Key, ParsedEntry],
        now: Instant,
        errors: list[str],
        budget: RuleBudget,
        articles: Mapping[Key, Article] | None = None,
    ) -> tuple[dict[Key, ReadyEntry], bool]:
        """Returns the first entries that fit into memory, at least one, and whether they are all.

        entries: by hash or by id. errors: rule errors are appended to it. budget: what the rules may use for all.
        """
        ready: dict[Key, ReadyEntry] = {}
        size = count = 0
        for key, entry in entries.items():
            created = self._build(entry, policy, feed, now, budget, articles.get(key) if articles else None)
            count += 1
            errors += created.warnings
            self._worse_pages += created.is_page_worse
            if created.entry is not None:
                ready[key] = created.entry
                size += sys.getsizeof(created.entry.content)
                if size > MAX_CONTENT_BYTES:
                    break
        return ready, count == len(entries)

    def _build(
        self,
        entry: ParsedEntry,
        policy: EntryPolicy,
        feed: Feed,
        now: Instant,
        budget: RuleBudget,
        article: Article | None,
    ) -> PreparationResult:
        if article is not None:
            return prepare(entry, policy, feed=feed, now=now, article=article, budget=budget.for_entry())
        key = policy.key, entry.hash
        created = self._built.get(key)
        if created is None:
            created = prepare(entry, policy, feed=feed, now=now, budget=budget.for_entry())
            self._size += sys.getsizeof(created.entry.content) if created.entry else 0
            if self._size <= MAX_CONTENT_BYTES:
                self._built[key] = created
        return created
