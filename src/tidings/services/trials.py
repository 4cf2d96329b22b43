"""Trying rules out on what a feed has published already, before they are kept.

newest stored entries ─► filters ─► address ─► title and content ─► what would be different
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from tidings.domain import cleaning
from tidings.domain.entries import Direction, Enclosure, Entry, EntryFilter, Page
from tidings.domain.feed_changes import RULES
from tidings.domain.feeds import ParsedEnclosure, ParsedEntry
from tidings.domain.ingestion import USUAL, Instance, Intake
from tidings.domain.rules import pipeline
from tidings.domain.times import Instant
from tidings.domain.users import User
from tidings.services.clock import Clock
from tidings.services.feeds import owned
from tidings.storage import entry_lists
from tidings.storage.database import Database

MOST = 50
# Of a text around the place where it begins to differ.
BEFORE, AFTER = 40, 160


class Tried(Struct, frozen=True):
    """rule: which one keeps it out; "" when it is kept. new_title, new_url: "" when they stay as they are.

    old_text, new_text: of the content, from shortly before they begin to differ; both "" when it stays.
    has_new_markup: the content differs, but not in its words. complaints: of rules that gave up on it.
    """

    entry: Entry
    is_kept: bool
    rule: str = ""
    new_title: str = ""
    new_url: str = ""
    old_text: str = ""
    new_text: str = ""
    has_new_markup: bool = False
    complaints: tuple[str, ...] = ()

    @property
    def is_changed(self) -> bool:
        return bool(self.new_title or self.new_url or self.new_text or self.old_text or self.has_new_markup)


class Trial(Struct, frozen=True):
    """The newest first. What rules kept out before was never stored, and is not among them."""

    tried: list[Tried]

    @property
    def kept_out(self) -> int:
        return sum(not one.is_kept for one in self.tried)

    @property
    def changed(self) -> int:
        return sum(one.is_kept and one.is_changed for one in self.tried)


class Trials:
    def __init__(self, database: Database, clock: Clock, *, instance: Instance = USUAL) -> None:
        self._database = database
        self._clock = clock
        self._instance = instance

    def run(self, user: User, feed_id: int, rules: Mapping[str, str]) -> Trial:
        """rules: texts as the API names them; those left out are as the feed has them. What is wrong in one is skipped.

        Nothing is written. NotFound for a feed of somebody else.
        """
        with self._database.reading() as db:
            feed = owned(db, user.id, feed_id)
            which, page = EntryFilter(feed_id=feed_id), Page(direction=Direction.DESC, limit=MOST)
            found = entry_lists.with_bodies(db, entry_lists.rows(db, user.id, which, page))
        typed = {name: text for name, text in rules.items() if name in RULES}
        how = Intake.of(msgspec.structs.replace(feed, **typed), user, self._instance)
        now = self._clock()
        return Trial(
            [
                _tried(
                    entry,
                    _parsed(entry, found.contents.get(entry.id, ""), found.enclosures.get(entry.id, [])),
                    how,
                    now,
                )
                for entry in found.entries
            ]
        )


def _tried(entry: Entry, parsed: ParsedEntry, how: Intake, now: Instant) -> Tried:
    verdict = pipeline.judge(parsed, user=how.user_rules, feed=how.feed_rules, now=now)
    if not verdict.is_kept:
        return Tried(entry, is_kept=False, rule=verdict.rule)
    applied = pipeline.apply_rules(parsed, how.feed_rules, invidious_host=how.invidious_host)
    new = applied.entry
    old_text, new_text, has_new_markup = _difference(parsed, new, how)
    return Tried(
        entry,
        is_kept=True,
        new_title="" if new.title == parsed.title else new.title,
        new_url="" if new.url == parsed.url else new.url,
        old_text=old_text,
        new_text=new_text,
        has_new_markup=has_new_markup,
        complaints=applied.complaints,
    )


def _difference(old: ParsedEntry, new: ParsedEntry, how: Intake) -> tuple[str, str, bool]:
    if old.content == new.content:
        return "", "", False
    was, becomes = (
        cleaning.clean(content, base_url=old.url, policy=how.policy) for content in (old.content, new.content)
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
