"""URLs without a scheme."""

from __future__ import annotations

import asyncio

import pytest

from tidings.base.messages import msg
from tidings.net.errors import NetworkError
from tidings.services.feeds.typed_urls import complete_url, reach


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        (" example.org ", "https://example.org"),
        ("http://example.org/feed", "http://example.org/feed"),
        ("feed:https://example.org/feed", "https://example.org/feed"),
        ("feed://example.org/feed", "https://example.org/feed"),
        ("//example.org", "https://example.org"),
        ("ftp://example.org", "ftp://example.org"),
        ("", ""),
        ("\ufeff\u200bhttps://example.org/feed\u200b\u00a0", "https://example.org/feed"),
        ("https://example.org/a\r\n/feed\t.xml", "https://example.org/a/feed.xml"),
        ("https://example.org/a b\u00a0c?d=e f", "https://example.org/a%20b%C2%A0c?d=e%20f"),
        ("example.org/a b", "https://example.org/a%20b"),
        ("https://exa mple.org/a", "https://exa mple.org/a"),
        ("FEED://example.org/A b", "https://example.org/A%20b"),
    ],
)
def test_incomplete_urls_are_completed(given: str, meant: str) -> None:
    assert complete_url(given) == meant


@pytest.mark.parametrize(
    ("typed", "tried"),
    [
        ("example.org/feed", ["https://example.org/feed", "http://example.org/feed"]),
        ("feed://example.org/feed", ["https://example.org/feed", "http://example.org/feed"]),
        ("//example.org", ["https://example.org", "http://example.org"]),
        ("feed:https://example.org", ["https://example.org"]),
        ("feed://http://example.org", ["http://example.org"]),
        ("https://example.org", ["https://example.org"]),
        ("feed://alice:secret@example.org", ["https://alice:secret@example.org"]),
    ],
)
def test_http_is_tried_if_the_scheme_is_a_guess(typed: str, tried: list[str]) -> None:
    seen: list[str] = []

    async def fail(url: str) -> None:
        seen.append(url)
        raise NetworkError(msg("Nothing is here."))

    with pytest.raises(NetworkError):
        asyncio.run(reach(typed, fail))

    assert seen == tried
