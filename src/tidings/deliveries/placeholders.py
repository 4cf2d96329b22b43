"""Templates with placeholders, which users write for custom requests: {{title}}, {{url|json}}.

A value is escaped as its context requires: percent-encoded in a URL, escaped within a JSON string, and so on. A
filter in the placeholder overrides this.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from urllib.parse import quote, quote_plus

import msgspec

from tidings.base.errors import InvalidField
from tidings.base.messages import Message, join_sentences, msg
from tidings.deliveries.events import EntryPayload

TemplateValue = str | list[str]
TemplateValues = Mapping[str, TemplateValue]
TemplateFilter = Callable[[TemplateValue], str]

_PLACEHOLDER = re.compile(r"\{\{(?P<name>[^{}|]*)(?:\|(?P<filter>[^{}|]*))?\}\}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")

_VALUES: Mapping[str, Callable[[EntryPayload], TemplateValue]] = {
    "id": lambda entry: str(entry.id),
    "url": lambda entry: entry.url,
    "title": lambda entry: entry.title,
    "content": lambda entry: entry.content,
    "author": lambda entry: entry.author,
    "tags": lambda entry: entry.tags,
    "labels": lambda entry: entry.labels,
    "published_at": lambda entry: entry.published_at,
    "comments_url": lambda entry: entry.comments_url,
    "feed_title": lambda entry: entry.feed.title if entry.feed else "",
    "feed_url": lambda entry: entry.feed.feed_url if entry.feed else "",
    "site_url": lambda entry: entry.feed.site_url if entry.feed else "",
}
PLACEHOLDERS = tuple(_VALUES)


def _text(value: TemplateValue) -> str:
    return value if isinstance(value, str) else ", ".join(value)


def _json(value: TemplateValue) -> str:
    """Return a whole JSON value, with quotes; a list stays a list."""
    return msgspec.json.encode(value).decode()


def escape_for_json(value: TemplateValue) -> str:
    """Return the value escaped for use between the quotes of a JSON string."""
    return _json(_text(value))[1:-1]


def escape_for_header(value: TemplateValue) -> str:
    """Return the value in one line, so that a title cannot begin another header."""
    return _CONTROL.sub(" ", _text(value))


FILTERS: Mapping[str, TemplateFilter] = {
    "json": _json,
    "url": lambda value: quote(_text(value), safe=""),
    "form": lambda value: quote_plus(_text(value)),
    "html": lambda value: html.escape(_text(value)),
    "raw": _text,
}


def template_values(entry: EntryPayload) -> TemplateValues:
    return {name: value(entry) for name, value in _VALUES.items()}


def render(template: str, values: TemplateValues, default_filter: TemplateFilter) -> str:
    """Return the text with all placeholders replaced. default_filter: for placeholders without a filter."""

    def replacement(placeholder: re.Match[str]) -> str:
        template_filter = FILTERS[placeholder["filter"].strip()] if placeholder["filter"] else default_filter
        return template_filter(values[placeholder["name"].strip()])

    return _PLACEHOLDER.sub(replacement, template)


def sample_render(template: str) -> str:
    """Return the text with the letter x for each placeholder, to check whether it is a URL."""
    return _PLACEHOLDER.sub("x", template)


def check_template(template: str, *, field: str) -> None:
    """Raise InvalidInput for an unknown placeholder or filter; the message lists the known ones."""
    for match in _PLACEHOLDER.finditer(template):
        name = match["name"].strip()
        if name not in PLACEHOLDERS:
            raise _unknown(msg("there is no placeholder {name}.", name=repr(name[:40])), name, PLACEHOLDERS, field)
        name = (match["filter"] or "").strip()
        if match["filter"] is not None and name not in FILTERS:
            raise _unknown(msg("there is no filter {name}.", name=repr(name[:40])), name, FILTERS, field)
    if "{{" in _PLACEHOLDER.sub("", template):
        raise InvalidField(field, msg("a placeholder begins with {{ and does not end with }}."))


def similar_names(name: str, known: Iterable[str]) -> Message | None:
    """Return a message that suggests similar names; None if there are none."""
    near = get_close_matches(name, tuple(known), n=2)
    if len(near) > 1:
        return msg("Did you mean {name} or {other}?", name=near[0], other=near[1])
    return msg("Did you mean {name}?", name=near[0]) if near else None


def known_names(known: Iterable[str]) -> Message:
    return msg("Available: {known}.", known=", ".join(known))


def _unknown(missing: Message, name: str, known: Iterable[str], field: str) -> InvalidField:
    hint = similar_names(name, known)
    return InvalidField(field, join_sentences(missing, *([hint] if hint else []), known_names(known)))
