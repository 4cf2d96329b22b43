"""Feeds from pages in OPML as FreshRSS writes them: its attributes into our selectors, and back.

FreshRSS says in `type` how a page is read, and has a selector for each field in an attribute of its namespace. Source:
https://freshrss.github.io/FreshRSS/en/developers/OPML.html
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.content.model import PageKind
from tidings.content.pages import FieldSelector, PageSelectors, parse_selectors, selectors_text, written_selectors

NAMESPACE: Final = "https://freshrss.org/opml"

# By their `type`, in lower case: our kind, and what the names of their attributes begin with.
_KINDS: Final = {
    "html+xpath": (PageKind.XPATH, "xPath"),
    "json+dotnotation": (PageKind.JSON, "json"),
    "html+xpath+json+dotnotation": (PageKind.JSON_IN_HTML, "json"),
}
_UNKNOWN_KINDS: Final = frozenset({"xml+xpath"})
_TYPES: Final = {PageKind.XPATH: "HTML+XPath", PageKind.JSON: "JSON+DotNotation"}
_PARTS: Final = {
    "item": "Item",
    "title": "ItemTitle",
    "content": "ItemContent",
    "link": "ItemUri",
    "author": "ItemAuthor",
    "date": "ItemTimestamp",
    "image": "ItemThumbnail",
    "tags": "ItemCategories",
    "id": "ItemUid",
    "feed_title": "FeedTitle",
}
_TIME_FORMAT: Final = "ItemTimeFormat"
_SCRIPT: Final = re.compile(r"""//script\[@(?P<name>id|type)\s*=\s*['"](?P<value>[^'"\]]+)['"]\](?:/text\(\))?""")
_DOTTED: Final = re.compile(r"[\w-]+(?:\.[\w-]+|\[\d+\])*")

# Letters of `DateTime::createFromFormat` in PHP, and what `strptime` has for them.
_FROM_PHP: Final = {
    "d": "%d", "j": "%d", "m": "%m", "n": "%m", "Y": "%Y", "y": "%y", "H": "%H", "G": "%H", "h": "%I", "g": "%I",
    "i": "%M", "s": "%S", "A": "%p", "a": "%p", "M": "%b", "F": "%B", "D": "%a", "l": "%A", "P": "%z", "O": "%z",
    "p": "%z", "u": "%f", "!": "", "|": "",
}  # fmt: skip
_TO_PHP: Final = {
    "d": "d", "m": "m", "Y": "Y", "y": "y", "H": "H", "I": "h", "M": "i", "S": "s", "p": "A", "b": "M", "B": "F",
    "a": "D", "A": "l", "z": "P", "f": "u", "%": "%",
}  # fmt: skip


def read_page(kind: str, attributes: Mapping[str, str]) -> dict[str, str]:
    """Return kind and selectors of a feed; {} for an ordinary one.

    kind: `type` of its outline. attributes: by name without namespace. Raises InvalidInput, whose message says what
    cannot be taken over.
    """
    if kind.lower() in _UNKNOWN_KINDS:
        raise InvalidInput(msg("feeds of the type {type} cannot be made here.", type=kind))
    found = _KINDS.get(kind.lower())
    if found is None:
        return {}
    ours, beginning = found
    parts: dict[str, Any] = {
        part: written for part, name in _PARTS.items() if (written := attributes.get(f"{beginning}{name}", "").strip())
    }
    if "item" not in parts:
        return {}
    time_format = attributes.get(f"{beginning}{_TIME_FORMAT}", "")
    if "date" in parts and time_format and (date_format := _from_php(time_format)):
        parts["date"] = {"selector": parts["date"], "format": date_format}
    if ours is PageKind.JSON_IN_HTML and (script := attributes.get("xPathToJson", "").strip()):
        parts["script"] = _script(script)
    selectors = written_selectors(parts)
    parse_selectors(ours, selectors)
    return {"kind": ours.value, "selectors": selectors_text(selectors)}


def page_attributes(kind: str, selectors: str) -> tuple[str, dict[str, str]]:
    """Return the `type` of an outline and FreshRSS's attributes, by name without prefix.

    They are empty, and the type is "rss", for what FreshRSS cannot do: CSS, captures and templates.
    """
    ordinary: tuple[str, dict[str, str]] = ("rss", {})
    if kind not in _TYPES:
        return ordinary
    try:
        parsed = parse_selectors(kind, selectors)
    except InvalidInput:
        return ordinary
    beginning = _KINDS[_TYPES[parsed.kind].lower()][1]
    attributes: dict[str, str] = {}
    for part, field in _fields(parsed).items():
        written = _written(field, parsed.kind)
        if written is None or part not in _PARTS:
            return ordinary
        attributes[f"{beginning}{_PARTS[part]}"] = written
        if field.format:
            if not (time_format := _to_php(field.format)):
                return ordinary
            attributes[f"{beginning}{_TIME_FORMAT}"] = time_format
    return _TYPES[parsed.kind], attributes


def _fields(selectors: PageSelectors) -> dict[str, FieldSelector]:
    item = selectors.item.removesuffix("[*]") if selectors.kind is PageKind.JSON else selectors.item
    title = {"feed_title": selectors.feed_title} if selectors.feed_title else {}
    return {"item": FieldSelector(item), **selectors.fields, **title}


def _written(field: FieldSelector, kind: PageKind) -> str | None:
    """Return the selector as FreshRSS has it; None if it cannot say the same."""
    if field.capture or field.template or field.zone:
        return None
    if kind is PageKind.JSON:
        path = field.selector.removeprefix("$").removeprefix(".").removesuffix("[*]")
        return path if _DOTTED.fullmatch(path) else None
    selector = field.selector or "."
    return f"{selector}/@{field.attribute}" if field.attribute else selector


def _script(xpath: str) -> str:
    """Return the CSS selector of a script that an XPath selects."""
    match = _SCRIPT.fullmatch(xpath)
    if match is None:
        raise InvalidInput(msg("the script {xpath} has to be given as a CSS selector.", xpath=xpath[:200]))
    return f'script[{match["name"]}="{match["value"]}"]'


def _from_php(time_format: str) -> str:
    """Return the format for `strptime`; "" if it has something that only PHP knows: dates are then read as they are."""
    found, is_literal = "", False
    for letter in time_format:
        if is_literal or not (letter.isalpha() or letter in "!|\\+?*#"):
            found += "%%" if letter == "%" else letter
            is_literal = False
        elif letter == "\\":
            is_literal = True
        elif letter in _FROM_PHP:
            found += _FROM_PHP[letter]
        else:
            return ""
    return found


def _to_php(date_format: str) -> str:
    found = ""
    letters = iter(date_format)
    for letter in letters:
        if letter == "%":
            known = _TO_PHP.get(next(letters, ""))
            if known is None:
                return ""
            found += known
        else:
            found += f"\\{letter}" if letter.isalpha() or letter in "!|\\+?*#" else letter
    return found
