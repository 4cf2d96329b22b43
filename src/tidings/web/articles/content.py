"""Prepares the HTML of an article for a page: ids, addresses of media, pictures to enlarge, players behind a click."""

from __future__ import annotations

import re
from html import escape

from markupsafe import Markup

from tidings.content.cleaning import prefix_ids
from tidings.content.cleaning.attribute_checks import PREFIX
from tidings.media.policy import MediaKind
from tidings.media.rewrite import rewrite_media
from tidings.web.articles.embeds import defer_players, link_players
from tidings.web.context import RequestContext
from tidings.web.language import _

# Links and whole pictures, which never contain one another.
_PART = re.compile(r"<a [^>]*>|</a>|<picture[ >].*?</picture>|<img [^>]*>", re.DOTALL)
_SOURCE = re.compile(r'<img [^>]*?src="((?:https?:/)?/[^"]+)"')
_ALTERNATIVE = re.compile(r'<img [^>]*?alt="[^"]*[^"\s]')
_SIDE = re.compile(r' (?:width|height)="(\d+)"')
_PICTURE = re.compile(r"<(?:img|source)\b[^>]*>")
_CANDIDATES = re.compile(r' srcset="[^"]*"')
# Quotes in texts and values are escaped.
_OWN_ID = re.compile(rf' (?:id="|href="#){PREFIX}')
_PLAYER = re.compile(r"<(audio|video)\b")
# Pixels. Smaller pictures stand within the text and are not larger elsewhere.
_SMALL = 64


def article_html(
    context: RequestContext, content: str, *, has_players: bool = True, poster: str = "", entry_id: int = 0
) -> Markup:
    """Return the HTML of an article. content: the stored HTML.

    entry_id: given where several articles are on a page, so that their ids differ.

    has_players: whether audio, video and frames get a player; otherwise they are links.
    poster: the picture of its first player, or "".
    """
    own_ids = _OWN_ID.sub(rf"\g<0>{entry_id}-", prefix_ids(content)) if entry_id else prefix_ids(content)
    stored = own_ids if has_players else link_players(own_ids)
    one_file_each = _without_candidates(stored) if context.is_copy else stored
    # Loading audio or video tells its publisher who reads, so it is loaded only when it is played.
    quiet = _PLAYER.sub(r'<\1 preload="none"', one_file_each)
    prepared = rewrite_media(quiet, context.media_address)
    return Markup(defer_players(_link_pictures(prepared), poster=poster))  # noqa: S704 - cleaned when it was stored


def picture_address(context: RequestContext, url: str) -> str:
    """Return the address from which a page loads a picture. url: not escaped."""
    return context.media_address(url, MediaKind.IMAGE) if url else ""


def _without_candidates(html: str) -> str:
    """Return the HTML with one file for each picture: a copy for reading offline keeps no other ones."""

    def reduce(part: re.Match[str]) -> str:
        tag = part[0]
        return "" if tag.startswith("<source") and _CANDIDATES.search(tag) else _CANDIDATES.sub("", tag)

    return _PICTURE.sub(reduce, html)


def _link_pictures(html: str) -> str:
    """Return the HTML with a link to the picture alone around each picture that is not inside a link."""
    if "<img" not in html:
        return html
    label = escape(_("Enlarge picture"))
    depth = 0

    def link(part: re.Match[str]) -> str:
        nonlocal depth
        tag = part[0]
        if tag.startswith("<a "):
            depth += 1
        elif tag == "</a>":
            depth -= 1
        elif not depth and (source := _SOURCE.search(tag)) and not _is_small(tag):
            name = "" if _ALTERNATIVE.search(tag) else f' aria-label="{label}"'
            return f'<a class="zoom" href="{source[1]}" rel="noopener noreferrer"{name}>{tag}</a>'
        return tag

    return _PART.sub(link, html)


def _is_small(tag: str) -> bool:
    return any(int(side) <= _SMALL for side in _SIDE.findall(tag))
