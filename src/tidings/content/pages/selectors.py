"""What the user says about a page: which parts are items, and where each item has its title, link and so on.

    {"item": "li.post", "title": "a", "link": "a@href", "date": {"selector": ".when", "format": "%d.%m.%Y"}}

A selector is CSS, XPath 1.0 or a JSONPath, depending on the kind. `@` and a name at its end stand for an attribute. In
place of a text, a field may have an object with more: see `FieldSelector`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from lxml import etree
from msgspec import Struct

from tidings.base.errors import InvalidField, InvalidInput
from tidings.base.messages import Message, msg, prefix_field
from tidings.base.times import find_zone
from tidings.content.errors import InvalidRule
from tidings.content.model import PageKind
from tidings.content.pages.json_path import parse_path
from tidings.content.rules.regex import Regex, compile_regex
from tidings.content.rules.selectors import parse_selector

# In the order in which they are stored and shown.
FIELDS: Final = ("title", "link", "content", "author", "date", "image", "enclosure", "id", "tags")
# Those of the whole page: the list of items, the script that has the JSON, the title of the feed.
PAGE_PARTS: Final = ("item", "script", "feed_title")
NAMES: Final = ("item", *FIELDS, "script", "feed_title")

# Next.js, then data for search engines.
DEFAULT_SCRIPT: Final = 'script#__NEXT_DATA__, script[type="application/ld+json"]'

MAX_CHARS: Final = 2_000
MAX_TEXT: Final = 20_000
# Written and read again to see whether a format can be used.
_ANY_DATE: Final = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

# An attribute at the end: after a name, a bracket or a blank, or alone. In XPath `@` follows a slash as well.
_ATTRIBUTE: Final = re.compile(r"(?P<selector>|.*[\w\])*.])@(?P<name>[A-Za-z_][\w:.-]*)", re.DOTALL)
_XPATH_LITERAL: Final = re.compile(r"'[^']*'|\"[^\"]*\"")
_XPATH_CALL: Final = re.compile(r"([\w:-]+)\s*\(")
# Source: XPath 1.0, sections 2.3, 3.3 and 4. There is no `document()`, and there are no extension functions.
_XPATH_NAMES: Final = frozenset(
    {"last", "position", "count", "id", "local-name", "namespace-uri", "name", "string", "concat", "starts-with",
     "contains", "substring-before", "substring-after", "substring", "string-length", "normalize-space", "translate",
     "boolean", "not", "true", "false", "lang", "number", "sum", "floor", "ceiling", "round",
     "node", "text", "comment", "processing-instruction", "and", "or", "div", "mod"}
)  # fmt: skip


class FieldSelector(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Where a field is in an item, and what becomes of its text."""

    selector: str = ""
    """"" and "." mean the item itself."""
    attribute: str = ""
    """Name of an attribute that has the value, in place of the element's text."""
    capture: str = ""
    """A regular expression (RE2): its first group, or else the whole match, is the value. No match: no value."""
    template: str = ""
    """The value with `{value}` replaced, and `{1}` to `{9}` by the groups of `capture`."""
    format: str = ""
    """Of a date, as `strptime` in Python knows it: %d.%m.%Y."""
    zone: str = ""
    """Name of the time zone of a date that has none: Europe/Berlin."""


class PageSelectors(Struct, frozen=True):
    """The selectors of a feed, checked."""

    kind: PageKind
    item: str
    fields: dict[str, FieldSelector]
    """By the names in FIELDS."""
    script: str = DEFAULT_SCRIPT
    """CSS selector of the script elements that have the JSON; for JSON_IN_HTML."""
    feed_title: FieldSelector | None = None


def parse_selectors(kind: str, source: Mapping[str, Any] | str) -> PageSelectors:
    """Return checked selectors. source: as the API takes them, or their JSON.

    Raises InvalidField for `kind`, or for `selectors` with the name of the part that is wrong, and where.
    """
    known = _kind(kind)
    parts = written_selectors(source)
    fields = {name: _field(name, parts[name], known) for name in (*FIELDS, "feed_title") if parts.get(name)}
    if not isinstance(parts.get("item"), str) or not parts["item"].strip():
        raise _problem("item", msg("send a selector of the items, such as {example}.", example=_EXAMPLES[known]))
    item = parts["item"].strip()
    _check("item", item, known)
    script = _script(parts, known)
    if not fields.keys() & {"title", "link", "content"}:
        raise _problem("title", msg("send a selector of the title, the link or the content."))
    feed_title = fields.pop("feed_title", None)
    return PageSelectors(known, item, fields, script, feed_title)


def parse_reading(kind: str, source: Mapping[str, Any] | str) -> tuple[PageKind, str]:
    """Return how a page is read, and the selector of its scripts with JSON. source: as of `parse_selectors`.

    Raises InvalidField as `parse_selectors`, whatever the other selectors are.
    """
    known = _kind(kind)
    return known, _script(written_selectors(source), known)


def _kind(name: str) -> PageKind:
    try:
        return PageKind(name)
    except ValueError as error:
        raise InvalidField(
            "kind", msg("send one of {kinds}, or nothing for a feed.", kinds=", ".join(PageKind))
        ) from error


def _script(parts: Mapping[str, Any], kind: PageKind) -> str:
    script = parts.get("script") or DEFAULT_SCRIPT
    if not isinstance(script, str):
        raise _problem("script", msg("send a CSS selector."))
    if kind is PageKind.JSON_IN_HTML:
        _check("script", script, PageKind.CSS)
    return script


