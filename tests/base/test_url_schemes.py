"""URL schemes: which are kept, and which pages link to."""

from __future__ import annotations

import pytest

from tidings.base import url_schemes
from tidings.content.urls import absolute_url

# Each is followed as code, or as content of this machine, by some browser.
EXECUTABLE = [
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    " javascript:alert(1)",
    "\x01javascript:alert(1)",
    "\x1b\tjavascript:alert(1)",
    "java\tscript:alert(1)",
    "java\nscr\ript:alert(1)",
    "\x00javascript:alert(1)",
    "vbscript:MsgBox(1)",
    "VBScript:MsgBox(1)",
    "data:text/html,<script>alert(1)</script>",
    "DATA:text/html;base64,PHNjcmlwdD4=",
    "blob:https://example.org/1",
    "file:///etc/passwd",
    "feed:javascript:alert(1)",
    "FEED:feed: JavaScript:alert(1)",
]
LINKS = ["https://example.org/a", "HTTP://example.org/a", "magnet:?xt=urn:btih:1", "ftp://example.org/a.mp3"]
LINKS += ["feed://example.org/a.xml", "feed:https://example.org/a.xml"]


@pytest.mark.parametrize("address", EXECUTABLE)
def test_executable_urls_are_neither_kept_nor_linked_to(address: str) -> None:
    assert url_schemes.is_executable_url(address)
    assert url_schemes.safe_href(address) == ""
    assert absolute_url(address, "https://example.org/feed") == ""


@pytest.mark.parametrize("address", LINKS)
def test_allowed_schemes_are_kept(address: str) -> None:
    assert not url_schemes.is_executable_url(address)
    assert absolute_url(address, "https://example.org/feed") in (address, address.lower())


def test_an_unknown_scheme_is_not_kept() -> None:
    assert absolute_url("x-unknown:whatever", "https://example.org/feed") == ""


@pytest.mark.parametrize(
    "address", ["https://example.org/", "http://example.org/", "HTTPS://example.org/", "mailto:a@b"]
)
def test_pages_link_to_web_and_mail(address: str) -> None:
    assert url_schemes.safe_href(address) == address


@pytest.mark.parametrize("address", ["", "/feeds", "//example.org/", "ftp://example.org/", "tag:example.org,2026:1"])
def test_pages_link_to_no_other_schemes(address: str) -> None:
    assert url_schemes.safe_href(address) == ""
