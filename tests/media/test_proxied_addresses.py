"""Which addresses of an article go through the media proxy, and how they are signed."""

from __future__ import annotations

import pytest

from tidings.base.errors import Forbidden
from tidings.content.cleaning import clean
from tidings.content.pictures.formats import read_picture
from tidings.media.policy import MediaKind, MediaPolicy, MediaProxyMode
from tidings.media.rewrite import rewrite_media
from tidings.media.signatures import PREFIX, signed_path, verified_url

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
HTTP, HTTPS = "http://example.org/rain.png", "https://example.org/rain.png?a=1&b=ü"
ARTICLE = """
<p>Rain <img src="/a.png?x=1&amp;y=2" srcset="/a.png 1x, /a2.png 2x" alt="a > b"></p>
<picture><source srcset="/b.webp 640w" type="image/webp"><img src="/b.png"></picture>
<video src="/c.mp4" poster="/c.png"><source src="/c.webm"></video>
<audio controls><source src="/d.mp3"></audio><img src="data:image/png;base64,iVBORw0KGgo=">
<p title="img src=">src="/not-a-tag.png" <a href="/a.png">Rain</a></p>
"""


@pytest.mark.parametrize(
    ("mode", "url", "on_https", "expected"),
    [
        (MediaProxyMode.NONE, HTTP, True, False),
        (MediaProxyMode.HTTP_ONLY, HTTP, True, True),
        (MediaProxyMode.HTTP_ONLY, HTTPS, True, False),
        (MediaProxyMode.HTTP_ONLY, HTTP, False, False),
        (MediaProxyMode.ALL, HTTP, False, True),
        (MediaProxyMode.ALL, HTTPS, True, True),
        (MediaProxyMode.ALL, "HTTPS://EXAMPLE.ORG/RAIN.PNG", True, True),
        (MediaProxyMode.ALL, "data:image/png;base64,iVBORw0KGgo=", True, False),
    ],
)
def test_the_mode_decides_which_pictures_are_proxied(
    mode: MediaProxyMode, url: str, on_https: bool, expected: bool
) -> None:
    policy = MediaPolicy(mode)

    assert policy.applies_to(url, MediaKind.IMAGE, on_https=on_https) == expected
    assert not policy.applies_to(url, MediaKind.AUDIO, on_https=on_https)


def test_a_user_may_have_all_pictures_proxied_unless_the_operator_switched_the_proxy_off() -> None:
    assert MediaPolicy(MediaProxyMode.HTTP_ONLY).with_wish(for_all=True).covers_all(MediaKind.IMAGE)
    assert not MediaPolicy(MediaProxyMode.HTTP_ONLY).with_wish(for_all=False).covers_all(MediaKind.IMAGE)
    assert MediaPolicy(MediaProxyMode.NONE).with_wish(for_all=True).mode is MediaProxyMode.NONE


@pytest.mark.parametrize("url", [HTTP, HTTPS, "https://example.org/" + "x" * 3000, "not an address"])
def test_a_signed_path_leads_to_its_url_with_the_same_key_only(url: str) -> None:
    signature, encoded = signed_path(url, KEY).removeprefix(PREFIX).split("/")

    assert verified_url(signature, encoded, KEY) == url
    for wrong in (
        (signature, encoded, OTHER_KEY),
        (signature, signed_path(url + "x", KEY).rpartition("/")[2], KEY),
        (signature[:-4], encoded, KEY),
        ("", encoded, KEY),
        ("é", encoded, KEY),
        (signature, "x", KEY),
        (signature, "_w", KEY),
    ):
        with pytest.raises(Forbidden):
            verified_url(*wrong)


def test_every_picture_sound_and_film_gets_the_other_address() -> None:
    asked: list[tuple[str, str]] = []

    def address(url: str, kind: MediaKind) -> str:
        asked.append((url.removeprefix("https://example.org"), kind))
        return f"/proxy/{len(asked)}" if url.startswith("https:") else url

    html = rewrite_media(clean(ARTICLE, base_url="https://example.org/"), address)

    assert asked[:-1] == [
        ("/a.png?x=1&y=2", "image"),
        ("/a.png", "image"),
        ("/a2.png", "image"),
        ("/b.webp", "image"),
        ("/b.png", "image"),
        ("/c.mp4", "video"),
        ("/c.png", "image"),
        ("/c.webm", "video"),
        ("/d.mp3", "audio"),
    ]
    assert asked[-1][0].startswith("data:")
    assert 'src="/proxy/1" srcset="/proxy/2 1x, /proxy/3 2x"' in html
    assert 'srcset="/proxy/4 640w"' in html
    assert 'src="/not-a-tag.png"' in html
    assert 'href="https://example.org/a.png"' in html


def test_html_stays_as_it_is_where_no_address_changes() -> None:
    cleaned = clean(ARTICLE, base_url="https://example.org/")

    assert rewrite_media(cleaned, lambda url, _kind: url) == cleaned


@pytest.mark.parametrize(
    ("body", "mime_type"),
    [
        (b"\x89PNG\r\n\x1a\n...", "image/png"),
        (b"\xff\xd8\xff\xe0...", "image/jpeg"),
        (b"GIF89a...", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"\0\0\0\x1cftypavif...", "image/avif"),
        (b'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h8v8z"/></svg>', "image/svg+xml"),
    ],
)
def test_a_picture_is_told_by_its_first_bytes(body: bytes, mime_type: str) -> None:
    picture = read_picture(body)

    assert picture
    assert picture.mime_type == mime_type


@pytest.mark.parametrize("body", [b"", b"<html><svg/></html>", b"%PDF-1.4", b"\0\0\0\x1cftypmp42", b"RIFF\0\0\0\0WAVE"])
def test_anything_else_is_no_picture(body: bytes) -> None:
    assert read_picture(body) is None


def test_a_drawing_is_kept_without_what_runs_in_it() -> None:
    picture = read_picture(b'<svg xmlns="http://www.w3.org/2000/svg" onload="x()"><script>x()</script><rect/></svg>')

    assert picture
    assert b"x()" not in picture.content
