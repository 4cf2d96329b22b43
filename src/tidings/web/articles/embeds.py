"""Embedded players in articles: nothing is loaded from them before the user clicks."""

from __future__ import annotations

import html
import re
from urllib.parse import urlsplit

from tidings.web.language import _

# An empty iframe element, as the cleaner writes it.
_FRAME = re.compile(r'<iframe [^>]*?src="([^"]+)"[^>]*></iframe>')


def defer_players(content: str, *, poster: str = "") -> str:
    """Returns cleaned HTML with each frame replaced by a link and a template element that keeps the frame.

    poster: the address of a picture, behind which the first player is.
    """
    if "<iframe" not in content:
        return content
    posters = iter([poster] if poster else [])
    return _FRAME.sub(lambda match: _link_to_player(match, next(posters, "")), content)


def _link_to_player(match: re.Match[str], poster: str) -> str:
    url = match[1]
    host = (urlsplit(html.unescape(url)).hostname or "").removeprefix("www.").removeprefix("player.")
    label = html.escape(_("Play from %(host)s", host=host))
    picture = f'<img src="{html.escape(poster)}" alt="" loading="lazy">' if poster else ""
    return (
        f'<span class="embed"><a href="{url}" target="_blank" rel="noopener noreferrer">{picture}<span>{label}</span>'
        f"</a><template>{match[0]}</template></span>"
    )
