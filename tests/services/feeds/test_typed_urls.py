"""URLs without a scheme."""

from __future__ import annotations

import pytest

from tidings.services.feeds.typed_urls import complete_url


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
    ],
)
def test_incomplete_urls_are_completed(given: str, meant: str) -> None:
    assert complete_url(given) == meant
