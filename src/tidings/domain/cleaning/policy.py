"""What may differ between two cleanings of the same HTML."""

from __future__ import annotations

from msgspec import Struct


class CleaningPolicy(Struct, frozen=True, kw_only=True):
    """new_tab: links open in a new tab.

    referring_hosts: hosts of the feed and its site; a `ref` parameter that names one of them is tracking.
    embed_hosts: hosts whose frames are shown besides those we know, in lower case, without `www.`.
    youtube_embed: what the address of a YouTube player begins with; its host is one of embed_hosts or known.
    own_host: where the reader itself is served; a frame of it could script our own pages, so none is kept.
    """

    new_tab: bool = True
    referring_hosts: frozenset[str] = frozenset()
    embed_hosts: frozenset[str] = frozenset()
    youtube_embed: str = "https://www.youtube-nocookie.com/embed/"
    own_host: str = ""


DEFAULT = CleaningPolicy()
