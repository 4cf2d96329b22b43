"""Built-in rewrite rules, by the host that entries link to, for feeds without rules of their own.

The list is short on purpose: each line affects all users of a site, and a feed's own rules replace it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from tidings.content.rules.rewrite import RewriteRules, parse_rewrites
from tidings.content.rules.rule_entry import host_of

# Each host includes its subdomains.
BY_HOST: Final = {
    # The image's title is part of the comic.
    "xkcd.com": "add_image_title",
    # The feed has only a description; users expect the video.
    "youtube.com": "add_youtube_video",
    # Preprints: an entry may link to the document itself.
    "arxiv.org": "add_pdf_download_link",
    # Images are blurred placeholders until a script replaces them.
    "medium.com": "fix_medium_images",
    # Links to other pages are bookmark cards.
    "ghost.org": "fix_ghost_cards",
}
_HOSTS: Final = tuple(BY_HOST)


def builtin_rewrites(url: str) -> RewriteRules:
    """Return the built-in rules for an entry with this URL."""
    host = host_of(url)
    while host.endswith(_HOSTS):
        if host in BY_HOST:
            return _parsed(host)
        host = host.partition(".")[2]
    return ()


@lru_cache(maxsize=len(BY_HOST))
def _parsed(host: str) -> RewriteRules:
    return parse_rewrites(BY_HOST[host])
