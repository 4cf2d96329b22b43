"""Icons: scaled and sanitized, and the best of several is chosen."""

from __future__ import annotations

import base64
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from PIL import Image

from support.scaling import assert_constant, assert_linear
from tidings.base.times import DAY, Instant
from tidings.content import icons
from tidings.content.discovery import page_links
from tidings.content.icons import IconImage, sanitize_svg, scale_to_png

PAGE = "https://example.org/blog/"
SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">{}</svg>'
SHAPE = '<path d="M0 0h8v8z" fill="#f00"/>'


def picture(width: int, height: int, form: str = "PNG", mode: str = "RGB", color: object = None) -> bytes:
    out = io.BytesIO()
    Image.new(mode, (width, height), color or 1).save(out, form)  # type: ignore[arg-type]
    return out.getvalue()


def read_icon(body: bytes) -> IconImage | None:
    """As `services.pictures` reads it, in this process."""
    if drawing := sanitize_svg(body):
        return IconImage(icons.SVG, drawing)
    png = scale_to_png(body)
    return IconImage(icons.PNG, png) if png else None


def shown(body: bytes) -> Image.Image:
    read = read_icon(body)
    assert read is not None
    assert read.mime_type == "image/png"
    return Image.open(io.BytesIO(read.content))


def drawn(inside: str) -> str:
    """Return the sanitized SVG."""
    read = read_icon(SVG.format(inside + SHAPE).encode())
    assert read is not None
    assert read.mime_type == "image/svg+xml"
    return read.content.decode()


@pytest.mark.parametrize(
    ("size", "expected"),
    [((16, 16), (16, 16)), ((64, 64), (64, 64)), ((400, 400), (64, 64)), ((400, 100), (64, 16)), ((30, 300), (6, 64))],
)
def test_images_are_scaled_to_64_pixels_and_keep_their_ratio(size: tuple[int, int], expected: tuple[int, int]) -> None:
    assert shown(picture(*size)).size == expected


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "ICO", "AVIF"])
def test_every_usual_format_becomes_a_png(form: str) -> None:
    assert shown(picture(48, 48, form)).format == "PNG"


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "I;16"])
def test_every_kind_of_colour_is_read(mode: str) -> None:
    assert shown(picture(100, 100, "PNG", mode)).size == (64, 64)


def test_the_largest_image_of_an_ico_is_used() -> None:
    out = io.BytesIO()
    Image.new("RGBA", (48, 48)).save(out, "ICO", sizes=[(16, 16), (48, 48)])

    assert shown(out.getvalue()).size == (48, 48)


def test_transparency_stays() -> None:
    transparent = shown(picture(100, 100, "PNG", "RGBA", (255, 0, 0, 0)))

    assert transparent.mode == "RGBA"
    assert transparent.getchannel("A").getextrema() == (0, 0)


def test_the_same_image_gives_the_same_bytes() -> None:
    assert read_icon(picture(99, 50)) == read_icon(picture(99, 50))


def test_only_the_pixels_of_the_original_are_kept() -> None:
    out = io.BytesIO()
    Image.new("RGB", (16, 16)).save(out, "JPEG", comment=b"<script>secret</script>")

    read = read_icon(out.getvalue())

    assert read is not None
    assert b"secret" not in read.content


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"hello",
        b"<!doctype html><title>Not found</title>",
        b"<html><body><svg xmlns='http://www.w3.org/2000/svg'><path d='M0 0'/></svg></body></html>",
        b"<?xml version='1.0'?><rss/>",
        b"\x89PNG\r\n\x1a\n",
        picture(64, 64)[:60],
        b"\0\0\1\0\1\0" + bytes(30),
        b"%PDF-1.4",
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
    ],
)
def test_bytes_that_are_no_image_are_no_icon(body: bytes) -> None:
    assert read_icon(body) is None


def test_an_image_with_a_side_of_more_than_4096_pixels_is_refused() -> None:
    assert read_icon(picture(5000, 1, mode="1")) is None
    assert read_icon(picture(4096, 1, mode="1")) is not None


@pytest.mark.slow
def test_a_decompression_bomb_is_refused_at_once() -> None:
    bombs = {side: picture(side, 400, mode="RGBA") for side in (5_000, 40_000)}

    def refuse(side: int) -> None:
        assert read_icon(bombs[side]) is None

    assert all(len(bomb) < 100_000 for bomb in bombs.values())
    assert_constant(refuse, 5_000)


@given(st.binary(max_size=200), st.sampled_from(["PNG", "GIF", "ICO", "WEBP", "JPEG"]), st.integers(0, 80))
def test_any_damaged_image_is_read_without_errors(noise: bytes, form: str, at: int) -> None:
    whole = picture(20, 20, form)
    read = read_icon(whole[:at] + noise + whole[at + len(noise) :])
    assert read is None or read.content.startswith(b"\x89PNG")


