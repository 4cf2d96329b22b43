"""What people operate on the publisher's page: buttons, forms, the controls of players. Here they would do nothing."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Final

from selectolax.lexbor import LexborNode

from tidings.content.cleaning.attribute_checks import Attributes
from tidings.content.cleaning.elements import HEADINGS
from tidings.content.cleaning.node_text import has_short_text

# An unclosed element may hold the whole article, which is longer.
_MAX_BUTTON_CHARS: Final = 200
_MAX_FORM_CHARS: Final = 300
_MAX_CLASS_CHARS: Final = 500
_CONTENT: Final = "a[href], img, picture, video, audio, iframe, object, h1, h2, h3, h4, h5, h6, pre, table"
_FIELD: Final = "input:not([type=hidden]), textarea, select, button"
_ROLES: Final = frozenset({"button", "slider", "toolbar"})
_PLAYERS: Final = ("audio", "jw", "mejs", "media", "player", "plyr", "shaka", "video", "vjs", "vp-")
_ENDS: Final = ("controls", "control-bar", "controlbar", "control-text")
_COPY_PARTS: Final = ("btn", "button", "code", "clipboard")


def is_button(node: LexborNode, open_elements: Collection[str]) -> bool:
    """Return whether a `button` can be left out: one in a heading, or around content, opens that on the page."""
    if not HEADINGS.isdisjoint(open_elements) or "summary" in open_elements:
        return False
    return has_short_text(node, _MAX_BUTTON_CHARS) and node.css_first(_CONTENT) is None


def is_form(node: LexborNode) -> bool:
    """Return whether a `form` is one to fill in, rather than an element around an article."""
    return (
        has_short_text(node, _MAX_FORM_CHARS)
        and node.css_first(_FIELD) is not None
        and node.css_first("img, picture, video, audio, iframe, object, pre, table") is None
    )


def is_control(node: LexborNode, attributes: Attributes, open_elements: Collection[str]) -> bool:
    """Return whether an element is a control by its role or class, such as "Copy" next to code."""
    role, classes = attributes.get("role"), attributes.get("class")
    is_named = bool(classes) and has_meaning((classes or "")[:_MAX_CLASS_CHARS])
    if not is_named and (not role or role.strip().lower() not in _ROLES):
        return False
    return is_button(node, open_elements)


@lru_cache(maxsize=1_024)
def has_meaning(classes: str) -> bool:
    """Return whether one of the classes is of a control."""
    return any(map(_is_control_class, classes.lower().split()))


def _is_control_class(name: str) -> bool:
    if name.startswith("vjs-") or (name.endswith(_ENDS) and any(player in name for player in _PLAYERS)):
        return True
    name = name.replace("copyright", "")
    return ("copy" in name or "clipboard" in name) and any(part in name for part in _COPY_PARTS)
