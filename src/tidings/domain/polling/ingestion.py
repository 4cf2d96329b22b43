"""What happens to an entry between its publisher's document and our table.

parsed ─► changed at all? ─► filter ─► address ─► rewrite ─► filter ─► clean ─► reading time ─► ready
            (fingerprint)                 └─► page ─► article ─┘    (again, if there is an article)
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from hashlib import sha256
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from tidings.domain import cleaning
from tidings.domain.accounts.users import User
from tidings.domain.articles import Article
from tidings.domain.entries.entries import Enclosure, Entry, EntryStatus
from tidings.domain.entries.reading_time import minutes_of
from tidings.domain.feeds.feeds import Feed, ParsedEnclosure, ParsedEntry
from tidings.domain.messages import Message
from tidings.domain.rules import pipeline
from tidings.domain.rules.rule_entry import DEFAULT_INVIDIOUS_HOST
from tidings.domain.times import Instant

_SHOWN = re.compile("<(?:audio|iframe|img|math|picture|video)[ >]")


class ReadyEntry(Struct, frozen=True, kw_only=True):
    """An entry as it will be stored. hash, fingerprint: raw bytes. content: cleaned HTML. reading_time: minutes."""

    hash: bytes
    fingerprint: bytes
    title: str
    url: str
    content: str
    author: str = ""
    comments_url: str = ""
    language: str = ""
    published_at: Instant
    reading_time: int = 0
    tags: tuple[str, ...] = ()
    enclosures: tuple[ParsedEnclosure, ...] = ()
    status: EntryStatus = EntryStatus.UNREAD
    starred: bool = False


class PreparedEntry(Struct, frozen=True):
    """entry: None when a rule keeps it out. complaints: of rules that gave up on it and changed nothing."""

    entry: ReadyEntry | None
    complaints: tuple[str, ...] = ()


class ReadArticle(Struct, frozen=True):
    """content: cleaned HTML. reading_time: minutes; None when its user wants none. complaints: as in `Prepared`."""

    content: str
    reading_time: int | None
    complaints: tuple[str, ...] = ()


class InstanceSettings(Struct, frozen=True):
    """What the operator decides for everybody. policy: of cleaning, as far as that goes."""

    policy: cleaning.CleaningPolicy = cleaning.DEFAULT_POLICY
    invidious_host: str = DEFAULT_INVIDIOUS_HOST


USUAL = InstanceSettings()


class EntryPolicy(Struct, frozen=True):
    """How the entries of one feed become those of its user; made once per poll.

    key: the same for feeds whose entries come out the same from the same document.
    """

    feed_rules: pipeline.CompiledRules
    user_rules: pipeline.CompiledRules
    policy: cleaning.CleaningPolicy
    invidious_host: str
    words_per_minute: int
    cjk_per_minute: int
    shows_reading_time: bool
    key: Hashable

    @classmethod
    def of(cls, feed: Feed, user: User, instance: InstanceSettings = USUAL) -> EntryPolicy:
        policy = msgspec.structs.replace(
            instance.policy, new_tab=user.open_external_links_in_new_tab, referring_hosts=hosts_of(feed)
        )
        reading = user.default_reading_speed, user.cjk_reading_speed, user.show_reading_time
        return cls(
            feed_rules=pipeline.compile_rules(_texts(feed)),
            user_rules=pipeline.compile_rules(_texts(user)),
            policy=policy,
            invidious_host=instance.invidious_host,
            words_per_minute=user.default_reading_speed,
            cjk_per_minute=user.cjk_reading_speed,
            shows_reading_time=user.show_reading_time,
            key=(_texts(feed), _texts(user), policy, reading, feed.site_url),
        )

    @property
    def problems(self) -> tuple[str, ...]:
        """Rules that were left out, and why."""
        found = (*self.feed_rules.errors, *self.user_rules.errors)
        return tuple(f"{one.field}: {one.message}" for one in found)


def fingerprint(entry: ParsedEntry) -> bytes:
    """Changes when the publisher changes the entry.

    Its date is left out: it is only heard once. So is its hash: what tells an entry apart says nothing of it.
    """
    said = msgspec.structs.replace(entry, published_at=None, hash="")
    return sha256(msgspec.msgpack.encode(said)).digest()[:16]


def page_to_fetch(entry: ParsedEntry, how: EntryPolicy, *, now: Instant) -> str:
    """Where its article is; "" when a rule keeps the entry out, or when it has no address."""
    if not _is_kept(entry, how, now):
        return ""
    return pipeline.rewrite_url(_without_tracking(entry, how), how.feed_rules).entry.url


def prepare(
    entry: ParsedEntry, how: EntryPolicy, *, feed: Feed, now: Instant, article: Article | None = None
) -> PreparedEntry:
    """article: from the entry's page, if that was fetched; it takes the place of what the feed says."""
    if not _is_kept(entry, how, now):
        return PreparedEntry(None)
    moved = pipeline.rewrite_url(_without_tracking(entry, how), how.feed_rules)
    whole = moved.entry if article is None else _with_article(moved.entry, article)
    rewritten = pipeline.rewrite_entry(whole, how.feed_rules, invidious_host=how.invidious_host)
    complaints = _english(*moved.warnings, *(article.warnings if article else ()), *rewritten.warnings)
    clean = _cleaned(rewritten.entry, how, feed)
    if article is not None:
        if not is_worth_reading(clean.html):
            return prepare(entry, how, feed=feed, now=now)
        if not _is_kept(rewritten.entry, how, now):
            return PreparedEntry(None, complaints)
    ready = ReadyEntry(
        hash=bytes.fromhex(entry.hash),
        fingerprint=fingerprint(entry),
        title=rewritten.entry.title or rewritten.entry.url,
        url=rewritten.entry.url,
        content=clean.html,
        author=entry.author,
        comments_url=entry.comments_url,
        language=entry.language,
        published_at=now if entry.published_at is None else entry.published_at,
        reading_time=_reading_time(entry, clean, how),
        tags=entry.tags,
        enclosures=entry.enclosures,
    )
    return PreparedEntry(ready, complaints)


