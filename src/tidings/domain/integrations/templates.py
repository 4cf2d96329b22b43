"""Texts with placeholders, as users write them for requests of their own: {{title}}, {{url|json}}.

What a placeholder stands for is written as its place asks for it: percent-encoded in an address, escaped within a
string of JSON, and so on. Who knows better names a filter.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from urllib.parse import quote, quote_plus

import msgspec

from tidings.domain.errors import InvalidInput
from tidings.domain.events import EntryTold
from tidings.domain.wording import Words

Value = str | list[str]
Values = Mapping[str, Value]
Filter = Callable[[Value], str]

_PLACEHOLDER = re.compile(r"\{\{(?P<name>[^{}|]*)(?:\|(?P<filter>[^{}|]*))?\}\}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")

_VALUES: Mapping[str, Callable[[EntryTold], Value]] = {
    "id": lambda entry: str(entry.id),
    "url": lambda entry: entry.url,
    "title": lambda entry: entry.title,
    "content": lambda entry: entry.content,
    "author": lambda entry: entry.author,
    "tags": lambda entry: entry.tags,
    "published_at": lambda entry: entry.published_at,
    "comments_url": lambda entry: entry.comments_url,
    "feed_title": lambda entry: entry.feed.title if entry.feed else "",
    "feed_url": lambda entry: entry.feed.feed_url if entry.feed else "",
    "site_url": lambda entry: entry.feed.site_url if entry.feed else "",
}
PLACEHOLDERS = tuple(_VALUES)


def _text(value: Value) -> str:
    return value if isinstance(value, str) else ", ".join(value)


def _json(value: Value) -> str:
    """A whole value, with its quotes: a list stays one."""
    return msgspec.json.encode(value).decode()


def within_json(value: Value) -> str:
    """For between two quotes that are there already."""
    return _json(_text(value))[1:-1]


def within_header(value: Value) -> str:
    """In one line: nobody's title begins a header of its own."""
    return _CONTROL.sub(" ", _text(value))


FILTERS: Mapping[str, Filter] = {
    "json": _json,
    "url": lambda value: quote(_text(value), safe=""),
    "form": lambda value: quote_plus(_text(value)),
    "html": lambda value: html.escape(_text(value)),
    "raw": _text,
}


def values_of(entry: EntryTold) -> Values:
    return {name: value(entry) for name, value in _VALUES.items()}


def filled(template: str, values: Values, usual: Filter) -> str:
    """usual: the filter where none is named."""

    def one(found: re.Match[str]) -> str:
        chosen = FILTERS[found["filter"].strip()] if found["filter"] else usual
        return chosen(values[found["name"].strip()])

    return _PLACEHOLDER.sub(one, template)


def with_samples(template: str) -> str:
    """With a letter for each placeholder: enough to see whether it is an address."""
    return _PLACEHOLDER.sub("x", template)


def check(template: str, *, field: str) -> None:
    """InvalidInput for a name that nothing stands for, telling which there are."""
    for found in _PLACEHOLDER.finditer(template):
        name = found["name"].strip()
        if name not in PLACEHOLDERS:
            raise _unknown(f"there is no placeholder {name[:40]!r}.", name, PLACEHOLDERS, field)
        name = (found["filter"] or "").strip()
        if found["filter"] is not None and name not in FILTERS:
            raise _unknown(f"there is no filter {name[:40]!r}.", name, FILTERS, field)
    if "{{" in _PLACEHOLDER.sub("", template):
        raise InvalidInput(f"{field}: a placeholder begins with {{{{ and does not end with }}}}.", field=field)


def did_you_mean(name: str, known: Iterable[str]) -> Words:
    """ "" when nothing is near it."""
    near = get_close_matches(name, tuple(known), n=2)
    if len(near) > 1:
        return f"Did you mean {near[0]} or {near[1]}?"
    return f"Did you mean {near[0]}?" if near else ""


def there_are(known: Iterable[str]) -> Words:
    return f"There are: {', '.join(known)}."


def _unknown(missing: Words, name: str, known: Iterable[str], field: str) -> InvalidInput:
    told = " ".join(filter(None, (missing, did_you_mean(name, known), there_are(known))))
    return InvalidInput(f"{field}: {told}", field=field)
