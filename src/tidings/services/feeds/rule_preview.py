"""Trying rules out on what a feed has published already, before they are kept.

newest stored entries ─► filters ─► address ─► title and content ─► what would be different
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from tidings.domain import cleaning
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Direction, Enclosure, Entry, EntryFilter, PageRequest
from tidings.domain.feeds.feed_settings import RULES
from tidings.domain.feeds.feeds import ParsedEnclosure, ParsedEntry
from tidings.domain.messages import Message
from tidings.domain.polling.ingestion import DEFAULT_INSTANCE, EntryPolicy, InstanceSettings
from tidings.domain.rules import pipeline
from tidings.domain.times import Instant
from tidings.services.clock import Clock
from tidings.services.feeds.feeds import owned
from tidings.storage.engine.database import Database
from tidings.storage.entries import entry_lists

MOST = 50
# Of a text around the place where it begins to differ.
BEFORE, AFTER = 40, 160


class PreviewedEntry(Struct, frozen=True):
    """rule: which one keeps it out; None when it is kept. new_title, new_url: "" when they stay as they are.

    old_text, new_text: of the content, from shortly before they begin to differ; both "" when it stays.
    has_new_markup: the content differs, but not in its words. complaints: of rules that gave up on it.
    """

    entry: Entry
    is_kept: bool
    rule: Message | None = None
    new_title: str = ""
    new_url: str = ""
    old_text: str = ""
    new_text: str = ""
    has_new_markup: bool = False
    complaints: tuple[Message, ...] = ()

    @property
    def is_changed(self) -> bool:
        return bool(self.new_title or self.new_url or self.new_text or self.old_text or self.has_new_markup)


class RulePreview(Struct, frozen=True):
    """The newest first. What rules kept out before was never stored, and is not among them."""

    tried: list[PreviewedEntry]

    @property
    def kept_out(self) -> int:
        return sum(not one.is_kept for one in self.tried)

    @property
    def changed(self) -> int:
        return sum(one.is_kept and one.is_changed for one in self.tried)


class RulePreviewer:
    def __init__(self, database: Database, clock: Clock, *, instance: InstanceSettings = DEFAULT_INSTANCE) -> None:
        self._database = database
        self._clock = clock
        self._instance = instance

    def run(self, user: User, feed_id: int, rules: Mapping[str, str]) -> RulePreview:
        """rules: texts as the API names them; those left out are as the feed has them. What is wrong in one is skipped.

        Nothing is written. NotFound for a feed of somebody else.
        """
        with self._database.reading() as db:
            feed = owned(db, user.id, feed_id)
            which, page = EntryFilter(feed_id=feed_id), PageRequest(direction=Direction.DESC, limit=MOST)
            found = entry_lists.with_bodies(db, entry_lists.rows(db, user.id, which, page))
        typed = {name: text for name, text in rules.items() if name in RULES}
        policy = EntryPolicy.of(msgspec.structs.replace(feed, **typed), user, self._instance)
        now = self._clock()
        return RulePreview(
            [
                _tried(
                    entry,
                    _parsed(entry, found.contents.get(entry.id, ""), found.enclosures.get(entry.id, [])),
                    policy,
                    now,
                )
                for entry in found.entries
            ]
        )


def _tried(entry: Entry, parsed: ParsedEntry, policy: EntryPolicy, now: Instant) -> PreviewedEntry:
    verdict = pipeline.filter_entry(parsed, user=policy.user_rules, feed=policy.feed_rules, now=now)
    if not verdict.is_kept:
        return PreviewedEntry(entry, is_kept=False, rule=verdict.rule)
    applied = pipeline.apply_rules(parsed, policy.feed_rules, invidious_host=policy.invidious_host)
    new = applied.entry
    old_text, new_text, has_new_markup = _difference(parsed, new, policy)
    return PreviewedEntry(
        entry,
        is_kept=True,
        new_title="" if new.title == parsed.title else new.title,
        new_url="" if new.url == parsed.url else new.url,
        old_text=old_text,
        new_text=new_text,
        has_new_markup=has_new_markup,
        complaints=applied.warnings,
    )


def _difference(old: ParsedEntry, new: ParsedEntry, policy: EntryPolicy) -> tuple[str, str, bool]:
    if old.content == new.content:
        return "", "", False
    was, becomes = (
        cleaning.clean(content, base_url=old.url, policy=policy.cleaning_policy)
        for content in (old.content, new.content)
    )
    before, after = cleaning.text_of(was), cleaning.text_of(becomes)
    if before == after:
        return "", "", was != becomes
    pairs = zip(before, after, strict=False)
    start = next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(before), len(after)))
    return _cut(before, start), _cut(after, start), False


def _cut(text: str, place: int) -> str:
    start = max(0, place - BEFORE)
    end = place + AFTER
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _parsed(entry: Entry, content: str, attached: list[Enclosure]) -> ParsedEntry:
    return ParsedEntry(
        hash=entry.hash.hex(),
        url=entry.url,
        title=entry.title,
        content=content,
        author=entry.author,
        comments_url=entry.comments_url,
        language=entry.language,
        published_at=entry.published_at,
        tags=tuple(msgspec.json.decode(entry.tags.encode(), type=list[str])),
        enclosures=tuple(ParsedEnclosure(one.url, one.mime_type, one.size) for one in attached),
    )