def read_article(entry: Entry, attached: Sequence[Enclosure], article: Article, how: EntryPolicy) -> ReadArticle:
    """The article for an entry that is stored already: rewritten by its feed's rules, cleaned and measured."""
    parsed = ParsedEntry(
        hash=entry.hash.hex(),
        url=entry.url,
        title=entry.title,
        enclosures=tuple(ParsedEnclosure(one.url, one.mime_type, one.size) for one in attached),
    )
    whole = _with_article(parsed, article)
    rewritten = pipeline.rewrite_entry(whole, how.feed_rules, invidious_host=how.invidious_host)
    clean = cleaning.clean_with_text(rewritten.entry.content, base_url=article.base_url, policy=how.policy)
    minutes = _reading_time(parsed, clean, how) if how.shows_reading_time else None
    return ReadArticle(clean.html, minutes, _english(*article.warnings, *rewritten.warnings))


def _english(*complaints: Message) -> tuple[str, ...]:
    """For the log: whoever sees complaints on a page tries the rules out there."""
    return tuple(one.english() for one in complaints)


def is_worth_reading(content: str) -> bool:
    """Whether there is anything in it to read, to see or to hear. content: cleaned HTML."""
    return bool(_SHOWN.search(content) or cleaning.text_of(content))


def _is_kept(entry: ParsedEntry, how: EntryPolicy, now: Instant) -> bool:
    return pipeline.filter_entry(entry, user=how.user_rules, feed=how.feed_rules, now=now).is_kept


def hosts_of(feed: Feed) -> frozenset[str]:
    """Of the feed and of its site: an address that says it was found there is telling on its reader."""
    return frozenset(host for url in (feed.feed_url, feed.site_url) if (host := _host(url)))


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _without_tracking(entry: ParsedEntry, how: EntryPolicy) -> ParsedEntry:
    url = cleaning.strip_tracking(entry.url, hosts=how.policy.referring_hosts)
    return entry if url == entry.url else msgspec.structs.replace(entry, url=url)


def _with_article(entry: ParsedEntry, article: Article) -> ParsedEntry:
    return msgspec.structs.replace(entry, content=article.content, base_url=article.base_url)


def _cleaned(entry: ParsedEntry, how: EntryPolicy, feed: Feed) -> cleaning.CleanedHtml:
    base_url = entry.base_url or entry.url or feed.site_url
    return cleaning.clean_with_text(entry.content, base_url=base_url, policy=how.policy)


def _reading_time(entry: ParsedEntry, clean: cleaning.CleanedHtml, how: EntryPolicy) -> int:
    if not how.shows_reading_time:
        return 0
    return entry.duration_minutes or minutes_of(
        clean.text, words_per_minute=how.words_per_minute, cjk_per_minute=how.cjk_per_minute
    )


def _texts(owner: Feed | User) -> pipeline.RuleTexts:
    names = pipeline.RuleTexts.__struct_fields__
    return pipeline.RuleTexts(**{name: getattr(owner, name) for name in names if hasattr(owner, name)})
