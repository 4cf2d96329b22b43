"""Tests an entry in memory against a query, as the database does for entries that are stored.

matcher = Matcher(parse("title:rain is:unread"), now=now, zone=zone)
matcher.matches(candidate)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias
from zoneinfo import ZoneInfo

from msgspec import Struct

from tidings.base.times import Instant
from tidings.content.rules.regex import compile_regex
from tidings.content.search import MAX_TITLE_TERMS, Phrase, group_of, terms
from tidings.query.model import (
    And,
    Attachment,
    Everything,
    Has,
    Id,
    IdField,
    Is,
    Leaf,
    Not,
    Number,
    NumberField,
    Or,
    Pattern,
    PatternField,
    State,
    Text,
    TextField,
    TimeField,
    Times,
    Tree,
    View,
)
from tidings.query.moments import bounds
from tidings.query.names import (
    MAX_AUTHOR,
    Terms,
    contains,
    feed_test,
    is_in_url,
    is_in_words,
    is_language,
    is_name,
    phrases,
)
from tidings.query.parser import expression_of


class Candidate(Struct, frozen=True, kw_only=True, dict=True):
    """What a query can ask about an entry."""

    title: str
    text: str
    """The body without markup."""
    url: str = ""
    author: str = ""
    language: str = ""
    """A BCP 47 tag, or empty."""
    published_at: Instant
    changed_at: Instant
    added_at: Instant
    is_read: bool = False
    is_starred: bool = False
    is_shared: bool = False
    is_duplicate: bool = False
    is_hidden: bool = False
    minutes: int = 0
    """The reading time."""
    tags: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    label_ids: tuple[int, ...] = ()
    attachment_types: tuple[str, ...] = ()
    """Media types of the enclosures."""
    feed_id: int = 0
    feed_title: str = ""
    feed_urls: tuple[str, ...] = ()
    """Addresses of the feed's site and of the feed itself."""
    category_ids: tuple[int, ...] = ()
    """The categories that the feed is in, and those above them."""
    category_titles: tuple[str, ...] = ()
    """The paths of the categories that the feed is in, such as "News / Europe"."""

    @cached_property
    def language_group(self) -> str:
        return group_of(self.language)

    @cached_property
    def title_terms(self) -> Terms:
        return Terms(terms(self.title, self.language_group)[:MAX_TITLE_TERMS])

    @cached_property
    def text_terms(self) -> Terms:
        return Terms(terms(self.text, self.language_group))


Test: TypeAlias = Callable[[Candidate], bool]


class Matcher:
    """A query that is ready to test entries. Times are relative to `now`, dates are in `zone`.

    A view that nobody put the query in for (`model.replace_views`) matches nothing.
    """

    def __init__(self, tree: Tree, *, now: Instant, zone: ZoneInfo) -> None:
        self._now = now
        self._zone = zone
        self._tree = tree
        self._test = self._compiled(tree)
        self._needed: dict[str, frozenset[str] | None] = {}

    def matches(self, candidate: Candidate) -> bool:
        return self._test(candidate)

    def needed_terms(self, group: str) -> frozenset[str] | None:
        """Return terms of which an entry has one in its title or text if it matches; None if it may have none of them.

        group: of the entry's language. Of many queries, those about words that an entry does not have need no test.
        """
        if group not in self._needed:
            self._needed[group] = _needed_terms(self._tree, group)
        return self._needed[group]

    def _compiled(self, tree: Tree) -> Test:
        match tree:
            case Everything():
                return lambda _candidate: True
            case Not(term):
                negative = self._compiled(term)
                return lambda candidate: not negative(candidate)
            case And(terms):
                tests = [self._compiled(term) for term in terms]
                return lambda candidate: all(test(candidate) for test in tests)
            case Or(terms):
                tests = [self._compiled(term) for term in terms]
                return lambda candidate: any(test(candidate) for test in tests)
            case _:
                return self._leaf_test(tree)

    def _leaf_test(self, leaf: Leaf) -> Test:
        match leaf:
            case View():
                return lambda _candidate: False
            case Text():
                return _text_test(leaf)
            case Pattern():
                return _pattern_test(leaf)
            case Times():
                return self._times_test(leaf)
            case Id(field, number):
                return _ID_TESTS[field](number)
            case Has(attachment):
                return lambda candidate: any(is_attached(attachment, kind) for kind in candidate.attachment_types)
            case Is(state):
                return _STATES[state]
            case Number(field, comparison, number):
                value = _NUMBERS[field]
                return lambda candidate: comparison.holds(value(candidate), number)

    def _times_test(self, times: Times) -> Test:
        first, end = time_bounds(times, now=self._now, zone=self._zone)
        moment = _TIMES[times.field]
        needs_read = times.field is TimeField.READ

        def test(candidate: Candidate) -> bool:
            at = moment(candidate)
            is_in_range = (first is None or at >= first) and (end is None or at < end)
            return is_in_range and (candidate.is_read or not needs_read)

        return test


def time_bounds(times: Times, *, now: Instant, zone: ZoneInfo) -> tuple[Instant | None, Instant | None]:
    """Return the first instant of a range of times and the first one after it; None where it has no bound."""
    first = end = None
    if times.since:
        first = bounds(times.since, now=now, zone=zone)[0]
    elif times.after:
        first = bounds(times.after, now=now, zone=zone)[1]
    if times.until:
        end = bounds(times.until, now=now, zone=zone)[1]
    elif times.before:
        end = bounds(times.before, now=now, zone=zone)[0]
    return first, end