def test_an_svg_stays_an_svg() -> None:
    gradient = '<defs><linearGradient id="a"><stop offset="0" stop-color="red"/></linearGradient></defs>'

    left = drawn(gradient + '<circle r="2" fill="url(#a)"/>')

    assert "linearGradient" in left
    assert 'fill="url(#a)"' in left
    assert 'viewBox="0 0 8 8"' in left


def test_an_svg_may_depend_on_the_colour_scheme() -> None:
    style = "<style>path{fill:#000}@media (prefers-color-scheme:dark){path{fill:#fff}}</style>"

    assert "prefers-color-scheme" in drawn(style)


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        '<script href="https://evil.example/x.js"/>',
        '<rect onload="alert(1)"/>',
        '<rect onclick="alert(1)"/>',
        '<a href="javascript:alert(1)"><rect/></a>',
        '<a xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="https://evil.example/"><rect/></a>',
        '<image href="https://evil.example/x.png"/>',
        '<image href="data:image/svg+xml,evil"/>',
        '<use href="https://evil.example/x.svg#a"/>',
        '<use xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="data:image/svg+xml,evil#a"/>',
        '<foreignObject><body xmlns="http://www.w3.org/1999/xhtml"><iframe src="evil"/></body></foreignObject>',
        '<style>@import "https://evil.example/x.css";</style>',
        "<style>path{fill:url(https://evil.example/x)}</style>",
        r"<style>path{fill:u\72l(https://evil.example/x)}</style>",
        '<rect style="background:url(https://evil.example/x)"/>',
        '<rect fill="url(https://evil.example/x#a)"/>',
        '<rect filter="url(https://evil.example/x#a)"/>',
        '<animate attributeName="href" values="javascript:alert(1)"/>',
        '<set attributeName="onload" to="alert(1)"/>',
        '<handler xmlns="http://www.w3.org/2001/xml-events">evil</handler>',
        '<script xmlns="http://www.w3.org/1999/xhtml">alert(1)</script>',
        '<x:script xmlns:x="http://www.w3.org/2000/svg">alert(1)</x:script>',
        '<iframe src="evil"/>',
        "<text><![CDATA[</text><script>alert(1)</script>]]></text>",
    ],
)
def test_scripts_and_external_references_are_removed_from_an_svg(hostile: str) -> None:
    left = drawn(hostile)
    tree = etree.fromstring(left)

    for element in tree.iter():
        assert "script" not in str(element.tag)
        assert not any(str(name).startswith("on") or ":" in str(value) for name, value in element.items())
    for sign in ("javascript:", "evil", "@import", "<script", "<a", "<image", "foreignObject"):
        assert sign not in left


def test_text_in_an_svg_stays() -> None:
    assert "<text>a&lt;b</text>" in drawn("<text>a&lt;b</text>")


@pytest.mark.parametrize(
    "source",
    [
        "<svg/>",
        SVG.format(""),
        SVG.format("<script>alert(1)</script>"),
        SVG.format('<image href="data:image/png;base64,xxxx"/>'),
        SVG.format(SHAPE)[:-3],
        '<!DOCTYPE svg [<!ENTITY a "b">]>' + SVG.format(SHAPE),
        '<svg xmlns="http://www.w3.org/1999/xhtml"><path d="M0 0"/></svg>'.replace("path", "h:path"),
        SVG.format('<g id="a"><use href="#b"/><use href="#b"/></g><g id="b"><use href="#a"/></g>' + SHAPE),
        SVG.format('<path id="a" d="M0 0"/>' + '<use href="#a"/>' * 100),
        SVG.format("<g>" * 5000 + SHAPE + "</g>" * 5000),
        SVG.format(SHAPE * 20_000),
    ],
)
def test_a_doubtful_svg_is_refused(source: str) -> None:
    assert read_icon(source.encode()) is None


@pytest.mark.parametrize("prolog", ["", "\ufeff", '<?xml version="1.0"?>\n<!-- by hand -->\n', "<!DOCTYPE svg>"])
def test_an_svg_may_have_a_prolog(prolog: str) -> None:
    assert read_icon((prolog + SVG.format(SHAPE)).encode()) is not None


def test_a_hostile_prolog_is_refused_in_linear_time() -> None:
    def refuse(comments: int) -> None:
        assert read_icon(b"<!---->" * comments + b"<svgx") is None

    assert_linear(refuse, 4_000)


def ranked(*links: str) -> list[str]:
    found = icons.declared_icons(page_links.read_page_links("".join(links).encode(), url=PAGE))
    return [url.removeprefix("https://example.org/") for url in found]


