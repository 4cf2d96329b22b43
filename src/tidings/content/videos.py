"""Addresses of videos."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import parse_qs, urlsplit

_YOUTUBE: Final = re.compile(r"(?:www\.|m\.|music\.)?youtube(?:-nocookie)?\.com", re.ASCII)
_IN_PATH: Final = re.compile(r"/(?:shorts|live|embed|v)/([\w-]{11})/?", re.ASCII)
_SHORT: Final = re.compile(r"/([\w-]{11})/?", re.ASCII)
_ID: Final = re.compile(r"[\w-]{11}", re.ASCII)


def youtube_id(url: str) -> str:
    """Return the id of the video at an address of YouTube, "" for every other address."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        watched = parse_qs(parts.query, max_num_fields=100).get("v", [""])[0] if parts.path == "/watch" else ""
    except ValueError:
        return ""
    if host == "youtu.be":
        match = _SHORT.fullmatch(parts.path)
    elif _YOUTUBE.fullmatch(host):
        match = _ID.fullmatch(watched) or _IN_PATH.fullmatch(parts.path)
    else:
        return ""
    return match[match.lastindex or 0] if match else ""
