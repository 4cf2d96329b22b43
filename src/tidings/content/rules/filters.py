"""Decides which entries are kept: rules for one field each, and two older expressions over several fields.

    block rules (user, then feed) | blocklist | keep rules (user, then feed) | keeplist

The first matching rule decides. If there are keep rules, an entry must match one of them. Rules for the date have
patterns of their own: `future`, `before:2020-01-01`, `after:…`, `between:…,…`, `max-age:30d`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, time
from enum import StrEnum
from functools import cached_property, partial
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from tidings.base.messages import Message, msg
from tidings.base.times import DAY, HOUR, MINUTE, SECOND, Instant, from_datetime
from tidings.content.errors import InvalidRule, UnmatchableRule
from tidings.content.rules.evaluation import (
    RuleBudget,
    RuleBudgetExceeded,
    RuleErrors,
    collect_error,
    is_too_long,
    raise_first,
)
from tidings.content.rules.regex import Regex, as_typed, compile_regex

# Patterns of EntryDate rules

_UNITS: Final = {"d": DAY, "h": HOUR, "m": MINUTE, "s": SECOND}
_AGE: Final = re.compile(r"([0-9]{1,9})([dhms])")
_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


class DateKind(StrEnum):
    FUTURE = "future"
    BEFORE = "before"
    AFTER = "after"
    BETWEEN = "between"
    MAX_AGE = "max-age"


class DatePattern(Struct, frozen=True):
    """A compiled condition on an entry's date. Each value is set only if the kind needs it."""

    kind: DateKind
    start: int = 0
    """Midnight in UTC."""
    end: int = 0
    """Midnight in UTC."""
    age: int = 0
    """In microseconds."""

    def matches(self, moment: Instant, *, now: Instant) -> bool:
        """Return whether the date is within the limits; the limits themselves do not match."""
        match self.kind:
            case DateKind.FUTURE:
                return moment > now
            case DateKind.BEFORE:
                return moment < self.end
            case DateKind.AFTER:
                return moment > self.start
            case DateKind.BETWEEN:
                return self.start < moment < self.end
            case DateKind.MAX_AGE:
                return moment < now - self.age


def parse_date_pattern(text: str) -> DatePattern:
    """Return the pattern. Raises UnmatchableRule, without field and number, for any other form."""
    kind, _, value = text.strip().partition(":")
    match kind:
        case DateKind.FUTURE if not value:
            return DatePattern(DateKind.FUTURE)
        case DateKind.BEFORE:
            return DatePattern(DateKind.BEFORE, end=_midnight(value))
        case DateKind.AFTER:
            return DatePattern(DateKind.AFTER, start=_midnight(value))
        case DateKind.BETWEEN:
            return _between(value)
        case DateKind.MAX_AGE:
            return DatePattern(DateKind.MAX_AGE, age=_age(value))
        case _:
            raise UnmatchableRule(
                msg(
                    "A date rule is one of future, before:2020-01-01, after:2020-01-01, "
                    "between:2020-01-01,2021-01-01 and max-age:30d."
                )
            )


def _between(value: str) -> DatePattern:
    first, comma, last = value.partition(",")
    if not comma:
        raise UnmatchableRule(msg("A between rule needs two dates with a comma between them."))
    start, end = _midnight(first), _midnight(last)
    if start >= end:
        raise UnmatchableRule(msg("The first date of a between rule must be earlier than the second."))
    return DatePattern(DateKind.BETWEEN, start=start, end=end)


def _midnight(text: str) -> Instant:
    text = text.strip()
    # fromisoformat accepts more forms (20240131, 2024-W05-3) than the documentation promises.
    if _DATE.fullmatch(text):
        with suppress(ValueError):
            return from_datetime(datetime.combine(date.fromisoformat(text), time(), tzinfo=UTC))
    raise UnmatchableRule(msg("A date is written as year-month-day, for example 2024-01-31."))


