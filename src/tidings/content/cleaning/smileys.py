"""Smileys: pictures that stand for one character, which publishers' style sheets make as high as a line."""

from __future__ import annotations

import re
from typing import Final

from tidings.content.cleaning.attribute_checks import Attributes

_CLASS: Final = re.compile(
    r"(?:^|\s)(?:wp-smiley|(?:g-|tw)?emoji|emojione|joypixels|emoticon|smil(?:ey|ie)s?)(?=\s|$)", re.IGNORECASE
)
# At most one and a half lines high.
_LINE_HIGH: Final = re.compile(
    r"(?:^|;)\s*+(?:max-)?height\s*+:\s*+(?:0?\.[1-9][0-9]?|1(?:\.[0-5][0-9]?)?)r?em\s*+(?:!important\s*+)?(?:;|$)",
    re.IGNORECASE,
)
_EMOJI: Final = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
# Digits of keycaps, joiners, variation selectors, skin tones and tags of flags.
_EMOJI_PART: Final = re.compile("[0-9#*\u200d\u20e3\ufe0e\ufe0f\U000e0020-\U000e007f]")
_MAX_EMOJI_CHARS: Final = 24
_SMALL: Final = re.compile(r"[1-9]|[12][0-9]|3[0-2]")
_SIDE_PX: Final = "20"


def is_smiley(attributes: Attributes) -> bool:
    """Return whether an image is shown at the height of a line on the publisher's page."""
    classes = attributes.get("class")
    if classes and _CLASS.search(classes):
        return True
    style = attributes.get("style")
    return bool(style) and _LINE_HIGH.search(style or "") is not None


def emoji_of(attributes: Attributes) -> str:
    """Return the characters that the image stands for, "" if its alternative text is no emoji."""
    text = (attributes.get("alt") or "").strip()
    if not text or len(text) > _MAX_EMOJI_CHARS:
        return ""
    rest = _EMOJI.sub("", text)
    if rest == text and "\u20e3" not in text:
        return ""
    return text if not _EMOJI_PART.sub("", rest) else ""


def with_small_size(attributes: Attributes) -> Attributes:
    """Return the attributes with the size of a character. The image's own size stays if it is as small."""
    sides = [(attributes.get(name) or "").strip() for name in ("width", "height")]
    if any(sides) and all(not side or _SMALL.fullmatch(side) for side in sides):
        return attributes
    return {**attributes, "width": _SIDE_PX, "height": _SIDE_PX}
