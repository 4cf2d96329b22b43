"""Prepares entries for storage, once for all feeds with the same rules, within a limit of memory.

decided update ─► filter ─► rewrite ─► clean (`domain.polling.entry_policy`) ─► update that is ready to be stored
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping
from typing import Any, Final, TypeVar, cast

import structlog
from msgspec.structs import replace

from tidings.content.articles import Article
from tidings.content.model import ParsedEntry
from tidings.content.rules.evaluation import MAX_CHECK_S, RuleBudget
from tidings.domain.entries.entries import ReadyEntry
from tidings.domain.polling.changes import FeedUpdate
from tidings.domain.polling.entry_policy import (
    DEFAULT_INSTANCE,
    EntryPolicy,
    InstanceSettings,
    PreparationResult,
    prepare,
)
from tidings.domain.polling.shared_sources import NO_VALIDATORS

log = structlog.get_logger()

# Bytes of cleaned content. The largest of 200 real feeds needs a tenth of it.
MAX_CONTENT_BYTES: Final = 64 * 2**20

Key = TypeVar("Key")


class EntryPreparer:
    """Prepares the entries of one document, and reuses prepared entries for feeds with the same rules and settings."""

    def __init__(self, instance: InstanceSettings = DEFAULT_INSTANCE) -> None:
        self._instance = instance
        self._prepared: dict[tuple[Hashable, str], PreparationResult] = {}
        self._size = 0

    def prepare(
        self, update: FeedUpdate[ParsedEntry], *, articles: Mapping[bytes, Article] | None = None
    ) -> FeedUpdate[ReadyEntry]:
        """Return the update with its new and changed entries prepared, without those that a filter removes.

        articles: full content of new entries, by hash. If not all entries fit into memory, the columns of the update
        clear the validators, so that the next check reads the document again.
        """
        # The type of the entries changes: `replace` cannot say so.
        decided = cast("Any", update)
        if not update.new and not update.changed:
            empty: FeedUpdate[ReadyEntry] = decided
            return empty
        policy = EntryPolicy.for_feed(update.feed, update.user, self._instance)
        # A document has up to 10,000 entries: what one of them may use is too much for all of them.
        budget = RuleBudget(MAX_CHECK_S)
        new = self._all(policy, update, update.new, budget, articles)
        changed = self._all(policy, update, update.changed, budget)
        is_complete = len(new) == len(update.new) and len(changed) == len(update.changed)
        worse_pages = sum(one.is_page_worse for one in new.values())
        if worse_pages:
            log.info("pages have less text than the feed", feed=update.feed.id or None, pages=worse_pages)
        ready: FeedUpdate[ReadyEntry] = replace(
            decided,
            new=_kept(new),
            changed=_kept(changed),
            columns={} if is_complete else dict(NO_VALIDATORS),
            rule_errors=[
                *policy.rule_errors,
                *(warning for one in (*new.values(), *changed.values()) for warning in one.warnings),
            ],
            worse_pages=worse_pages if articles else None,
        )
        return ready

    def _all(
        self,
        policy: EntryPolicy,
        update: FeedUpdate[ParsedEntry],
        entries: Mapping[Key, ParsedEntry],
        budget: RuleBudget,
        articles: Mapping[Key, Article] | None = None,
    ) -> dict[Key, PreparationResult]:
        """Return the first entries, prepared, that fit into memory; at least one.

        entries: by hash or by id. budget: what the rules may use for all of them.
        """
        results: dict[Key, PreparationResult] = {}
        size = 0
        for key, entry in entries.items():
            result = self._one(entry, policy, update, budget, articles.get(key) if articles else None)
            results[key] = result
            size += sys.getsizeof(result.entry.content) if result.entry else 0
            if size > MAX_CONTENT_BYTES:
                break
        return results

    def _one(
        self,
        entry: ParsedEntry,
        policy: EntryPolicy,
        update: FeedUpdate[ParsedEntry],
        budget: RuleBudget,
        article: Article | None,
    ) -> PreparationResult:
        feed, now = update.feed, update.now
        if article is not None:
            return prepare(entry, policy, feed=feed, now=now, article=article, budget=budget.for_entry())
        key = policy.key, entry.hash
        result = self._prepared.get(key)
        if result is None:
            result = prepare(entry, policy, feed=feed, now=now, budget=budget.for_entry())
            self._size += sys.getsizeof(result.entry.content) if result.entry else 0
            if self._size <= MAX_CONTENT_BYTES:
                self._prepared[key] = result
        return result


def _kept(results: Mapping[Key, PreparationResult]) -> dict[Key, ReadyEntry]:
    return {key: result.entry for key, result in results.items() if result.entry is not None}
