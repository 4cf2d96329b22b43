"""Rewrite rules that put a player before the content. Cleaning keeps only players of allowed hosts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Final
from urllib.parse import parse_qs

from msgspec.structs import replace
from selectolax.lexbor import LexborHTMLParser

from tidings.content.rules.evaluation import RuleEntry, host_without_www, split_url
from tidings.content.rules.rewrites.markup import attribute, on_tree

_YOUTUBE_HOSTS: Final = frozenset({"youtube.com", "m.youtube.com"})
_VIDEO_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")
_SHORT: Final = re.compile(r"/shorts/([A-Za-z0-9_-]{11})/?")
_MENTIONED_ID: Final = re.compile(r'youtube_id"?\s*:\s*"([A-Za-z0-9_-]{1,40})"')
_LAZY_SOURCES: Final = ("data-src", "data-original", "data-orig", "data-url", "data-lazy-src")
_MAX_PLAYERS: Final = 50


def add_youtube_video(entry: RuleEntry) -> RuleEntry:
    return _with_players(entry, [_youtube_player(video) for video in _youtube_ids(entry.url)])


def add_youtube_video_using_invidious_player(entry: RuleEntry) -> RuleEntry:
    return _with_players(entry, [_embed(entry.invidious_host, video) for video in _youtube_ids(entry.url)])


def add_invidious_video(entry: RuleEntry) -> RuleEntry:
    """Shows the player of the Invidious host that the entry links to."""
    host = split_url(entry.url).netloc
    return _with_players(entry, [_embed(host, video) for video in _watched_ids(entry.url)] if host else [])


def add_youtube_video_from_id(entry: RuleEntry) -> RuleEntry:
    videos = dict.fromkeys(_MENTIONED_ID.findall(entry.content))
    return _with_players(entry, [_youtube_player(video) for video in list(videos)[:_MAX_PLAYERS]])


def add_castopod_episode(entry: RuleEntry) -> RuleEntry:
    if split_url(entry.url).scheme not in ("http", "https"):
        return entry
    return _with_players(entry, [_player(entry.url.split("#")[0].split("?")[0].rstrip("/") + "/embed/light")])


@on_tree
def add_dynamic_iframe(tree: LexborHTMLParser) -> None:
    for frame in tree.css("iframe"):
        source = next((url for name in _LAZY_SOURCES if (url := attribute(frame, name))), "")
        if source:
            frame.attrs["src"] = source


def _youtube_ids(url: str) -> list[str]:
    """Return the id of the video in a URL of YouTube; at most one."""
    if host_without_www(url) not in _YOUTUBE_HOSTS:
        return []
    short = _SHORT.fullmatch(split_url(url).path)
    return [short[1]] if short else _watched_ids(url)


def _watched_ids(url: str) -> list[str]:
    """Return the `v` parameter of a /watch URL; at most one."""
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


def _player(url: str) -> str:
    size = 'width="650" height="350"'
    return f'<iframe {size} frameborder="0" src="{escape(url)}" allowfullscreen></iframe><br>'


def _with_players(entry: RuleEntry, players: Iterable[str]) -> RuleEntry:
    return replace(entry, content="".join(players) + entry.content)
