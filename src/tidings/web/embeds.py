"""Players in articles: nothing of them is loaded before somebody wants to see it."""

from __future__ import annotations

import html
import re
from urllib.parse import urlsplit

from tidings.web.language import _

# As the cleaning writes them: the whole element, with nothing in it.
_FRAME = re.compile(r'<iframe [^>]*?src="([^"]+)"[^>]*></iframe>')


def behind_a_click(content: str) -> str:
    """content: cleaned HTML. Each frame becomes a link to what it shows, with the frame itself kept in a template."""
    return _FRAME.sub(_covered, content) if "<iframe" in content else content


def _covered(found: re.Match[str]) -> str:
    address = found[1]
    host = (urlsplit(html.unescape(address)).hostname or "").removeprefix("www.").removeprefix("player.")
    label = html.escape(_("Play from %(host)s", host=host))
    return (
        f'<span class="embed"><a href="{address}" target="_blank" rel="noopener noreferrer">{label}</a>'
        f"<template>{found[0]}</template></span>"
    )
