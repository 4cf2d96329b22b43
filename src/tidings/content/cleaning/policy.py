"""The settings of one cleaning."""

from __future__ import annotations

from msgspec import Struct


class CleaningPolicy(Struct, frozen=True, kw_only=True):
    """new_tab: links open in a new tab.

    referring_hosts: hosts of the feed and its site; a `ref` parameter with one of them is tracking.
    embed_hosts: hosts whose frames are allowed in addition to the known players, in lower case, without `www.`.
    youtube_embed: prefix of the URLs of YouTube players; its host is in embed_hosts or a known player.
    own_host: the host of Tidings; frames of it are removed, because they could script our pages.
    """

    new_tab: bool = True
    referring_hosts: frozenset[str] = frozenset()
    embed_hosts: frozenset[str] = frozenset()
    youtube_embed: str = "https://www.youtube-nocookie.com/embed/"
    own_host: str = ""


DEFAULT_POLICY = CleaningPolicy()