def _age(text: str) -> int:
    match = _AGE.fullmatch(text.strip())
    if match is None:
        raise UnmatchableRule(msg("An age is a whole number followed by d, h, m or s, for example max-age:30d."))
    return int(match[1]) * _UNITS[match[2]]


# Filters


class FilterField(StrEnum):
    TITLE = "EntryTitle"
    URL = "EntryURL"
    COMMENTS_URL = "EntryCommentsURL"
    CONTENT = "EntryContent"
    AUTHOR = "EntryAuthor"
    TAG = "EntryTag"
    DATE = "EntryDate"


class FilterInput(Struct, frozen=True, kw_only=True, dict=True):
    """The parts of an entry that filters match."""

    url: str = ""
    title: str = ""
    comments_url: str = ""
    content: str = ""
    author: str = ""
    tags: tuple[str, ...] = ()
    published_at: Instant | None = None
    """None counts as now."""

    @cached_property
    def typed(self) -> FilterInput:
        """The texts as people type them; the same object if nothing differs."""
        title, author, content = as_typed(self.title), as_typed(self.author), as_typed(self.content, is_html=True)
        tags = tuple(map(as_typed, self.tags))
        if (title, author, content, tags) == (self.title, self.author, self.content, self.tags):
            return self
        return replace(self, title=title, author=author, content=content, tags=tags)


class FilterRule(Struct, frozen=True):
    """One line of a filter: which field has to match which pattern."""

    number: int
    """Position among the lines that are not blank, counted from 1."""
    source: str
    """The line as written."""
    field: FilterField
    pattern: Regex | DatePattern

    def matches(self, entry: FilterInput, *, now: Instant) -> bool:
        if isinstance(self.pattern, DatePattern):
            moment = now if entry.published_at is None else entry.published_at
            return self.pattern.matches(moment, now=now)
        return _is_found(self.pattern, entry, lambda each: _texts(each, self.field))


FilterRules = tuple[FilterRule, ...]


class Filters(Struct, frozen=True, kw_only=True):
    """The filters of a user or of a feed. A user has neither blocklist nor keeplist."""

    block: FilterRules = ()
    keep: FilterRules = ()
    blocklist: Regex | None = None
    keeplist: Regex | None = None

    @property
    def is_empty(self) -> bool:
        return not (self.block or self.keep or self.blocklist or self.keeplist)


NO_FILTERS: Final = Filters()


class FilterDecision(Struct, frozen=True):
    """What the filters decide about an entry."""

    is_kept: bool
    rule: Message | None = None
    """The rule that decided, such as `feed block rule 2: EntryTitle=ads`; None if no rule matched."""
    warning: Message | None = None
    """Why the filters were not applied to the end, so that the entry is kept."""


KEPT: Final = FilterDecision(is_kept=True)


def apply_filters(
    entry: FilterInput,
    *,
    user: Filters = NO_FILTERS,
    feed: Filters = NO_FILTERS,
    now: Instant,
    budget: RuleBudget | None = None,
) -> FilterDecision:
    """Return whether the entry is kept, and the rule that decided.

    An entry for which the rules take too long is kept: one that is blocked would be lost.
    """
    try:
        with budget or RuleBudget() as running:
            return _decide(entry, user, feed, now, running)
    except RuleBudgetExceeded as error:
        return FilterDecision(is_kept=True, warning=msg("Filters were skipped: {reason}.", reason=error.reason))


def _decide(entry: FilterInput, user: Filters, feed: Filters, now: Instant, budget: RuleBudget) -> FilterDecision:
    blocking = _first_match(entry, "block", user.block, feed.block, now, budget)
    if blocking:
        return FilterDecision(is_kept=False, rule=blocking)
    if feed.blocklist and _matches_list(entry, feed.blocklist):
        return FilterDecision(is_kept=False, rule=msg("feed block list: {source}", source=feed.blocklist.source))
    if user.keep or feed.keep:
        keeping = _first_match(entry, "keep", user.keep, feed.keep, now, budget)
        return FilterDecision(is_kept=keeping is not None, rule=keeping or msg("no keep rule matches"))
    if feed.keeplist:
        return FilterDecision(
            is_kept=_matches_list(entry, feed.keeplist),
            rule=msg("feed keep list: {source}", source=feed.keeplist.source),
        )
    return KEPT


