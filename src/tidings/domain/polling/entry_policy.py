"""How a feed's entries are prepared for its user: turns a parsed entry into the entry that is stored.

parsed ─► changed at all? ─► filter ─► rewrite URL ─► rewrite ─► filter ─► clean ─► reading time ─► ReadyEntry
            (fingerprint)                  └─► page ─► article ─┘    (again, if there is an article)
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from hashlib import sha256
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from tidings.base.messages import Message
from tidings.base.times import Instant
from tidings.content import cleaning
from tidings.content.articles import Article
from tidings.content.model import ParsedEnclosure, ParsedEntry
from tidings.content.rules import pipeline
from tidings.content.rules.evaluation import DEFAULT_INVIDIOUS_HOST, MAX_CHECK_S, RuleBudget
from tidings.content.rules.filters import FilterDecision
from tidings.content.urls import strip_tracking
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Enclosure, Entry, ReadyEntry
from tidings.domain.entries.reading_time import may_be_duration, minutes_of
from tidings.domain.feeds.feeds import Feed

# Used in the fingerprint of an entry without a date; other dates are not part of it.
_NO_DATE = Instant(0)
# Of 65 published pages, what is cut out has 0.89 of the article's text or more; of 861 summaries in 79 real feeds, 96 %
# have less than half of the entry's text. Between these is the room for what a feed adds to its texts.
MIN_ARTICLE_SHARE = 0.5
# A shorter text of a feed may be the caption of a picture.
MIN_FULL_TEXT_CHARS = 500
_VISIBLE_MEDIA = re.compile("<(?:audio|iframe|img|math|picture|video)[ >]")


class _EntryWithoutChapters(Struct, frozen=True):
    """The fields of ParsedEntry before it had chapters: entries without any keep the fingerprints that are stored."""

    hash: str
    url: str
    title: str
    content: str
    base_url: str
    author: str
    comments_url: str
    language: str
    published_at: Instant | None
    tags: tuple[str, ...]
    enclosures: tuple[ParsedEnclosure, ...]
    duration_minutes: int


class PreparationResult(Struct, frozen=True):
    """The result of `prepare`, which the preparation of a document keeps for feeds with the same rules."""

    entry: ReadyEntry | None
    """None if a filter rule removes it."""
    warnings: tuple[str, ...] = ()
    """About rules that failed and changed nothing."""
    is_page_worse: bool = False
    """The entry's page was fetched and has far less text than the feed, whose text was kept."""


class PreparedArticle(Struct, frozen=True):
    """The article of a stored entry, rewritten and cleaned."""

    content: str
    """Cleaned HTML."""
    reading_time: int
    """Minutes."""
    warnings: tuple[str, ...] = ()
    """About rules that failed and changed nothing."""


class InstanceSettings(Struct, frozen=True):
    """The operator's settings, which apply to all users."""

    policy: cleaning.CleaningPolicy = cleaning.DEFAULT_POLICY
    """The part of the cleaning policy that is the same for all."""
    invidious_host: str = DEFAULT_INVIDIOUS_HOST


DEFAULT_INSTANCE = InstanceSettings()


class EntryPolicy(Struct, frozen=True):
    """How the entries of one feed are prepared for its user; created once per check."""

    feed_rules: pipeline.CompiledRules
    user_rules: pipeline.CompiledRules
    cleaning_policy: cleaning.CleaningPolicy
    invidious_host: str
    words_per_minute: int
    cjk_per_minute: int
    key: Hashable
    """Equal for feeds that get equal entries from the same document."""

    @classmethod
    def for_feed(cls, feed: Feed, user: User, instance: InstanceSettings = DEFAULT_INSTANCE) -> EntryPolicy:
        cleaning_policy = msgspec.structs.replace(
            instance.policy, new_tab=user.open_external_links_in_new_tab, referring_hosts=feed_hosts(feed)
        )
        speeds = user.default_reading_speed, user.cjk_reading_speed
        return cls(
            feed_rules=pipeline.compile_rules(_texts(feed)),
            user_rules=pipeline.compile_rules(_texts(user)),
            cleaning_policy=cleaning_policy,
            invidious_host=instance.invidious_host,
            words_per_minute=user.default_reading_speed,
            cjk_per_minute=user.cjk_reading_speed,
            key=(_texts(feed), _texts(user), cleaning_policy, speeds, feed.site_url),
        )

    @property
    def rule_errors(self) -> tuple[str, ...]:
        """The rules that were ignored, each with the reason, in English."""
        errors = (*self.feed_rules.errors, *self.user_rules.errors)
        return tuple(f"{error.field}: {error.message}" for error in errors)


