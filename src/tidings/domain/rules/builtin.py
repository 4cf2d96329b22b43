"""Rewrite rules for feeds whose owner wrote none, by the host that entries link to.

A short list on purpose: each line helps every reader of that site, and a feed's own rules replace it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from tidings.domain.rules.draft import host_of
from tidings.domain.rules.rewrite import Rewrites, parse_rewrite

# A host stands for everything below it, too.
BY_HOST: Final = {
    # The joke goes on in the title of the picture.
    "xkcd.com": "add_image_title",
    # The feed has a description; the video is what people came for.
    "youtube.com": "add_youtube_video",
    # Preprints: an entry may link to the document itself.
    "arxiv.org": "add_pdf_download_link",
    # Pictures are blurred placeholders until a script replaces them.
    "medium.com": "fix_medium_images",
    # The makers of the engine link to other pages by cards.
    "ghost.org": "fix_ghost_cards",
}
_HOSTS: Final = tuple(BY_HOST)


def builtin_rewrites(url: str) -> Rewrites:
    """url: of the entry."""
    host = host_of(url)
    while host.endswith(_HOSTS):
        if host in BY_HOST:
            return _parsed(host)
        host = host.partition(".")[2]
    return ()


@lru_cache(maxsize=len(BY_HOST))
def _parsed(host: str) -> Rewrites:
    return parse_rewrite(BY_HOST[host])