def parse_filters(text: str, *, field: str) -> FilterRules:
    """Return one rule per line; blank lines are ignored. Raises InvalidRule for the first unusable line."""
    errors = RuleErrors()
    rules = read_filters(text, field=field, errors=errors)
    raise_first(errors)
    return rules


def read_filters(text: str, *, field: str, errors: RuleErrors) -> FilterRules:
    """Return the usable rules and add an error to `errors` for each of the others."""
    if is_too_long(text, field=field, errors=errors):
        return ()
    lines = (line.strip("\r") for line in text.split("\n"))
    rules = [
        collect_error(partial(_parse_line, line, number), errors=errors, field=field, number=number)
        for number, line in enumerate(filter(str.strip, lines), start=1)
    ]
    return tuple(rule for rule in rules if rule)


def parse_entry_list(text: str, *, field: str) -> Regex | None:
    """Return the expression of a blocklist or keeplist; None if it is blank. Raises InvalidRule if it is unusable."""
    errors = RuleErrors()
    rules = read_entry_list(text, field=field, errors=errors)
    raise_first(errors)
    return rules


def read_entry_list(text: str, *, field: str, errors: RuleErrors) -> Regex | None:
    """Return the expression, or None. Adds an error to `errors` if it is unusable."""
    # Blanks and line ends around the text come from pasting and are not part of the expression.
    source = text.strip()
    return collect_error(lambda: compile_regex(source), errors=errors, field=field) if source else None


_FIELDS: Final = {str(field): field for field in FilterField}


def _parse_line(line: str, number: int) -> FilterRule:
    name, equals, value = map(str.strip, line.partition("="))
    if not equals:
        raise InvalidRule(msg("A filter rule is written as Field=expression; the = is missing."))
    field = _FIELDS.get(name)
    if field is None:
        raise InvalidRule(
            msg("There is no field {name}; the fields are {fields}.", name=repr(name[:40]), fields=", ".join(_FIELDS))
        )
    if not value:
        raise InvalidRule(msg("The expression after the = is missing."))
    pattern = parse_date_pattern(value) if field is FilterField.DATE else compile_regex(value)
    return FilterRule(number, line, field, pattern)


def _texts(entry: FilterInput, field: FilterField) -> tuple[str, ...]:
    """Return the texts that an expression for this field is matched against."""
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


def _first_match(
    entry: FilterInput, verb: str, user: FilterRules, feed: FilterRules, now: Instant, budget: RuleBudget
) -> Message | None:
    for owner, rules in (("user", user), ("feed", feed)):
        for rule in rules:
            budget.check()
            if rule.matches(entry, now=now):
                return _RULE_NAMES[owner, verb].with_values(number=rule.number, source=rule.source)
    return None


_RULE_NAMES: Final[dict[tuple[str, str], Message]] = {
    ("user", "block"): msg("user block rule {number}: {source}"),
    ("user", "keep"): msg("user keep rule {number}: {source}"),
    ("feed", "block"): msg("feed block rule {number}: {source}"),
    ("feed", "keep"): msg("feed keep rule {number}: {source}"),
}


def _matches_list(entry: FilterInput, expression: Regex) -> bool:
    return _is_found(expression, entry, lambda each: (each.url, each.title, each.author, *each.tags))


def _is_found(expression: Regex, entry: FilterInput, texts: Callable[[FilterInput], tuple[str, ...]]) -> bool:
    """Return whether the expression matches a text as published, or as people type it."""
    if any(map(expression.is_found_in, texts(entry))):
        return True
    typed = expression.typed
    # The published texts have already been tried.
    if typed is expression and entry.typed is entry:
        return False
    return any(map(typed.is_found_in, texts(entry.typed)))