def test_the_icon_of_the_best_size_comes_first() -> None:
    assert ranked(
        '<link rel="icon" sizes="16x16" href="/16">',
        '<link rel="icon" sizes="512x512" href="/512">',
        '<link rel="apple-touch-icon" href="/touch">',
        '<link rel="icon" sizes="32x32 96x96" href="/96">',
        '<link rel="shortcut icon" href="/plain">',
    ) == ["96", "touch", "512", "plain", "16"]


@pytest.mark.parametrize("rel", ["icon", "shortcut icon", "icon shortcut", "ICON", "apple-touch-icon-precomposed"])
def test_every_usual_relation_of_icons_is_known(rel: str) -> None:
    assert ranked(f'<link rel="{rel}" href="/i">') == ["i"]


def test_other_links_are_no_icons() -> None:
    assert (
        ranked('<link rel="mask-icon" href="/m">', '<link rel="stylesheet" href="/s">', '<a rel="icon" href="/a">')
        == []
    )


def test_icons_of_equal_size_keep_their_order() -> None:
    assert ranked('<link rel="icon" href="/1">', '<link rel="icon" href="/2">', '<link rel="icon" href="/1">') == [
        "1",
        "2",
    ]


@pytest.mark.parametrize(
    ("site_url", "feed_url", "expected"),
    [
        ("https://a.example/blog/", "https://a.example/feed", ["https://a.example/blog/", "https://a.example/"]),
        ("https://a.example/", "https://a.example/feed", ["https://a.example/"]),
        ("https://a.example/feed", "https://a.example/feed", ["https://a.example/"]),
        ("", "https://a.example/feed", ["https://a.example/"]),
    ],
)
def test_the_page_of_the_site_comes_before_its_root(site_url: str, feed_url: str, expected: list[str]) -> None:
    assert icons.icon_pages(site_url, feed_url) == expected


def test_icons_without_declaration_are_at_the_root() -> None:
    root = "https://a.example:8080/"
    assert icons.root_icons(f"{root}x/y?z") == [f"{root}favicon.ico", f"{root}apple-touch-icon.png"]
    assert icons.root_icons("mailto:a@b") == []


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            '{"icons": [{"src": "big.png", "sizes": "512x512"}, {"src": "/good.png", "sizes": "48x48 96x96"}]}',
            ["/good.png", "/assets/big.png"],
        ),
        ('{"icons": [{"src": "a.svg", "type": "image/svg+xml"}, {"sizes": "1x1"}, 5, {"src": 3}]}', ["/assets/a.svg"]),
        ('{"icons": [{"src": "javascript:alert(1)"}]}', []),
        ('{"icons": [{"src": "a.png"}, {"src": "stencil.png", "purpose": "monochrome"}]}', ["/assets/a.png"]),
        ('{"icons": {}}', []),
        ("[]", []),
        ("<html>", []),
        ("[" * 100_000, []),
    ],
)
def test_icons_of_a_manifest_are_found(body: str, expected: list[str]) -> None:
    found = icons.manifest_icons(body.encode(), "https://a.example/assets/site.webmanifest")

    assert found == [f"https://a.example{path}" for path in expected]


@pytest.mark.parametrize(
    ("address", "content"),
    [
        ("data:image/png;base64,aGVsbG8=", b"hello"),
        ("data:image/png;base64,aGVsbG8", b"hello"),
        ("DATA:image/png;charset=utf-8;BASE64,aGVs%0AbG8%3D", b"hello"),
        ("data:image/svg+xml,%3Csvg/%3E", b"<svg/>"),
        ("data:image/svg+xml;utf8,<svg/>", b"<svg/>"),
        ("data:text/html,<b>", b""),
        ("data:image/png", b""),
    ],
)
def test_images_in_data_urls_are_decoded(address: str, content: bytes) -> None:
    assert icons.decode_data_url(address) == content


def test_an_icon_in_a_data_url_is_found() -> None:
    data = base64.b64encode(picture(8, 8)).decode()
    page = page_links.read_page_links(f'<link rel="icon" href="data:image/png;base64,{data}">'.encode(), url=PAGE)

    assert icons.decode_data_url(icons.declared_icons(page)[0]) == picture(8, 8)


@pytest.mark.parametrize(
    ("days", "has_icon", "is_due"),
    [(None, False, True), (6, False, False), (8, False, True), (8, True, False), (31, True, True)],
)
def test_a_missing_icon_is_checked_weekly_and_a_known_one_monthly(
    days: int | None, has_icon: bool, is_due: bool
) -> None:
    now = Instant(1000 * DAY)
    checked_at = None if days is None else Instant(now - days * DAY)

    assert icons.is_due(checked_at, has_icon=has_icon, now=now) is is_due
