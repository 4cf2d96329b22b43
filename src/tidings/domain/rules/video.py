"""Rewrite rules that put a player before the content. Only players of hosts the cleaner knows stay."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Final
from urllib.parse import parse_qs

from msgspec.structs import replace
from selectolax.lexbor import LexborHTMLParser

from tidings.domain.rules.draft import Draft, host_of, split_url
from tidings.domain.rules.markup import attribute, on_tree

_YOUTUBE_HOSTS: Final = frozenset({"youtube.com", "m.youtube.com"})
_VIDEO_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
_SHORT: Final = re.compile(r"/shorts/([A-Za-z0-9_-]{11})/?")
_MENTIONED_ID: Final = re.compile(r'youtube_id"?\s*:\s*"([A-Za-z0-9_-]{1,40})"')
_LAZY_SOURCES: Final = ("data-src", "data-original", "data-orig", "data-url", "data-lazy-src")
_MAX_PLAYERS: Final = 50


def add_youtube_video(draft: Draft) -> Draft:
    return _with_players(draft, [_youtube_player(video) for video in _youtube_ids(draft.url)])


def add_youtube_video_using_invidious_player(draft: Draft) -> Draft:
    return _with_players(draft, [_embed(draft.invidious_host, video) for video in _youtube_ids(draft.url)])


def add_invidious_video(draft: Draft) -> Draft:
    """The entry links to an Invidious host already; its own player is shown."""
    host = split_url(draft.url).netloc
    return _with_players(draft, [_embed(host, video) for video in _watched_ids(draft.url)] if host else [])


def add_youtube_video_from_id(draft: Draft) -> Draft:
    videos = dict.fromkeys(_MENTIONED_ID.findall(draft.content))
    return _with_players(draft, [_youtube_player(video) for video in list(videos)[:_MAX_PLAYERS]])


def add_castopod_episode(draft: Draft) -> Draft:
    if split_url(draft.url).scheme not in ("http", "https"):
        return draft
    return _with_players(draft, [_player(draft.url.split("#")[0].split("?")[0].rstrip("/") + "/embed/light")])


@on_tree
def add_dynamic_iframe(tree: LexborHTMLParser) -> None:
    for frame in tree.css("iframe"):
        source = next((found for name in _LAZY_SOURCES if (found := attribute(frame, name))), "")
        if source:
            frame.attrs["src"] = source


def _youtube_ids(url: str) -> list[str]:
    """At most one."""
    if host_of(url) not in _YOUTUBE_HOSTS:
        return []
    short = _SHORT.fullmatch(split_url(url).path)
    return [short[1]] if short else _watched_ids(url)


def _watched_ids(url: str) -> list[str]:
    """The `v` of a /watch address: at most one."""
    parts = split_url(url)
    if parts.path != "/watch":
        return []
    try:
        videos = parse_qs(parts.query, max_num_fields=100).get("v", [])
    except ValueError:
        return []
    return [video for video in videos[:1] if _VIDEO_ID.fullmatch(video)]


def _youtube_player(video: str) -> str:
    return _embed("www.youtube-nocookie.com", video)


def _embed(host: str, video: str) -> str:
    return _player(f"https://{host}/embed/{video}")


def _player(address: str) -> str:
    size = 'width="650" height="350"'
    return f'<iframe {size} frameborder="0" src="{escape(address)}" allowfullscreen></iframe><br>'


def _with_players(draft: Draft, players: Iterable[str]) -> Draft:
    return replace(draft, content="".join(players) + draft.content)
