"""Shows what rules would do to the stored entries of a feed, before they are saved.

newest stored entries ─► filters ─► URL ─► title and content ─► differences

A try has one budget of processor time for all entries, and ends when its client has left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
from msgspec import Struct

from tidings.base.messages import Message
from tidings.base.times import Instant
from tidings.content import cleaning
from tidings.content.errors import InvalidRule
from tidings.content.model import ParsedEnclosure, ParsedEntry
from tidings.content.rules import pipeline
from tidings.content.rules.evaluation import MAX_TRY_S, RuleBudget
from tidings.content.rules.filters import FilterField
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Direction, Enclosure, Entry, EntryFilter, PageRequest
from tidings.domain.feeds.feed_settings import RULES
from tidings.domain.polling.entry_policy import DEFAULT_INSTANCE, EntryPolicy, InstanceSettings
from tidings.engine.database import Database
from tidings.services.clock import Clock
from tidings.services.feeds.feeds import owned_feed
from tidings.storage.entries import entry_lists

MAX_ENTRIES = 50
# Entries on which filters are tried while they are typed, and the processor time for them.
MAX_MATCHED, MAX_MATCHING_S = 500, 1
# Characters shown before and after the place where two texts begin to differ.
BEFORE, AFTER = 40, 160


class PreviewedEntry(Struct, frozen=True):
    """What rules would do to an entry."""

    entry: Entry
    is_kept: bool
    rule: Message | None = None
    """The rule that filters it out; None if it is kept."""
    new_title: str = ""
    """Empty if unchanged."""
    new_url: str = ""
    """Empty if unchanged."""
    old_text: str = ""
    """Excerpt of the content around the first difference; "" if unchanged."""
    new_text: str = ""
    """The same excerpt of the new content; "" if unchanged."""
    has_new_markup: bool = False
    """Whether only the markup of the content differs."""
    errors: tuple[Message, ...] = ()
    """Errors of rules that failed on the entry."""

    @property
    def is_changed(self) -> bool:
        return bool(self.new_title or self.new_url or self.new_text or self.old_text or self.has_new_markup)


class RulePreview(Struct, frozen=True):
    """What rules that are not saved yet would do to a feed's stored entries."""

    entries: list[PreviewedEntry]
    """The newest first. Entries that the current rules filter out were never stored and are missing."""
    rule_errors: tuple[InvalidRule, ...] = ()
    """The rules of the feed and of the user that were left out, each with the reason."""
    untried: int = 0
    """Number of entries for which there was no time left."""

    @property
    def filtered(self) -> int:
        """The number of entries that the rules filter out."""
        return sum(not entry.is_kept for entry in self.entries)

    @property
    def changed(self) -> int:
        """The number of kept entries that the rules change."""
        return sum(entry.is_kept and entry.is_changed for entry in self.entries)


class FilterMatches(Struct, frozen=True):
    """Which of the newest stored entries some filters match."""

    tried: int
    """How many entries there was time for."""
    entries: list[Entry]
    """Those that match, the newest first."""


