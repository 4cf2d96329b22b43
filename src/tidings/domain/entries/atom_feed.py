"""Renders a list of entries as an Atom feed (RFC 4287), for other feed readers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from msgspec import Struct

from tidings.base.times import Instant, to_datetime
from tidings.base.url_schemes import safe_href

# Characters that XML 1.0 cannot represent, even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class AtomItem(Struct, frozen=True):
    """An entry as the Atom feed shows it."""

    id: str
    """A permanent URL."""
    title: str
    url: str
    author: str
    content: str
    """Cleaned HTML."""
    source: str
    """The title of the entry's feed."""
    published_at: Instant


def render(title: str, self_url: str, items: Iterable[AtomItem], *, html_url: str) -> str:
    """Return the document. self_url: the feed's URL and id. html_url: the page with the list."""
    items = list(items)
    updated = max((item.published_at for item in items), default=Instant(0))
    entries = "".join(map(_entry, items))
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        f"<title>{_text(title)}</title>\n<id>{_text(self_url)}</id>\n<updated>{_date(updated)}</updated>\n"
        f'<link rel="self" type="application/atom+xml" href={_attribute(self_url)}/>\n'
        f"<link href={_attribute(html_url)}/>\n"
        f"{entries}</feed>\n"
    )


def _entry(item: AtomItem) -> str:
    url = safe_href(item.url)
    link = f"<link href={_attribute(url)}/>" if url else ""
    published = _date(item.published_at)
    return (
        f"<entry><title>{_text(item.title)}</title><id>{_text(item.id)}</id>{link}"
        f"<published>{published}</published><updated>{published}</updated>"
        f"<author><name>{_text(item.author or item.source)}</name></author><category term={_attribute(item.source)}/>"
        f'<content type="html">{_text(item.content)}</content></entry>\n'
    )


def _text(value: str) -> str:
    return escape(_FORBIDDEN.sub("", value))


def _attribute(value: str) -> str:
    return quoteattr(_FORBIDDEN.sub("", value))


def _date(instant: Instant) -> str:
    return to_datetime(instant).strftime("%Y-%m-%dT%H:%M:%SZ")
