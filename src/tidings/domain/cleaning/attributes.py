"""Attributes: which values are kept, and how they are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from tidings.domain.cleaning.links import Links

Attributes = Mapping[str, str | None]
# Gives the value to write, or None to leave the attribute out.
Check = Callable[[str, Links], str | None]

_INTEGER = re.compile(r"-?[0-9]{1,9}")
_SPAN = re.compile(r"[1-9][0-9]{0,3}")
_LENGTH = re.compile(r"[0-9]{1,5}(?:\.[0-9]{1,3})?%?")
_LANGUAGE = re.compile(r"[a-zA-Z]{1,8}(?:[-_][a-zA-Z0-9]{1,8}){0,6}")
_LIST_TYPE = re.compile(r"[1aAiI]")
_CODE_LANGUAGE = re.compile(r"lang(?:uage)?-[a-zA-Z0-9_+#.-]{1,40}")
_HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden")


def text(value: str, _: Links) -> str | None:
    return value or None


def always(_: str, __: Links) -> str | None:
    """For attributes that mean something by being there."""
    return ""


def link(value: str, links: Links) -> str | None:
    return links.link(value) or None


def matching(pattern: re.Pattern[str]) -> Check:
    """Values that fit a pattern from end to end, without the blanks around them."""

    fits = pattern.fullmatch

    def check(value: str, _: Links) -> str | None:
        value = value.strip()
        return value if fits(value) else None

    return check


def one_of(*words: str) -> Check:
    """One of a few words; upper and lower case are the same."""

    def check(value: str, _: Links) -> str | None:
        value = value.strip().lower()
        return value if value in words else None

    return check


def code_language(value: str, _: Links) -> str | None:
    """Of all classes only the one that tells highlighters the language."""
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

# An element without any of these is not hidden.
HIDING = frozenset({"hidden", "style", "aria-hidden"})


def is_hidden(attributes: Attributes) -> bool:
    """Whether the publisher's page would not show the element.

    `aria-hidden` says nothing about that: it stands on decorative links with pictures worth seeing. The
    exception is the second copy of each formula that KaTeX draws for the eye beside the MathML that we keep.
    """
    if "hidden" in attributes:
        return True
    style = attributes.get("style")
    if style:
        style = style.lower()
        # Two quick looks spare most styles the slow one.
        if ("none" in style or "hidden" in style) and _HIDING.search(style):
            return True
    return "aria-hidden" in attributes and "katex-html" in (attributes.get("class") or "").split()


def escape_text(value: str) -> str:
    if "&" in value:
        value = value.replace("&", "&amp;")
    if "<" in value:
        value = value.replace("<", "&lt;")
    if ">" in value:
        value = value.replace(">", "&gt;")
    if "\r" in value:
        # Only as a character reference it gets past the parser; the next one would read a line feed.
        value = value.replace("\r", "\n")
    return value


def escape_value(value: str) -> str:
    """For an attribute in double quotes; without angle brackets, which simple readers of tags trip over."""
    if value.isalnum():
        return value
    if "&" in value or "<" in value or ">" in value or "\r" in value:
        value = escape_text(value)
    return value.replace('"', "&quot;") if '"' in value else value


def start_tag(name: str, attributes: Attributes, checks: Mapping[str, Check], links: Links) -> str:
    """The element with those attributes that have a check and pass it."""
    return open_tag(name, attributes, checks, links) + ">"


def open_tag(name: str, attributes: Attributes, checks: Mapping[str, Check], links: Links) -> str:
    """The same without its end, for those who have more to write."""
    written = f"<{name}"
    for key, value in attributes.items():
        check = checks.get(key)
        if check is not None:
            kept = check(value or "", links)
            if kept is not None:
                written += f' {key}="{escape_value(kept)}"'
    return written
