"""Which entries are let in: rules for one field each, and the two older expressions over several fields.

    block rules (user, then feed) | blocklist | keep rules (user, then feed) | keeplist

The first rule that hits decides. Where there are keep rules, an entry needs a hit by one of them.
"""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import Final

from msgspec import Struct

from tidings.domain.errors import InvalidRule
from tidings.domain.rules.dates import DatePattern, parse_date_pattern
from tidings.domain.rules.problems import Problems, attempt, is_too_long, refuse
from tidings.domain.rules.regex import Regex, compile_regex
from tidings.domain.times import Instant
from tidings.domain.wording import Words


class FilterField(StrEnum):
    TITLE = "EntryTitle"
    URL = "EntryURL"
    COMMENTS_URL = "EntryCommentsURL"
    CONTENT = "EntryContent"
    AUTHOR = "EntryAuthor"
    TAG = "EntryTag"
    DATE = "EntryDate"


class EntryFacts(Struct, frozen=True, kw_only=True):
    """What filters may look at. published_at: None counts as now."""

    url: str = ""
    title: str = ""
    comments_url: str = ""
    content: str = ""
    author: str = ""
    tags: tuple[str, ...] = ()
    published_at: Instant | None = None


class FilterRule(Struct, frozen=True):
    """number: counted from 1 among the lines that are not blank. source: the line as written."""

    number: int
    source: str
    field: FilterField
    pattern: Regex | DatePattern

    def matches(self, entry: EntryFacts, *, now: Instant) -> bool:
        if isinstance(self.pattern, DatePattern):
            moment = now if entry.published_at is None else entry.published_at
            return self.pattern.matches(moment, now=now)
        return any(map(self.pattern.is_found_in, _texts(entry, self.field)))


FilterRules = tuple[FilterRule, ...]


class Filters(Struct, frozen=True, kw_only=True):
    """Of a user or of a feed. A user has no blocklist and no keeplist."""

    block: FilterRules = ()
    keep: FilterRules = ()
    blocklist: Regex | None = None
    keeplist: Regex | None = None

    @property
    def let_all_in(self) -> bool:
        return not (self.block or self.keep or self.blocklist or self.keeplist)


NO_FILTERS: Final = Filters()


class Verdict(Struct, frozen=True):
    """rule: the one that decided, such as `feed block rule 2: EntryTitle=ads`; "" when none had a say."""

    is_kept: bool
    rule: Words = ""


KEPT: Final = Verdict(is_kept=True)


def decide(entry: EntryFacts, *, user: Filters = NO_FILTERS, feed: Filters = NO_FILTERS, now: Instant) -> Verdict:
    """Whether the entry is let in, and which rule says so."""
    blocking: Words = _first_hit(entry, "block", user.block, feed.block, now=now)
    if blocking:
        return Verdict(is_kept=False, rule=blocking)
    if feed.blocklist and _is_listed(entry, feed.blocklist):
        return Verdict(is_kept=False, rule=f"feed block list: {feed.blocklist.source}")
    if user.keep or feed.keep:
        keeping: Words = _first_hit(entry, "keep", user.keep, feed.keep, now=now)
        return Verdict(is_kept=bool(keeping), rule=keeping or "no keep rule matches")
    if feed.keeplist:
        return Verdict(is_kept=_is_listed(entry, feed.keeplist), rule=f"feed keep list: {feed.keeplist.source}")
    return KEPT


def parse_filters(text: str, *, field: str) -> FilterRules:
    """One rule a line; blank lines are ignored. InvalidRule for the first line that cannot be used."""
    problems: Problems = []
    rules = read_filters(text, field=field, problems=problems)
    refuse(problems)
    return rules


def read_filters(text: str, *, field: str, problems: Problems) -> FilterRules:
    """The rules that can be used; what is wrong with the others is added to problems."""
    if is_too_long(text, field=field, problems=problems):
        return ()
    lines = (line.strip("\r") for line in text.split("\n"))
    rules = [
        attempt(partial(_parse_line, line, number), problems=problems, field=field, number=number)
        for number, line in enumerate(filter(str.strip, lines), start=1)
    ]
    return tuple(rule for rule in rules if rule)


def parse_list(text: str, *, field: str) -> Regex | None:
    """The old form: one expression; None when there is none. InvalidRule when it cannot be used."""
    problems: Problems = []
    found = read_list(text, field=field, problems=problems)
    refuse(problems)
    return found


def read_list(text: str, *, field: str, problems: Problems) -> Regex | None:
    # A line end that came along when the text was pasted is not meant to be matched.
    source = text.strip()
    return attempt(lambda: compile_regex(source), problems=problems, field=field) if source else None


_FIELDS: Final = {str(field): field for field in FilterField}


def _parse_line(line: str, number: int) -> FilterRule:
    name, equals, value = map(str.strip, line.partition("="))
    if not equals:
        raise InvalidRule("A filter rule is written as Field=expression; the = is missing.")
    field = _FIELDS.get(name)
    if field is None:
        raise InvalidRule(f"There is no field {name[:40]!r}; the fields are {', '.join(_FIELDS)}.")
    if not value:
        raise InvalidRule("The expression after the = is missing.")
    pattern = parse_date_pattern(value) if field is FilterField.DATE else compile_regex(value)
    return FilterRule(number, line, field, pattern)


def _texts(entry: EntryFacts, field: FilterField) -> tuple[str, ...]:
    """What an expression for this field is matched against."""
    match field:
        case FilterField.TITLE:
            return (entry.title,)
        case FilterField.URL:
            return (entry.url,)
        case FilterField.COMMENTS_URL:
            return (entry.comments_url,)
        case FilterField.CONTENT:
            return (entry.content,)
        case FilterField.AUTHOR:
            return (entry.author,)
        case FilterField.TAG:
            return entry.tags
        case FilterField.DATE:
            return ()


def _first_hit(entry: EntryFacts, verb: str, user: FilterRules, feed: FilterRules, *, now: Instant) -> Words:
    for owner, rules in (("user", user), ("feed", feed)):
        for rule in rules:
            if rule.matches(entry, now=now):
                return _RULE_NAMES[owner, verb].format(number=rule.number, source=rule.source)
    return ""


_RULE_NAMES: Final[dict[tuple[str, str], Words]] = {
    ("user", "block"): "user block rule {number}: {source}",
    ("user", "keep"): "user keep rule {number}: {source}",
    ("feed", "block"): "feed block rule {number}: {source}",
    ("feed", "keep"): "feed keep rule {number}: {source}",
}


def _is_listed(entry: EntryFacts, expression: Regex) -> bool:
    return any(map(expression.is_found_in, (entry.url, entry.title, entry.author, *entry.tags)))
