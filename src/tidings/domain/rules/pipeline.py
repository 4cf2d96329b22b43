"""A feed's rules, read once per poll, and the steps that ingestion takes with them for each entry.

    judge | rewrite_url | (fetch the page) scrape_page | rewrite_entry | judge again if scraped

A stored rule that cannot be used any more is left out and reported; it never stops a feed.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from tidings.domain.errors import InvalidRule
from tidings.domain.feeds import ParsedEntry
from tidings.domain.rules.builtin import builtin_rewrites
from tidings.domain.rules.draft import DEFAULT_INVIDIOUS_HOST, Draft, split_url
from tidings.domain.rules.filters import KEPT, EntryFacts, Filters, Verdict, decide, read_filters, read_list
from tidings.domain.rules.problems import Problems
from tidings.domain.rules.regex import GaveUp
from tidings.domain.rules.rewrite import Rewrites, read_rewrite, rewrite
from tidings.domain.rules.scraper import read_selector, scrape
from tidings.domain.rules.selectors import Selector
from tidings.domain.rules.url_rewrite import UrlRewrite, read_url_rewrite
from tidings.domain.times import Instant
from tidings.domain.wording import Words


class RuleTexts(Struct, frozen=True, kw_only=True):
    """As stored with a feed, under the names of the API. A user has the last two only."""

    scraper_rules: str = ""
    rewrite_rules: str = ""
    urlrewrite_rules: str = ""
    blocklist_rules: str = ""
    keeplist_rules: str = ""
    block_filter_entry_rules: str = ""
    keep_filter_entry_rules: str = ""


class CompiledRules(Struct, frozen=True, kw_only=True):
    """rewrites: None when the feed has none of its own, so that the built-in ones of the site apply.

    problems: one for each rule that was left out.
    """

    filters: Filters = Filters()
    url_rewrite: UrlRewrite | None = None
    scraper: Selector | None = None
    rewrites: Rewrites | None = None
    problems: tuple[InvalidRule, ...] = ()


NO_RULES = CompiledRules()


class Applied(Struct, frozen=True):
    """complaints: a sentence for each rule that gave up on this entry and changed nothing."""

    entry: ParsedEntry
    complaints: tuple[Words, ...] = ()


def compile_rules(texts: RuleTexts) -> CompiledRules:
    """Of a feed, or of a user. Never raises: see problems."""
    problems: Problems = []
    return CompiledRules(
        filters=_filters(texts, problems),
        url_rewrite=read_url_rewrite(texts.urlrewrite_rules, field="urlrewrite_rules", problems=problems),
        scraper=read_selector(texts.scraper_rules, field="scraper_rules", problems=problems),
        rewrites=_rewrites(texts.rewrite_rules, problems),
        # Evaluated last: by now every reader has added what it found.
        problems=tuple(problems),
    )


def judge(
    entry: ParsedEntry, *, user: CompiledRules = NO_RULES, feed: CompiledRules = NO_RULES, now: Instant
) -> Verdict:
    """Whether the entry is let in, and which rule says so."""
    if user.filters.let_all_in and feed.filters.let_all_in:
        return KEPT
    return decide(facts_of(entry), user=user.filters, feed=feed.filters, now=now)


def facts_of(entry: ParsedEntry) -> EntryFacts:
    return EntryFacts(
        url=entry.url,
        title=entry.title,
        comments_url=entry.comments_url,
        content=entry.content,
        author=entry.author,
        tags=entry.tags,
        published_at=entry.published_at,
    )


def rewrite_url(entry: ParsedEntry, rules: CompiledRules) -> Applied:
    """Only the address; an address that a browser could not follow is not taken over."""
    if rules.url_rewrite is None or not entry.url:
        return Applied(entry)
    try:
        url = rules.url_rewrite.apply(entry.url)
    except GaveUp as reason:
        return Applied(entry, (f"The address rule was skipped: {reason}.",))
    if not _is_web_address(url):
        return Applied(entry, ("The address rule was skipped: what it makes is not a web address.",))
    return Applied(replace(entry, url=url))


def rewrite_entry(entry: ParsedEntry, rules: CompiledRules, *, invidious_host: str = DEFAULT_INVIDIOUS_HOST) -> Applied:
    """Title and content. What comes out still has to be cleaned."""
    rewrites = builtin_rewrites(entry.url) if rules.rewrites is None else rules.rewrites
    if not rewrites:
        return Applied(_entitled(entry, entry.title))
    draft = Draft(
        url=entry.url,
        title=entry.title,
        content=entry.content,
        enclosures=entry.enclosures,
        invidious_host=invidious_host,
    )
    changed, complaints = rewrite(draft, rewrites)
    return Applied(_entitled(replace(entry, content=changed.content), changed.title), complaints)


def apply_rules(entry: ParsedEntry, rules: CompiledRules, *, invidious_host: str = DEFAULT_INVIDIOUS_HOST) -> Applied:
    """Both at once, for feeds whose pages are not fetched."""
    moved = rewrite_url(entry, rules)
    changed = rewrite_entry(moved.entry, rules, invidious_host=invidious_host)
    return Applied(changed.entry, moved.complaints + changed.complaints)


def scrape_page(page: str, rules: CompiledRules) -> tuple[str | None, tuple[Words, ...]]:
    """The parts that the feed's selector names, if any, and complaints."""
    if rules.scraper is None:
        return None, ()
    try:
        return scrape(page, rules.scraper), ()
    except GaveUp as reason:
        return None, (f"The scraper rule was skipped: {reason}.",)


def _entitled(entry: ParsedEntry, title: str) -> ParsedEntry:
    """A title that a rule emptied would leave nothing to click on."""
    title = title.strip() or entry.title
    return entry if title == entry.title else replace(entry, title=title)


def _filters(texts: RuleTexts, problems: Problems) -> Filters:
    return Filters(
        block=read_filters(texts.block_filter_entry_rules, field="block_filter_entry_rules", problems=problems),
        keep=read_filters(texts.keep_filter_entry_rules, field="keep_filter_entry_rules", problems=problems),
        blocklist=read_list(texts.blocklist_rules, field="blocklist_rules", problems=problems),
        keeplist=read_list(texts.keeplist_rules, field="keeplist_rules", problems=problems),
    )


def _rewrites(text: str, problems: Problems) -> Rewrites | None:
    return read_rewrite(text, field="rewrite_rules", problems=problems) if text.strip() else None


def _is_web_address(url: str) -> bool:
    parts = split_url(url)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not any(map(str.isspace, url))
