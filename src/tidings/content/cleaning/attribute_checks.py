"""Attributes: which values are kept, and how they are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from tidings.content.cleaning.links import LinkCleaner, prefix_id

Attributes = Mapping[str, str | None]
# Returns the value to write, or None to leave the attribute out.
AttributeCheck = Callable[[str, LinkCleaner], str | None]

_INTEGER = re.compile(r"-?[0-9]{1,9}")
_SPAN = re.compile(r"[1-9][0-9]{0,3}")
_LENGTH = re.compile(r"[0-9]{1,5}(?:\.[0-9]{1,3})?%?")
_LANGUAGE = re.compile(r"[a-zA-Z]{1,8}(?:[-_][a-zA-Z0-9]{1,8}){0,6}")
_LIST_TYPE = re.compile(r"[1aAiI]")
_CODE_LANGUAGE = re.compile(r"lang(?:uage)?-[a-zA-Z0-9_+#.-]{1,40}")
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")


def text(value: str, _: LinkCleaner) -> str | None:
    return value or None


def identifier(value: str, _: LinkCleaner) -> str | None:
    """Keeps an id, with a prefix; see `links`."""
    return prefix_id(value) if value else None


def always(_: str, __: LinkCleaner) -> str | None:
    """Keeps a boolean attribute, whose presence is its meaning."""
    return ""


def link(value: str, links: LinkCleaner) -> str | None:
    return links.link_url(value) or None


def matching(pattern: re.Pattern[str]) -> AttributeCheck:
    """Return a check that keeps values that match the whole pattern, without surrounding blanks."""

    fits = pattern.fullmatch

    def check(value: str, _: LinkCleaner) -> str | None:
        value = value.strip()
        return value if fits(value) else None

    return check


def one_of(*words: str) -> AttributeCheck:
    """Return a check that keeps one of a few words, in lower case."""

    def check(value: str, _: LinkCleaner) -> str | None:
        value = value.strip().lower()
        return value if value in words else None

    return check


def code_language(value: str, _: LinkCleaner) -> str | None:
    """Keeps only the class that names the language for syntax highlighting."""
    for word in value.split():
        if _CODE_LANGUAGE.fullmatch(word):
            return "language-" + word.partition("-")[2]
    return None


integer = matching(_INTEGER)
span = matching(_SPAN)
length = matching(_LENGTH)
list_type = matching(_LIST_TYPE)
language = matching(_LANGUAGE)
direction = one_of("ltr", "rtl", "auto")

# An element can only be hidden if it has one of these.
HIDING_ATTRIBUTES = frozenset({"hidden", "style"})


def is_hidden(attributes: Attributes) -> bool:
    """Return whether the publisher's page hides the element.

    `aria-hidden` does not count: it is set on decorative links with images worth showing.
    """
    if "hidden" in attributes:
        return True
    style = attributes.get("style")
    if style:
        style = style.lower()
        # Two fast tests avoid the slow one for most styles.
        if ("none" in style or "hidden" in style) and _HIDING.search(style):
            return True
    return False


def escape_text(value: str) -> str:
    if "&" in value:
        value = value.replace("&", "&amp;")
    if "<" in value:
        value = value.replace("<", "&lt;")
    if ">" in value:
        value = value.replace(">", "&gt;")
    if "\r" in value:
        # The parser only returns it for a character reference; parsed again, it would become a line feed.
        value = value.replace("\r", "\n")
    return value


def escape_value(value: str) -> str:
    """Return the value for an attribute in double quotes, without angle brackets, which simple tag parsers misread."""
    if value.isalnum():
        return value
    if "&" in value or "<" in value or ">" in value or "\r" in value:
        value = escape_text(value)
    return value.replace('"', "&quot;") if '"' in value else value


def start_tag(name: str, attributes: Attributes, checks: Mapping[str, AttributeCheck], links: LinkCleaner) -> str:
    """Return the start tag with the attributes that have a check and pass it."""
    return open_tag(name, attributes, checks, links) + ">"


def open_tag(name: str, attributes: Attributes, checks: Mapping[str, AttributeCheck], links: LinkCleaner) -> str:
    """Return the same without the final `>`, so that more attributes can follow."""
    written = f"<{name}"
    for key, value in attributes.items():
        check = checks.get(key)
        if check is not None:
            kept = check(value or "", links)
            if kept is not None:
                written += f' {key}="{escape_value(kept)}"'
    return written
