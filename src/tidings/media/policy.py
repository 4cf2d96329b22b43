"""Which media of articles the proxy fetches for the reader."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class MediaProxyMode(StrEnum):
    """Which addresses of media the proxy fetches."""

    NONE = "none"
    HTTP_ONLY = "http-only"
    """http addresses on https pages, which browsers would not load."""
    ALL = "all"
    """All addresses, so that publishers do not see readers."""


class MediaKind(StrEnum):
    IMAGE = "image"
    AUDIO = "audio"
    VIDEO = "video"


class MediaPolicy(Struct, frozen=True):
    """Which media are proxied."""

    mode: MediaProxyMode = MediaProxyMode.NONE
    """For all users."""
    kinds: frozenset[MediaKind] = frozenset({MediaKind.IMAGE})
    """The kinds of media that are proxied at all."""

    def with_wish(self, *, for_all: bool) -> MediaPolicy:
        """Return the policy for one user. for_all: the user wants all media proxied; an operator's "none" stands."""
        if not for_all or self.mode is MediaProxyMode.NONE:
            return self
        return MediaPolicy(MediaProxyMode.ALL, self.kinds)

    def covers_all(self, kind: MediaKind) -> bool:
        return self.mode is MediaProxyMode.ALL and kind in self.kinds

    def applies_to(self, url: str, kind: MediaKind, *, on_https: bool) -> bool:
        """Return whether media are proxied. on_https: whether the page that shows them is served over https."""
        scheme = url.partition(":")[0].lower()
        if kind not in self.kinds or scheme not in ("http", "https"):
            return False
        return self.mode is MediaProxyMode.ALL or (
            self.mode is MediaProxyMode.HTTP_ONLY and on_https and scheme == "http"
        )
