"""A list of entries as an Atom feed (RFC 4287), for other readers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from msgspec import Struct

from tidings.domain.times import Instant, to_datetime
from tidings.domain.url_schemes import safe_href

# What XML 1.0 cannot hold in any spelling.
_IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Item(Struct, frozen=True):
    """id: its permanent address. content: cleaned HTML. source: the title of the feed that it came from."""

    id: str
    title: str
    url: str
    author: str
    content: str
    source: str
    published_at: Instant


def written(title: str, address: str, items: Iterable[Item], *, home: str) -> str:
    """address: of this feed itself, which is its id as well. home: of the list, for people."""
    made = list(items)
    updated = max((item.published_at for item in made), default=Instant(0))
    entries = "".join(map(_entry, made))
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"<title>{_text(title)}</title>\n<id>{_text(address)}</id>\n<updated>{_moment(updated)}</updated>\n"
        f'<link rel="self" type="application/atom+xml" href={_attribute(address)}/>\n<link href={_attribute(home)}/>\n'
        f"{entries}</feed>\n"
    )


def _entry(item: Item) -> str:
    url = safe_href(item.url)
    link = f"<link href={_attribute(url)}/>" if url else ""
    moment = _moment(item.published_at)
    return (
        f"<entry><title>{_text(item.title)}</title><id>{_text(item.id)}</id>{link}"
        f"<published>{moment}</published><updated>{moment}</updated>"
        f"<author><name>{_text(item.author or item.source)}</name></author><category term={_attribute(item.source)}/>"
        f'<content type="html">{_text(item.content)}</content></entry>\n'
    )


def _text(value: str) -> str:
    return escape(_IMPOSSIBLE.sub("", value))


def _attribute(value: str) -> str:
    return quoteattr(_IMPOSSIBLE.sub("", value))


def _moment(instant: Instant) -> str:
    return to_datetime(instant).strftime("%Y-%m-%dT%H:%M:%SZ")