class RulePreviewer:
    def __init__(self, database: Database, clock: Clock, *, instance: InstanceSettings = DEFAULT_INSTANCE) -> None:
        self._database = database
        self._clock = clock
        self._instance = instance

    def run(
        self, user: User, feed_id: int, rules: Mapping[str, str], *, is_stopped: Callable[[], bool] = lambda: False
    ) -> RulePreview:
        """Apply rules to the newest entries of a feed and return the differences. Nothing is stored.

        rules: texts by their names in the API; for missing ones the feed's own apply. Invalid lines are skipped.
        is_stopped: whether the preview is not needed any more; the entries that are left are then untried.
        Raises NotFound for a feed that is not the user's.
        """
        with self._database.reading() as db:
            feed = owned_feed(db, user.id, feed_id)
            filter_, page = EntryFilter(feed_id=feed_id), PageRequest(direction=Direction.DESC, limit=MAX_ENTRIES)
            stored = entry_lists.with_bodies(db, entry_lists.rows(db, user.id, filter_, page))
        new_rules = {name: text for name, text in rules.items() if name in RULES}
        policy = EntryPolicy.for_feed(msgspec.structs.replace(feed, **new_rules), user, self._instance)
        now = self._clock()
        tried: list[PreviewedEntry] = []
        # Entered for the whole loop, so that cleaning and comparing count, too.
        with RuleBudget(MAX_TRY_S, is_stopped=is_stopped) as budget:
            for entry in stored.entries:
                parsed = _parsed(entry, stored.contents.get(entry.id, ""), stored.enclosures.get(entry.id, []))
                one = _preview(entry, parsed, policy, now, budget.for_entry())
                if budget.is_used_up:
                    break
                tried.append(one)
        return RulePreview(
            tried,
            rule_errors=(*policy.feed_rules.errors, *policy.user_rules.errors),
            untried=len(stored.entries) - len(tried),
        )

    def matching(self, user: User, rules: Mapping[str, str], *, feed_id: int | None = None) -> FilterMatches:
        """Return which of the newest stored entries are blocked by some rules of a feed. Invalid ones are skipped.

        rules: texts by their names in the API. feed_id: the only feed whose entries are tried.
        Raises NotFound for a feed that is not the user's.
        """
        newest = PageRequest(direction=Direction.DESC, limit=MAX_MATCHED)
        with self._database.reading() as db:
            if feed_id is not None:
                owned_feed(db, user.id, feed_id)
            rows = entry_lists.rows(db, user.id, EntryFilter(feed_id=feed_id), newest)
            # Bodies are most of what is read, and few rules ask for them.
            bodies = (
                entry_lists.with_bodies(db, rows).contents if FilterField.CONTENT in "".join(rules.values()) else {}
            )
        compiled = pipeline.compile_rules(pipeline.RuleTexts(**rules))
        now, tried, found = self._clock(), 0, list[Entry]()
        with RuleBudget(MAX_MATCHING_S) as budget:
            for entry in rows:
                parsed = _parsed(entry, bodies.get(entry.id, ""), [])
                decision = pipeline.filter_entry(parsed, feed=compiled, now=now, budget=budget.for_entry())
                if budget.is_used_up:
                    break
                tried += 1
                if not decision.is_kept:
                    found.append(entry)
        return FilterMatches(tried, found)


def _preview(
    entry: Entry, parsed: ParsedEntry, policy: EntryPolicy, now: Instant, budget: RuleBudget
) -> PreviewedEntry:
    decision = pipeline.filter_entry(parsed, user=policy.user_rules, feed=policy.feed_rules, now=now, budget=budget)
    if not decision.is_kept:
        return PreviewedEntry(entry, is_kept=False, rule=decision.rule)
    applied = pipeline.apply_rules(parsed, policy.feed_rules, invidious_host=policy.invidious_host, budget=budget)
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
        errors=(*([decision.warning] if decision.warning else ()), *applied.warnings),
    )


def _difference(old: ParsedEntry, new: ParsedEntry, policy: EntryPolicy) -> tuple[str, str, bool]:
    """Return excerpts of the old and the new text, and whether only the markup differs."""
    if old.content == new.content:
        return "", "", False
    old_html, new_html = (
        cleaning.clean(content, base_url=old.url, policy=policy.cleaning_policy)
        for content in (old.content, new.content)
    )
    old_text, new_text = cleaning.text_of(old_html), cleaning.text_of(new_html)
    if old_text == new_text:
        return "", "", old_html != new_html
    pairs = zip(old_text, new_text, strict=False)
    start = next((position for position, (a, b) in enumerate(pairs) if a != b), min(len(old_text), len(new_text)))
    return _excerpt(old_text, start), _excerpt(new_text, start), False


def _excerpt(text: str, position: int) -> str:
    start = max(0, position - BEFORE)
    end = position + AFTER
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
        enclosures=tuple(ParsedEnclosure(enclosure.url, enclosure.mime_type, enclosure.size) for enclosure in attached),
    )
