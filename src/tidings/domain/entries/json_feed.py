"""Renders a list of entries as a JSON Feed (https://www.jsonfeed.org/version/1.1/), for other feed readers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from tidings.base.times import to_datetime
from tidings.base.url_schemes import safe_href
from tidings.domain.entries.atom_feed import AtomItem


def render(title: str, self_url: str, items: Iterable[AtomItem], *, html_url: str) -> bytes:
    """Return the document. self_url: the feed's URL. html_url: the page with the list."""
    document = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": title,
        "home_page_url": html_url,
        "feed_url": self_url,
        "items": [_item(item) for item in items],
    }
    return msgspec.json.encode(document)


def _item(item: AtomItem) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "id": item.id,
        "title": item.title,
        "content_html": item.content,
        "date_published": to_datetime(item.published_at).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "authors": [{"name": item.author or item.source}],
    }
    url = safe_href(item.url)
    return shown | {"url": url} if url else shown
