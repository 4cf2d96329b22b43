"""Checks a feed's rules when they are saved, compiles them once per poll, and applies them to its entries.

    filter_entry | rewrite_url | (fetch the page) scrape_page | rewrite_entry | filter_entry again if scraped

Rules that match nothing are accepted when they are saved, as by Miniflux: a selector with a mistake, a date that cannot
be read. The pages name them (`CompiledRules.errors`). A stored rule that has become unusable is left out and reported;
it never stops a feed.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from tidings.base.messages import Message, msg
from tidings.base.times import Instant
from tidings.content.errors import InvalidRule
from tidings.content.model import ParsedEntry
from tidings.content.rules.evaluation import (
    DEFAULT_INVIDIOUS_HOST,
    MAX_PAGE_S,
    RuleBudget,
    RuleBudgetExceeded,
    RuleEntry,
    RuleErrors,
    collect_error,
    raise_first,
    split_url,
)
from tidings.content.rules.filters import (
    KEPT,
    FilterDecision,
    FilterInput,
    Filters,
    apply_filters,
    parse_entry_list,
    parse_filters,
    read_entry_list,
    read_filters,
)
from tidings.content.rules.regex import MAX_RESULT_CHARS, Regex, ReplacementTemplate, compile_regex, parse_template
from tidings.content.rules.rewrite import (
    RewriteRules,
    apply_rewrites,
    builtin_rewrites,
    parse_rewrites,
    read_rewrites,
    unquote_string,
)
from tidings.content.rules.rewrites.markup import parse
from tidings.content.rules.selectors import Selector, parse_selector, select

# Rewriting of URLs: `rewrite("^https://m\.(.*)"|"https://$1")`

# The longest address of a document.
MAX_URL_CHARS: Final = 8_000

_STRING: Final = r'("(?:[^"\\\n]|\\[^\n])+")'
_RULE: Final = re.compile(rf"rewrite\(\s*{_STRING}\s*\|\s*{_STRING}\s*\)")


class UrlRewrite(Struct, frozen=True):
    pattern: Regex
    replacement: ReplacementTemplate

    def apply(self, url: str, budget: RuleBudget) -> str:
        """Return the rewritten URL. Raises RuleBudgetExceeded if it is too long, or the budget is used up."""
        return self.pattern.replace(url, self.replacement, budget, max_chars=MAX_URL_CHARS)


def parse_url_rewrite(text: str, *, field: str) -> UrlRewrite | None:
    """Return the rule; None for a blank text. Raises InvalidRule for anything but one complete rule."""
    errors = RuleErrors()
    rule = read_url_rewrite(text, field=field, errors=errors)
    raise_first(errors)
    return rule


def read_url_rewrite(text: str, *, field: str, errors: RuleErrors) -> UrlRewrite | None:
    """Return the rule, or None. Adds an error to `errors` if it is unusable."""
    if not text.strip():
        return None
    return collect_error(lambda: _parse(text.strip()), errors=errors, field=field)


def _parse(text: str) -> UrlRewrite:
    match = _RULE.fullmatch(text)
    if match is None:
        raise InvalidRule(
            msg('Addresses are rewritten by exactly one rule of the form rewrite("expression"|"replacement").')
        )
    pattern = compile_regex(unquote_string(match[1]))
    return UrlRewrite(pattern, parse_template(unquote_string(match[2]), pattern))


# Scraper rules: the CSS selector of the parts of a page that belong to the article


def validate_selector(text: str, *, field: str = "scraper_rules") -> Selector | None:
    """Return the selector; None for a blank text, and for text that is not a selector list and so finds nothing.

    Raises InvalidRule for one that is too long.
    """
    errors = RuleErrors()
    selector = read_selector(text, field=field, errors=errors)
    raise_first(errors)
    return selector


def read_selector(text: str, *, field: str, errors: RuleErrors) -> Selector | None:
    """Return the selector, or None. Adds an error to `errors` if it is unusable."""
    if not text.strip():
        return None
    return collect_error(lambda: parse_selector(text), errors=errors, field=field)


def scrape(page: str, selector: Selector) -> str | None:
    """Return the outer HTML of all matches in document order, joined; None if nothing matches.

    Raises RuleBudgetExceeded if the page is too large for the selector.
    """
    pieces: list[str] = []
    length = 0
    with RuleBudget(MAX_PAGE_S) as budget:
        nodes = select(parse(page, is_page=True), selector, budget)
    for node in nodes:
        pieces.append(node.html or "")
        length += len(pieces[-1])
        # A match inside a match is included twice: `*` on a deep page makes a result of quadratic length.
        if length > MAX_RESULT_CHARS:
            raise RuleBudgetExceeded(msg("the matches are too long"))
    return "".join(pieces) or None


# A feed and its rules


class RuleTexts(Struct, frozen=True, kw_only=True):
    """The rules as stored, with the names of the API. A user has the last two only."""

    scraper_rules: str = ""
    rewrite_rules: str = ""
    urlrewrite_rules: str = ""
    blocklist_rules: str = ""
    keeplist_rules: str = ""
    block_filter_entry_rules: str = ""
    keep_filter_entry_rules: str = ""


class CompiledRules(Struct, frozen=True, kw_only=True):
    """The rules that apply to the entries of a feed, compiled once."""

    filters: Filters = Filters()
    url_rewrite: UrlRewrite | None = None
    scraper: Selector | None = None
    rewrites: RewriteRules | None = None
    """None if the feed has none of its own, so that the built-in rules of the site apply."""
    errors: tuple[InvalidRule, ...] = ()
    """One error for each rule that was left out."""


NO_RULES = CompiledRules()


class RuleResult(Struct, frozen=True):
    """An entry after the rules were applied."""

    entry: ParsedEntry
    warnings: tuple[Message, ...] = ()
    """One sentence for each rule that was skipped for this entry."""


def compile_rules(texts: RuleTexts) -> CompiledRules:
    """Return the compiled rules of a feed or user. Never raises: unusable rules are in `errors`."""
    if texts == RuleTexts():
        return NO_RULES
    errors = RuleErrors()
    return CompiledRules(
        filters=_read_filters(texts, errors),
        url_rewrite=read_url_rewrite(texts.urlrewrite_rules, field="urlrewrite_rules", errors=errors),
        scraper=read_selector(texts.scraper_rules, field="scraper_rules", errors=errors),
        rewrites=_read_rewrites(texts.rewrite_rules, errors),
        # Evaluated last, after all rules have been read.
        errors=tuple(errors),
    )


def filter_entry(
    entry: ParsedEntry,
    *,
    user: CompiledRules = NO_RULES,
    feed: CompiledRules = NO_RULES,
    now: Instant,
    budget: RuleBudget | None = None,
) -> FilterDecision:
    """Return whether the entry is kept, and the rule that decided. budget: what all rules of the entry may use."""
    if user.filters.is_empty and feed.filters.is_empty:
        return KEPT
    return apply_filters(filter_input(entry), user=user.filters, feed=feed.filters, now=now, budget=budget)


def filter_input(entry: ParsedEntry) -> FilterInput:
    """Return the parts of the entry that filters match."""
    return FilterInput(
        url=entry.url,
        title=entry.title,
        comments_url=entry.comments_url,
        content=entry.content,
        author=entry.author,
        tags=entry.tags,
        published_at=entry.published_at,
    )


def rewrite_url(entry: ParsedEntry, rules: CompiledRules, budget: RuleBudget | None = None) -> RuleResult:
    """Return the entry with its URL rewritten. A result that is not a web URL is discarded with a warning."""
    if rules.url_rewrite is None or not entry.url:
        return RuleResult(entry)
    try:
        with budget or RuleBudget() as running:
            running.check()
            url = rules.url_rewrite.apply(entry.url, running)
    except RuleBudgetExceeded as error:
        return RuleResult(entry, (msg("The address rule was skipped: {reason}.", reason=error.reason),))
    if not _is_web_url(url):
        return RuleResult(entry, (msg("The address rule was skipped: what it makes is not a web address."),))
    return RuleResult(replace(entry, url=url))


def rewrite_entry(
    entry: ParsedEntry,
    rules: CompiledRules,
    *,
    invidious_host: str = DEFAULT_INVIDIOUS_HOST,
    budget: RuleBudget | None = None,
) -> RuleResult:
    """Return the entry with title and content rewritten. The content still has to be cleaned."""
    rewrites = builtin_rewrites(entry.url) if rules.rewrites is None else rules.rewrites
    if not rewrites:
        return RuleResult(_with_title(entry, entry.title))
    rule_entry = RuleEntry(
        url=entry.url,
        title=entry.title,
        content=entry.content,
        enclosures=entry.enclosures,
        invidious_host=invidious_host,
        budget=budget or RuleBudget(),
    )
    with rule_entry.budget:
        changed, warnings = apply_rewrites(rule_entry, rewrites)
    return RuleResult(_with_title(replace(entry, content=changed.content), changed.title), warnings)


def apply_rules(
    entry: ParsedEntry,
    rules: CompiledRules,
    *,
    invidious_host: str = DEFAULT_INVIDIOUS_HOST,
    budget: RuleBudget | None = None,
) -> RuleResult:
    """Return the entry after `rewrite_url` and `rewrite_entry`, for feeds whose pages are not fetched."""
    budget = budget or RuleBudget()
    rewritten = rewrite_url(entry, rules, budget)
    changed = rewrite_entry(rewritten.entry, rules, invidious_host=invidious_host, budget=budget)
    return RuleResult(changed.entry, rewritten.warnings + changed.warnings)


def scrape_page(page: str, rules: CompiledRules) -> tuple[str | None, tuple[Message, ...]]:
    """Return the parts that the feed's selector matches (None without selector or match) and warnings."""
    if rules.scraper is None:
        return None, ()
    try:
        return scrape(page, rules.scraper), ()
    except RuleBudgetExceeded as error:
        return None, (msg("The scraper rule was skipped: {reason}.", reason=error.reason),)


