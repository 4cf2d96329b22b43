"""Replaces the addresses of media in clean HTML.

html: the output of `cleaning.clean`. Angle brackets and quotes inside of values are escaped there, so that tags and
their attributes can be found without parsing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape, unescape

from tidings.content.cleaning.media import candidates
from tidings.media.policy import MediaKind

# Returns the address to write for a URL, which may be the URL itself.
Address = Callable[[str, MediaKind], str]

_TAG = re.compile(r"<(img|source|audio|video|/audio|/video)\b[^>]*>")
_ADDRESS = re.compile(r' (src|srcset|poster)="([^"]*)"')


def rewrite_media(html: str, address: Address) -> str:
    """Return the HTML with another address for each picture, audio and video."""
    if "<img" not in html and "<source" not in html and "<audio" not in html and "<video" not in html:
        return html
    return _TAG.sub(_Rewriter(address), html)


class _Rewriter:
    """Rewrites one tag after the other. A `source` is of the player around it, or of a picture."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._player: MediaKind | None = None

    def __call__(self, tag: re.Match[str]) -> str:
        name = tag[1]
        if name.startswith("/"):
            self._player = None
            return tag[0]
        if name in ("audio", "video"):
            self._player = MediaKind(name)
        kind = MediaKind.IMAGE if name == "img" else self._player or MediaKind.IMAGE
        return _ADDRESS.sub(lambda found: self._attribute(found, kind), tag[0])

    def _attribute(self, found: re.Match[str], kind: MediaKind) -> str:
        name, value = found[1], unescape(found[2])
        if name == "src":
            written = self._address(value, kind)
        elif name == "poster":
            written = self._address(value, MediaKind.IMAGE)
        else:
            listed = ((self._address(url, MediaKind.IMAGE), descriptor) for url, descriptor in candidates(value))
            written = ", ".join(f"{url} {descriptor}" if descriptor else url for url, descriptor in listed)
        return f' {name}="{escape(written)}"'
