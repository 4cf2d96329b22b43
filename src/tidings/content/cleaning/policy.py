"""The settings of one cleaning."""

from __future__ import annotations

from msgspec import Struct


class CleaningPolicy(Struct, frozen=True, kw_only=True):
    """What the operator and the user want of cleaned HTML."""

    new_tab: bool = True
    """Whether links open in a new tab."""
    referring_hosts: frozenset[str] = frozenset()
    """The hosts of the feed and its site; a `ref` parameter with one of them is tracking."""
    embed_hosts: frozenset[str] = frozenset()
    """Hosts whose frames are allowed in addition to the known players, in lower case, without `www.`."""
    youtube_embed: str = "https://www.youtube-nocookie.com/embed/"
    """Prefix of the URLs of YouTube players; its host is in embed_hosts or a known player."""
    own_host: str = ""
    """The host of Tidings; frames of it are removed, because they could script our pages."""


DEFAULT_POLICY = CleaningPolicy()