def _with_title(entry: ParsedEntry, title: str) -> ParsedEntry:
    """Return the entry with a new title; an empty one is ignored, because it could not be clicked."""
    title = title.strip() or entry.title
    return entry if title == entry.title else replace(entry, title=title)


def _read_filters(texts: RuleTexts, errors: RuleErrors) -> Filters:
    return Filters(
        block=read_filters(texts.block_filter_entry_rules, field="block_filter_entry_rules", errors=errors),
        keep=read_filters(texts.keep_filter_entry_rules, field="keep_filter_entry_rules", errors=errors),
        blocklist=read_entry_list(texts.blocklist_rules, field="blocklist_rules", errors=errors),
        keeplist=read_entry_list(texts.keeplist_rules, field="keeplist_rules", errors=errors),
    )


def _read_rewrites(text: str, errors: RuleErrors) -> RewriteRules | None:
    return read_rewrites(text, field="rewrite_rules", errors=errors) if text.strip() else None


def _is_web_url(url: str) -> bool:
    parts = split_url(url)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not any(map(str.isspace, url))


# Checks of rules that are about to be saved


def validate_feed_rules(
    *,
    scraper_rules: str | None = None,
    rewrite_rules: str | None = None,
    urlrewrite_rules: str | None = None,
    blocklist_rules: str | None = None,
    keeplist_rules: str | None = None,
    block_filter_entry_rules: str | None = None,
    keep_filter_entry_rules: str | None = None,
) -> None:
    """Raise InvalidRule, with the field, for the first unusable rule. None and "" are valid."""
    validate_selector(scraper_rules or "", field="scraper_rules")
    parse_rewrites(rewrite_rules or "", field="rewrite_rules")
    parse_url_rewrite(urlrewrite_rules or "", field="urlrewrite_rules")
    parse_entry_list(blocklist_rules or "", field="blocklist_rules")
    parse_entry_list(keeplist_rules or "", field="keeplist_rules")
    validate_user_rules(
        block_filter_entry_rules=block_filter_entry_rules, keep_filter_entry_rules=keep_filter_entry_rules
    )


def validate_user_rules(
    *, block_filter_entry_rules: str | None = None, keep_filter_entry_rules: str | None = None
) -> None:
    """The same for the rules that a user has for all feeds."""
    parse_filters(block_filter_entry_rules or "", field="block_filter_entry_rules")
    parse_filters(keep_filter_entry_rules or "", field="keep_filter_entry_rules")
