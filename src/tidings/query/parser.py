"""Reads a query: text in, tree out, or the position at which it cannot be read.

    query  = terms { "OR" terms }                 "or" as well; AND binds tighter than OR
    terms  = term { [ "AND" ] term }
    term   = { "-" | "!" | "NOT" } ( "(" query ")" | words | field )
    words  = word | word* | "a phrase" | "a phrase"*
    field  = title:words | title:/expression/i | #tag | is:unread | words>500 | published:2026-01..2026-02 | …

Words without letters and digits, such as `&`, are skipped, as in a search.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeVar

from tidings.base.messages import Message, msg
from tidings.base.text import normalize_for_search
from tidings.content.errors import InvalidRule
from tidings.content.rules.regex import compile_regex
from tidings.content.search import terms
from tidings.query.errors import QueryError
from tidings.query.intervals import parse_times
from tidings.query.model import (
    Attachment,
    Comparison,
    Everything,
    Has,
    Id,
    IdField,
    Is,
    Number,
    NumberField,
    Pattern,
    PatternField,
    State,
    Text,
    TextField,
    TimeField,
    Tree,
    View,
    all_of,
    any_of,
    negated,
)

MAX_CHARACTERS = 2_000
MAX_LEAVES = 64
MAX_DEPTH = 16

QUOTES: Final = '"“”„‟«»＂'
_END = rf"(?=[\s(){QUOTES}]|\Z)"
_BLANKS = re.compile(r"\s*")
_OR = re.compile(rf"or{_END}", re.IGNORECASE)
_AND = re.compile(rf"AND{_END}")
_NOT = re.compile(rf"NOT{_END}")
_MINUS = re.compile(r"[-!](?=[^\s)])")
_QUOTED = re.compile(rf"[{QUOTES}]((?:\\.|[^{QUOTES}\\])*)[{QUOTES}](\*?)", re.DOTALL)
_SINGLE_QUOTED = re.compile(r"'([^']*)'(?=[\s()]|\Z)")
_BARE = re.compile(rf"[^\s(){QUOTES}]+")
_ESCAPED = re.compile(rf"\\([{QUOTES}\\])")
_FIELD = re.compile(r"([A-Za-z]+)(:|[<>]=?|=)(?!//)")
_PATTERN = re.compile(r"/((?:\\.|[^/\\])+)/([A-Za-z]*)(?=[\s()]|\Z)", re.DOTALL)
_PATTERN_ALONE = re.compile(r"/(?:\\.|[^/\\\s])+/[a-z]*(?=[\s()]|\Z)")
_IDS = re.compile(r"[0-9]{1,9}(?:,[0-9]{1,9})*")
_LANGUAGE = re.compile(r"[a-z0-9]{1,8}(?:-[a-z0-9]{1,8})*")
_HOST = re.compile(r"(?:[a-z][a-z0-9+.-]*://)?(?:www\.)?([^/?#@\s]+)", re.IGNORECASE)
# PostgreSQL stores neither.
_UNUSABLE = re.compile("[\0\ud800-\udfff]")
ASCII_LOWER: Final = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}

_TEXT_FIELDS: Final[Mapping[str, TextField]] = {field.value: field for field in TextField if field} | {
    "intitle": TextField.TITLE,
    "intext": TextField.TEXT,
    "inurl": TextField.URL,
    "labels": TextField.LABEL,
}
_ID_FIELDS: Final = {
    "f": (IdField.FEED, TextField.FEED),
    "c": (IdField.CATEGORY, TextField.CATEGORY),
    "l": (IdField.LABEL, TextField.LABEL),
}
_TIME_FIELDS: Final[Mapping[str, TimeField]] = {field.value: field for field in TimeField} | {
    "pubdate": TimeField.PUBLISHED,
    "date": TimeField.ADDED,
    "mdate": TimeField.CHANGED,
    "userdate": TimeField.CHANGED,
}
_NUMBER_FIELDS: Final = {field.value: field for field in NumberField}
_VIEW_FIELDS: Final = ("s", "search")
FIELDS: Final = (*_TEXT_FIELDS, *_ID_FIELDS, *_TIME_FIELDS, *_NUMBER_FIELDS, *_VIEW_FIELDS, "has", "is")

Choice = TypeVar("Choice", Attachment, State)


class _Value(NamedTuple):
    """What stands behind a field."""

    text: str
    start: int
    is_prefix: bool
    is_quoted: bool


def parse(text: str) -> Tree:
    """Return the tree of a query; Everything if it is blank. Raises QueryError."""
    if len(text) > MAX_CHARACTERS:
        raise QueryError(MAX_CHARACTERS, msg("the end: a query has at most {max:,} characters", max=MAX_CHARACTERS))
    if unusable := _UNUSABLE.search(text):
        raise QueryError(unusable.start(), msg("a character that can be printed"))
    return _Parser(text).query()


class _Parser:
    """A recursive descent over the text. Each method reads from `at` on; a tree of None is a term that is skipped."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._leaves = 0

    def query(self) -> Tree:
        self._skip_blanks()
        if self._is_at_end():
            return Everything()
        tree = self._alternatives()
        if not self._is_at_end():
            raise self._error(msg("an opening parenthesis before this closing one"))
        return tree or Everything()

    def _alternatives(self) -> Tree | None:
        found = [self._terms()]
        while self._takes(_OR):
            found.append(self._terms())
        trees = [tree for tree in found if tree is not None]
        return any_of(trees) if trees else None

    def _terms(self) -> Tree | None:
        found = [self._term()]
        while not self._is_at_end() and self._next() != ")" and not _OR.match(self._text, self._at):
            self._takes(_AND)
            found.append(self._term())
        trees = [tree for tree in found if tree is not None]
        return all_of(trees) if trees else None

    def _term(self) -> Tree | None:
        is_negated = False
        while self._takes(_MINUS) or self._takes(_NOT):
            is_negated = not is_negated
        tree = self._positive_term()
        self._skip_blanks()
        return negated(tree) if tree is not None and is_negated else tree

    def _positive_term(self) -> Tree | None:
        is_operator = self._text[self._at - 1 : self._at] not in ("-", "!") and (
            _OR.match(self._text, self._at) or _AND.match(self._text, self._at)
        )
        if self._is_at_end() or self._next() == ")" or is_operator:
            raise self._error(msg("a word, a field or an opening parenthesis"))
        if self._next() == "(":
            return self._group()
        self._count_leaf()
        if self._next() == "#":
            return self._tag()
        if field := _FIELD.match(self._text, self._at):
            return self._field(field)
        if _PATTERN_ALONE.match(self._text, self._at):
            raise self._error(msg("title:, author: or url: before a regular expression"))
        value = self._value()
        return Text(_one_line(value.text), is_prefix=value.is_prefix) if terms(value.text) else None

    def _group(self) -> Tree | None:
        start = self._at
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self._error(msg("at most {max} parentheses within each other", max=MAX_DEPTH))
        self._at += 1
        self._skip_blanks()
        tree = self._alternatives()
        if self._is_at_end():
            raise QueryError(self._at, msg("a closing parenthesis for the one at character {number}", number=start + 1))
        self._at += 1
        self._depth -= 1
        return tree

    def _tag(self) -> Tree:
        self._at += 1
        return self._tag_of(self._value(), has_pluses=True)

    def _field(self, found: re.Match[str]) -> Tree:
        name, sign = found[1].lower(), found[2]
        if sign != ":" and name not in _TIME_FIELDS and name not in _NUMBER_FIELDS:
            if name in FIELDS:
                self._at = found.start(2)
                raise self._error(msg("a colon behind the name of this field"))
            return self._plain_words()
        self._at = found.end() if sign == ":" else found.start(2)
        if name in _TEXT_FIELDS:
            return self._text_field(_TEXT_FIELDS[name])
        if name in _ID_FIELDS:
            return self._ids(*_ID_FIELDS[name])
        if name in _TIME_FIELDS:
            return self._times(_TIME_FIELDS[name])
        if name in _NUMBER_FIELDS:
            return self._number(_NUMBER_FIELDS[name])
        if name == "has":
            return Has(self._choice(Attachment))
        if name == "is":
            return Is(self._choice(State))
        if name in _VIEW_FIELDS:
            return self._view()
        self._at = found.start()
        raise self._error(msg("the name of a known field, such as title:, or quotes around these words"))

    def _plain_words(self) -> Tree:
        value = self._value()
        return Text(_one_line(value.text), is_prefix=value.is_prefix)

    def _text_field(self, field: TextField) -> Tree:
        if pattern := self._pattern(field):
            return pattern
        value = self._value()
        if field is TextField.TAG:
            return self._tag_of(value)
        if field is TextField.LABEL:
            return self._label(value)
        if field in _NORMAL_VALUES:
            normal = _NORMAL_VALUES[field](value.text)
            if not normal:
                raise QueryError(value.start, _EXPECTED_VALUES[field])
            return Text(normal, field)
        if not terms(value.text):
            raise QueryError(value.start, msg("a word with letters or digits"))
        return Text(_one_line(value.text), field, value.is_prefix)

    def _pattern(self, field: TextField) -> Pattern | None:
        if field.value not in set(PatternField) or self._is_at_end() or self._next() != "/":
            return None
        found = _PATTERN.match(self._text, self._at)
        if found is None or set(found[2]) - set("i"):
            if field is TextField.URL:
                return None
            if found is not None:
                raise QueryError(found.start(2), msg("nothing or the letter i behind a regular expression"))
            raise QueryError(len(self._text), msg("a slash at the end of the regular expression"))
        source = found[1].replace("\\/", "/")
        pattern = Pattern(PatternField(field.value), source, ignores_case=bool(found[2]))
        try:
            compile_regex(expression_of(pattern))
        except InvalidRule as error:
            raise QueryError(found.start(1), msg("an expression that RE2 can read"), error.text) from error
        self._at = found.end()
        return pattern

    def _tag_of(self, value: _Value, *, has_pluses: bool = False) -> Tree:
        # FreshRSS: #two+words.
        words = value.text.replace("+", " ") if has_pluses and not value.is_quoted else value.text
        tag = normalize_for_search(words)
        if not tag and not value.is_prefix:
            raise QueryError(value.start, msg("the name of a tag"))
        return Text(tag, TextField.TAG, value.is_prefix)

    def _label(self, value: _Value) -> Tree:
        label = normalize_for_search(value.text)
        if not label and not value.is_prefix:
            raise QueryError(value.start, msg("the name of a label"))
        return Text(label, TextField.LABEL, value.is_prefix)

    def _ids(self, field: IdField, named: TextField) -> Tree:
        """Read ids as FreshRSS writes them, or what the longer name of the field would have."""
        found = _BARE.match(self._text, self._at)
        if found is None or not _IDS.fullmatch(found[0]):
            return self._text_field(named)
        self._at = found.end()
        return any_of(Id(field, int(number)) for number in found[0].split(","))

    def _times(self, field: TimeField) -> Tree:
        value = self._value()
        times = parse_times(field, value.text)
        if times is None:
            raise QueryError(
                value.start, msg("a date, a range or a duration, such as 2026-01-31, 2026-01..2026-02, today or 7d")
            )
        return times

    def _number(self, field: NumberField) -> Tree:
        value = self._value()
        found = re.fullmatch(r"([<>]=?|=)?([0-9]{1,9})", value.text)
        if found is None:
            raise QueryError(value.start, msg("a comparison with a whole number, such as >500"))
        return Number(field, Comparison(found[1] or "="), int(found[2]))

    def _choice(self, kind: type[Choice]) -> Choice:
        value = self._value()
        try:
            return kind(value.text.lower())
        except ValueError:
            expected = msg("one of {values}", values=", ".join(kind))
            raise QueryError(value.start, expected) from None

    def _view(self) -> Tree:
        value = self._value()
        name = _one_line(value.text)
        if not name:
            raise QueryError(value.start, msg("the name of a saved view"))
        return View(name)

    def _value(self) -> _Value:
        """Read a word or quoted words, with the star behind them."""
        start = self._at
        if not self._is_at_end() and self._next() in QUOTES:
            found = _QUOTED.match(self._text, start)
            if found is None:
                raise QueryError(
                    len(self._text), msg("a closing quote for the one at character {number}", number=start + 1)
                )
            self._at = found.end()
            text = _ESCAPED.sub(r"\1", found[1])
            return _Value(text, start + 1, is_prefix=bool(found[2]), is_quoted=True)
        if (found := _SINGLE_QUOTED.match(self._text, start)) and self._text[start - 1 : start] == ":":
            self._at = found.end()
            return _Value(found[1], start + 1, is_prefix=False, is_quoted=True)
        found = _BARE.match(self._text, start)
        if found is None:
            raise self._error(msg("a value for this field"))
        self._at = found.end()
        text = found[0].rstrip("*")
        return _Value(text, start, is_prefix=text != found[0], is_quoted=False)

    def _takes(self, token: re.Pattern[str]) -> bool:
        found = token.match(self._text, self._at)
        if found is None:
            return False
        self._at = found.end()
        self._skip_blanks()
        return True

    def _count_leaf(self) -> None:
        self._leaves += 1
        if self._leaves > MAX_LEAVES:
            raise self._error(msg("the end: a query has at most {max} words and fields", max=MAX_LEAVES))

    def _skip_blanks(self) -> None:
        self._at = _BLANKS.match(self._text, self._at).end()  # type: ignore[union-attr]

    def _is_at_end(self) -> bool:
        return self._at >= len(self._text)

    def _next(self) -> str:
        return self._text[self._at]

    def _error(self, expected: Message) -> QueryError:
        return QueryError(self._at, expected)


def expression_of(pattern: Pattern) -> str:
    """Return the expression of a pattern as RE2 reads it."""
    return f"(?i){pattern.source}" if pattern.ignores_case else pattern.source


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _host(text: str) -> str:
    found = _HOST.match(text)
    return found[1].lower() if found else ""


def _language(text: str) -> str:
    language = text.lower().replace("_", "-")
    return language if _LANGUAGE.fullmatch(language) else ""


_NORMAL_VALUES: Final[Mapping[TextField, Callable[[str], str]]] = {
    TextField.URL: lambda text: text.translate(ASCII_LOWER),
    TextField.SITE: _host,
    TextField.LANGUAGE: _language,
}
_EXPECTED_VALUES: Final = {
    TextField.URL: msg("a part of an address"),
    TextField.SITE: msg("the name of a site, such as example.org"),
    TextField.LANGUAGE: msg("a language, such as en or pt-BR"),
}