def fingerprint(entry: ParsedEntry) -> bytes:
    """Return 16 bytes that change when the publisher changes the entry.

    Of the date it depends only on whether there is one, because only the first one is stored. The hash is left out,
    since it depends on a setting.
    """
    published_at = _NO_DATE if entry.published_at is None else None
    content = _EntryWithoutChapters(
        "", entry.url, entry.title, entry.content, entry.base_url, entry.author, entry.comments_url, entry.language,
        published_at, entry.tags, entry.enclosures, entry.duration_minutes,
    )  # fmt: skip
    chapters = msgspec.msgpack.encode(entry.chapters) if entry.chapters else b""
    return sha256(msgspec.msgpack.encode(content) + chapters).digest()[:16]


def pages_to_fetch(entries: Mapping[bytes, ParsedEntry], policy: EntryPolicy, *, now: Instant) -> dict[bytes, str]:
    """Return the URLs of articles by hash, without entries that a filter rule removes or that have no URL."""
    budget = RuleBudget(MAX_CHECK_S)
    pages = {hash_: _page_to_fetch(entry, policy, now, budget.for_entry()) for hash_, entry in entries.items()}
    return {hash_: url for hash_, url in pages.items() if url}


def _page_to_fetch(entry: ParsedEntry, policy: EntryPolicy, now: Instant, budget: RuleBudget) -> str:
    if not _filtered(entry, policy, now, budget).is_kept:
        return ""
    return pipeline.rewrite_url(_without_tracking(entry, policy), policy.feed_rules, budget).entry.url


def prepare(
    entry: ParsedEntry,
    policy: EntryPolicy,
    *,
    feed: Feed,
    now: Instant,
    article: Article | None = None,
    budget: RuleBudget | None = None,
) -> PreparationResult:
    """Return the entry after filters, rewrite rules and cleaning.

    article: extracted from the entry's page, if that was fetched; it replaces the content of the feed, unless that has
    far more text, or nothing is left of the article after cleaning. budget: what all rules may use for the entry; those
    that are left when it is used up are skipped.
    """
    budget = budget or RuleBudget()
    if article is not None and not article.is_scraped and _is_page_worse(entry, article, policy, feed):
        kept = prepare(entry, policy, feed=feed, now=now, budget=budget)
        return msgspec.structs.replace(kept, is_page_worse=True)
    decision = _filtered(entry, policy, now, budget)
    if not decision.is_kept:
        return PreparationResult(None)
    url_rewritten = pipeline.rewrite_url(_without_tracking(entry, policy), policy.feed_rules, budget)
    full = url_rewritten.entry if article is None else _with_article(url_rewritten.entry, article)
    rewritten = pipeline.rewrite_entry(full, policy.feed_rules, invidious_host=policy.invidious_host, budget=budget)
    warnings = _english(
        *([decision.warning] if decision.warning else ()),
        *url_rewritten.warnings,
        *(article.warnings if article else ()),
        *rewritten.warnings,
    )
    clean = _cleaned(rewritten.entry, policy, feed)
    if article is not None:
        if not is_worth_reading(clean.html):
            return prepare(entry, policy, feed=feed, now=now, budget=budget)
        if not _filtered(rewritten.entry, policy, now, budget).is_kept:
            return PreparationResult(None, warnings)
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
        reading_time=_reading_time(entry, clean, policy),
        tags=entry.tags,
        enclosures=entry.enclosures,
        chapters=entry.chapters,
        page_url=article.page_url if article else "",
    )
    return PreparationResult(ready, warnings)