def is_attached(attachment: Attachment, media_type: str) -> bool:
    """Return whether an enclosure with this media type is an attachment of this kind."""
    return attachment is Attachment.ENCLOSURE or media_type.startswith(f"{attachment}/")


_WORD_FIELDS = (TextField.ANY, TextField.TITLE, TextField.TEXT)


def _needed_terms(tree: Tree, group: str) -> frozenset[str] | None:
    match tree:
        case Text(words, field, is_prefix) if field in _WORD_FIELDS:
            return _terms_of_phrases(phrases(words, group, is_prefix=is_prefix))
        case And(terms):
            # Any of them is right: the one that fewest entries have is likely to have fewest terms.
            known = [needed for term in terms if (needed := _needed_terms(term, group)) is not None]
            return min(known, key=len, default=None)
        case Or(terms):
            every = [_needed_terms(term, group) for term in terms]
            return None if None in every else frozenset().union(*(needed for needed in every if needed is not None))
        case _:
            return None


def _terms_of_phrases(any_of: Sequence[Phrase]) -> frozenset[str] | None:
    """Return one term of each phrase; None if one of them is a prefix alone."""
    found = [phrase.terms[:-1] if phrase.ends_with_prefix else phrase.terms for phrase in any_of]
    return frozenset(max(terms, key=len) for terms in found) if all(found) else None


def _text_test(leaf: Text) -> Test:
    match leaf.field:
        case TextField.ANY:
            return lambda entry: _is_anywhere(_phrases(leaf, entry), entry)
        case TextField.TITLE:
            return lambda entry: contains(_phrases(leaf, entry), entry.title_terms)
        case TextField.TEXT:
            return lambda entry: contains(_phrases(leaf, entry), entry.text_terms)
        case TextField.AUTHOR:
            return lambda entry: is_in_words(leaf, entry.author[:MAX_AUTHOR])
        case TextField.URL:
            return lambda entry: is_in_url(leaf, entry.url)
        case TextField.LABEL:
            return lambda entry: any(is_name(leaf, name) for name in entry.labels)
        case TextField.TAG:
            return lambda entry: any(is_name(leaf, name) for name in entry.tags)
        case TextField.LANGUAGE:
            return lambda entry: is_language(leaf, entry.language)
        case TextField.FEED | TextField.CATEGORY | TextField.SITE:
            return _feed_test(leaf)


def _feed_test(leaf: Text) -> Test:
    is_wanted = feed_test(leaf)
    if leaf.field is TextField.FEED:
        return lambda entry: is_wanted(entry.feed_title)
    if leaf.field is TextField.SITE:
        return lambda entry: any(map(is_wanted, entry.feed_urls))
    return lambda entry: any(map(is_wanted, entry.category_titles))


def _is_anywhere(wanted: Sequence[Phrase], entry: Candidate) -> bool:
    return contains(wanted, entry.title_terms) or contains(wanted, entry.text_terms)


def _phrases(leaf: Text, entry: Candidate) -> Sequence[Phrase]:
    return phrases(leaf.words, entry.language_group, is_prefix=leaf.is_prefix)


def _pattern_test(pattern: Pattern) -> Test:
    expression = compile_regex(expression_of(pattern))
    text_of = _PATTERN_TEXTS[pattern.field]
    return lambda entry: expression.is_found_in(text_of(entry))


_PATTERN_TEXTS: dict[PatternField, Callable[[Candidate], str]] = {
    # One line, as a database searches many of them together.
    PatternField.TITLE: lambda entry: entry.title.replace("\n", " "),
    PatternField.AUTHOR: lambda entry: entry.author[:MAX_AUTHOR],
    PatternField.URL: lambda entry: entry.url.replace("\n", " "),
}
_ID_TESTS: dict[IdField, Callable[[int], Test]] = {
    IdField.FEED: lambda number: lambda entry: entry.feed_id == number,
    IdField.CATEGORY: lambda number: lambda entry: number in entry.category_ids,
    IdField.LABEL: lambda number: lambda entry: number in entry.label_ids,
}
_STATES: dict[State, Test] = {
    State.UNREAD: lambda entry: not entry.is_read,
    State.READ: lambda entry: entry.is_read,
    State.STARRED: lambda entry: entry.is_starred,
    State.SHARED: lambda entry: entry.is_shared,
    State.DUPLICATE: lambda entry: entry.is_duplicate,
    State.HIDDEN: lambda entry: entry.is_hidden,
}
_NUMBERS: dict[NumberField, Callable[[Candidate], int]] = {
    NumberField.WORDS: lambda entry: len(entry.text_terms),
    NumberField.MINUTES: lambda entry: entry.minutes,
}
_TIMES: dict[TimeField, Callable[[Candidate], Instant]] = {
    TimeField.PUBLISHED: lambda entry: entry.published_at,
    TimeField.CHANGED: lambda entry: entry.changed_at,
    TimeField.ADDED: lambda entry: entry.added_at,
    TimeField.READ: lambda entry: entry.changed_at,
}