_EXAMPLES: Final = {
    PageKind.CSS: "li.post",
    PageKind.XPATH: "//li[@class='post']",
    PageKind.JSON: "$.items[*]",
    PageKind.JSON_IN_HTML: "$.props.pageProps.posts[*]",
}


def written_selectors(source: Mapping[str, Any] | str) -> dict[str, Any]:
    """Return the parts as they were written, in a fixed order and without empty ones.

    Raises InvalidField if they are not an object of texts and objects.
    """
    if isinstance(source, str):
        try:
            source = msgspec.json.decode(source or "{}", type=dict[str, Any])
        except msgspec.DecodeError as error:
            raise InvalidField("selectors", msg("not valid JSON: {reason}.", reason=str(error))) from error
    for name, part in source.items():
        if name not in NAMES:
            raise _problem(name, msg("not a part of a page. Known are {names}.", names=", ".join(NAMES)))
        if not isinstance(part, str | dict | None):
            raise _problem(name, msg("send a text, or an object with a selector."))
    written = {name: source[name] for name in NAMES if source.get(name)}
    if len(selectors_text(written)) > MAX_TEXT:
        raise InvalidField("selectors", msg("too long, {max} characters at most.", max=MAX_TEXT))
    return written


def selectors_text(written: Mapping[str, Any]) -> str:
    """Return the JSON in which selectors are stored; the same for the same selectors."""
    return msgspec.json.encode(dict(written)).decode() if written else ""


def _field(name: str, part: str | dict[str, Any], kind: PageKind) -> FieldSelector:
    if isinstance(part, str):
        field = FieldSelector(part)
    else:
        try:
            field = msgspec.convert(part, FieldSelector)
        except msgspec.ValidationError as error:
            raise _problem(name, msg("{reason}.", reason=str(error))) from error
    selector = field.selector.strip()
    if not kind.is_json and not field.attribute and (found := _ATTRIBUTE.fullmatch(selector)):
        is_css = kind is PageKind.CSS
        # `a/@href` and `@href` are XPath already, `a@href` is not.
        if is_css or (found["selector"] and found["selector"][-1] not in "/:["):
            field = msgspec.structs.replace(field, attribute=found["name"])
            selector = found["selector"].strip()
    selector = "" if selector == "." else selector
    if selector:
        _check(name, selector, kind)
    _check_extras(name, field)
    return msgspec.structs.replace(field, selector=selector)


def _check(name: str, selector: str, kind: PageKind) -> None:
    """Raise InvalidField unless the selector can be compiled. It is not run: that may take any time."""
    if len(selector) > MAX_CHARS:
        raise _problem(name, msg("longer than {max} characters.", max=MAX_CHARS))
    try:
        if kind is PageKind.CSS:
            parse_selector(selector)
        elif kind is PageKind.XPATH:
            compile_xpath(selector)
        else:
            parse_path(selector)
    except InvalidInput as error:
        raise _problem(name, error.text) from error


def compile_xpath(expression: str) -> etree.XPath:
    """Return a compiled XPath 1.0 expression. Raises InvalidInput, which says where it is wrong."""
    bare = _XPATH_LITERAL.sub(lambda literal: " " * len(literal[0]), expression)
    if call := next((one for one in _XPATH_CALL.finditer(bare) if not _is_known(one[1])), None):
        raise InvalidInput(
            msg(
                "{name}() at character {position} is not a function of XPath 1.0.",
                name=call[1],
                position=call.start() + 1,
            )
        )
    if "$" in bare:
        raise InvalidInput(msg("there are no variables: see character {position}.", position=bare.index("$") + 1))
    try:
        return etree.XPath(expression, smart_strings=False, regexp=False)
    except (etree.XPathError, ValueError) as error:
        entries = list(getattr(error, "error_log", None) or ())
        position = (entries[0].column if entries else 0) + 1
        reason = str(error).removesuffix(".") or "not an expression"
        raise InvalidInput(
            msg("XPath: {reason}, at character {position}.", reason=reason, position=position)
        ) from error


def _is_known(name: str) -> bool:
    # After an axis there is a node test.
    return name.rpartition("::")[2] in _XPATH_NAMES


def _check_extras(name: str, field: FieldSelector) -> None:
    for part in (field.attribute, field.capture, field.template, field.format, field.zone):
        if len(part) > MAX_CHARS:
            raise _problem(name, msg("longer than {max} characters.", max=MAX_CHARS))
    if field.capture:
        compile_capture(name, field.capture)
    if (field.format or field.zone) and name != "date":
        raise _problem(name, msg("format and zone are for dates only."))
    if field.zone and find_zone(field.zone) is None:
        raise _problem(
            name, msg("{zone} is not a time zone. Send a name such as Europe/Berlin.", zone=repr(field.zone[:60]))
        )
    if field.format:
        _check_format(name, field.format)


def compile_capture(name: str, expression: str) -> Regex:
    """Return a compiled expression. Raises InvalidField."""
    try:
        return compile_regex(expression)
    except InvalidRule as error:
        raise _problem(name, msg("not a regular expression: {reason}", reason=error.text)) from error


def _check_format(name: str, date_format: str) -> None:
    try:
        datetime.strptime(_ANY_DATE.strftime(date_format), date_format)  # noqa: DTZ007 - not used as a time
    except (ValueError, re.error) as error:
        raise _problem(
            name,
            msg("{format} is not a format of dates such as %d.%m.%Y %H:%M.", format=repr(date_format[:60])),
        ) from error


def _problem(name: str, problem: Message) -> InvalidField:
    return InvalidField("selectors", prefix_field(name, problem))
