"""Embedded players in articles: nothing is loaded from them before the user clicks."""

from __future__ import annotations

import html
import re
from urllib.parse import urlsplit

from tidings.web.language import _

# An empty iframe element, as the cleaner writes it.
_FRAME = re.compile(r'<iframe [^>]*?src="([^"]+)"[^>]*></iframe>')


def defer_players(content: str) -> str:
    """Returns cleaned HTML with each frame replaced by a link and a template element that keeps the frame."""
    return _FRAME.sub(_link_to_player, content) if "<iframe" in content else content


def _link_to_player(match: re.Match[str]) -> str:
    url = match[1]
    host = (urlsplit(html.unescape(url)).hostname or "").removeprefix("www.").removeprefix("player.")
    label = html.escape(_("Play from %(host)s", host=host))
    return (
        f'<span class="embed"><a href="{url}" target="_blank" rel="noopener noreferrer">{label}</a>'
        f"<template>{match[0]}</template></span>"
    )