def prepare_article(
    entry: Entry, attached: Sequence[Enclosure], article: Article, policy: EntryPolicy
) -> PreparedArticle:
    """Return the article of a stored entry, rewritten by its feed's rules and cleaned. attached: its enclosures."""
    parsed = ParsedEntry(
        hash=entry.hash.hex(),
        url=entry.url,
        title=entry.title,
        enclosures=tuple(ParsedEnclosure(enclosure.url, enclosure.mime_type, enclosure.size) for enclosure in attached),
    )
    full = _with_article(parsed, article)
    rewritten = pipeline.rewrite_entry(full, policy.feed_rules, invidious_host=policy.invidious_host)
    clean = cleaning.clean_with_text(
        rewritten.entry.content, base_url=article.base_url, page_url=entry.url, policy=policy.cleaning_policy
    )
    is_episode = may_be_duration(entry.reading_time, attached, entry.url)
    minutes = entry.reading_time if is_episode else _reading_time(parsed, clean, policy)
    return PreparedArticle(clean.html, minutes, _english(*article.warnings, *rewritten.warnings))


def _english(*warnings: Message) -> tuple[str, ...]:
    """Return the warnings in English, for the log. The page that previews rules shows translated ones."""
    return tuple(warning.english() for warning in warnings)


def is_worth_reading(content: str) -> bool:
    """Return whether the content has any text, picture, audio or video. content: cleaned HTML."""
    return bool(_VISIBLE_MEDIA.search(content) or cleaning.text_of(content))


def is_far_shorter(article: str, others: Iterable[str]) -> bool:
    """Return whether an article has far less text than what it would replace, so that its page is none.

    Such pages ask for consent, a log-in or a subscription, show an error, or need a script. A picture may be all of an
    article of which the feed has a few words. article, others: cleaned HTML.
    """
    expected = max((_chars(other) for other in others), default=0)
    if expected < MIN_FULL_TEXT_CHARS and _VISIBLE_MEDIA.search(article):
        return False
    return _chars(article) < MIN_ARTICLE_SHARE * expected


def _is_page_worse(entry: ParsedEntry, article: Article, policy: EntryPolicy, feed: Feed) -> bool:
    published = _cleaned(entry, policy, feed).html
    found = cleaning.clean(article.content, base_url=article.base_url, policy=policy.cleaning_policy)
    return is_far_shorter(found, [published])


def _chars(html: str) -> int:
    return len(cleaning.text_of(html))


def _filtered(entry: ParsedEntry, policy: EntryPolicy, now: Instant, budget: RuleBudget) -> FilterDecision:
    return pipeline.filter_entry(entry, user=policy.user_rules, feed=policy.feed_rules, now=now, budget=budget)


def feed_hosts(feed: Feed) -> frozenset[str]:
    """Return the hosts of the feed and its site. URL parameters that name them as the referrer are tracking."""
    return frozenset(host for url in (feed.feed_url, feed.site_url) if (host := _host(url)))


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _without_tracking(entry: ParsedEntry, policy: EntryPolicy) -> ParsedEntry:
    url = strip_tracking(entry.url, hosts=policy.cleaning_policy.referring_hosts)
    return entry if url == entry.url else msgspec.structs.replace(entry, url=url)


def _with_article(entry: ParsedEntry, article: Article) -> ParsedEntry:
    return msgspec.structs.replace(entry, content=article.content, base_url=article.base_url)


def _cleaned(entry: ParsedEntry, policy: EntryPolicy, feed: Feed) -> cleaning.CleanedHtml:
    base_url = entry.base_url or entry.url or feed.site_url
    return cleaning.clean_with_text(entry.content, base_url=base_url, page_url=entry.url, policy=policy.cleaning_policy)


def _reading_time(entry: ParsedEntry, clean: cleaning.CleanedHtml, policy: EntryPolicy) -> int:
    return entry.duration_minutes or minutes_of(
        clean.text, words_per_minute=policy.words_per_minute, cjk_per_minute=policy.cjk_per_minute
    )


def _texts(owner: Feed | User) -> pipeline.RuleTexts:
    names = pipeline.RuleTexts.__struct_fields__
    return pipeline.RuleTexts(**{name: getattr(owner, name) for name in names if hasattr(owner, name)})
