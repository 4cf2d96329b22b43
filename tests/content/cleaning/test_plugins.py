"""Drawings, frames of other hosts, objects and elements of AMP pages."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from selectolax.lexbor import LexborHTMLParser

from content.cleaning.trees import attributes_of, cleaned
from tidings.content.cleaning import drawings, text_of


def test_a_drawing_becomes_an_image() -> None:
    html = """<p>See <svg width=200 height=100 onload=x><title>Rain</title><style>x{}</style>
        <path d="M0 0" onclick=y style="fill:url(https://other.example/x)"/><a href=x>b</a><image href=/x.png /><text>a
        &amp; b</text>
        <use xlink:href="#p"/><use href="https://other.example/#p"/><script>z</script></svg></p>"""

    image = attributes_of(cleaned(html), "img")

    assert (image["alt"], image["width"], image["height"]) == ("Rain", "200", "100")
    kind, _, drawing = image["src"].partition(",")
    assert kind == "data:image/svg+xml"
    assert unquote(drawing) == (
        "<svg width='200' height='100' xmlns='http://www.w3.org/2000/svg'><title>Rain</title> <path d='M0 0'></path>"
        "<text>a &amp; b</text> <use href='#p'></use><use></use></svg>"
    )


@pytest.mark.parametrize(
    ("drawing", "shown"),
    [
        ("<svg width=16 height=16><title>Share</title><path d='M0 0'/></svg>", "Share"),
        ("<svg viewBox='0 0 24 24' aria-label='Share'><path d='M0 0'/><text>x</text></svg>", "Share"),
        ("<svg width=16 height=16><path d='M0 0'/><text>x</text></svg>", ""),
        ("<svg><title>Rain</title><foreignObject><p>Text in a box</p></foreignObject></svg>", "Rain"),
        ("<svg width=300><desc>Nothing is drawn.</desc></svg>", ""),
        ("<svg style='display:none'><title>Rain</title><path d='M0 0'/></svg>", ""),
    ],
)
def test_other_drawings_become_their_title(drawing: str, shown: str) -> None:
    assert cleaned(f"<p>[{drawing}]</p>") == f"<p>[{shown}]</p>"


def test_a_drawing_of_many_parts_becomes_its_title() -> None:
    assert cleaned(f"<svg aria-label=Rain>{'<path d=M0></path>' * drawings.MAX_NODES}</svg>") == "Rain"
    assert cleaned(f"<svg aria-label=Rain><path d='{'0' * drawings.MAX_CHARS}'/></svg>") == "Rain"


def test_a_drawing_in_a_text_that_is_costly_to_parse_becomes_its_title() -> None:
    drawing = "<SVG><title>Rain</title><path d=M0 /><text>loose</text></SVG>"

    assert text_of(cleaned(f"<p>{'word ' * 20_000}</p><p>[{drawing}]</p>")).endswith("word [Rain]")
    assert text_of(cleaned(f"{'<b>' * 2_000}[{drawing}] <svg>left open")) == "[Rain] left open"


@pytest.mark.parametrize(
    ("frame", "link"),
    [
        ('<iframe src="https://maps.example/1" title="A map"></iframe>', ("https://maps.example/1", "A map")),
        ('<iframe src="//www.maps.example/1"></iframe>', ("https://www.maps.example/1", "maps.example")),
        ('<embed src="/old.swf">', ("https://blog.example/old.swf", "blog.example")),
        ('<object data="/old.swf" title="Game"></object>', ("https://blog.example/old.swf", "Game")),
        ('<amp-iframe src="https://maps.example/1" title="A map">', ("https://maps.example/1", "A map")),
    ],
)
def test_what_cannot_be_shown_becomes_a_link(frame: str, link: tuple[str, str]) -> None:
    page = cleaned(f"<p>See {frame}</p>")

    assert attributes_of(page, "a")["href"] == link[0]
    assert text_of(page) == f"See {link[1]}"


@pytest.mark.parametrize(
    "frame",
    [
        '<iframe src="https://count.example/1" width=1 height=1 title="x"></iframe>',
        '<iframe src="https://ads.example/1" style="display:none" title="x"></iframe>',
        '<iframe title="x"></iframe>',
        '<embed src="javascript:alert(1)" title="x">',
        '<object data="data:text/html,x" title="x"></object>',
    ],
)
def test_frames_that_nobody_sees_are_left_out(frame: str) -> None:
    assert cleaned(f"<p>a{frame}</p>") == "<p>a</p>"


@pytest.mark.parametrize(
    ("player", "shown"),
    [
        ('<embed src="https://www.youtube.com/v/X1-_&fs=1">', "https://www.youtube-nocookie.com/embed/X1-_"),
        ('<object><param name=movie value="//youtube.com/v/X1"><embed src="/x">y</object>',
         "https://www.youtube-nocookie.com/embed/X1"),
        ('<object data="/1.png" type="image/png">A map</object>', "https://blog.example/1.png"),
        ('<embed src="/1.mp3">', "https://blog.example/1.mp3"),
        ('<embed src="/1" type="video/mp4">', "https://blog.example/1"),
        ('<object data="/old.swf"><img src="/2.png"></object>', "https://blog.example/2.png"),
        ('<amp-img src="/3.png" width=300 height=200></amp-img>', "https://blog.example/3.png"),
        ('<amp-img src="/3.png"><noscript><img src="/4.png"></noscript></amp-img>', "https://blog.example/3.png"),
        ('<amp-youtube data-videoid="X2"></amp-youtube>', "https://www.youtube-nocookie.com/embed/X2"),
        ('<amp-video src="/5.mp4"></amp-video>', "https://blog.example/5.mp4"),
    ],
)  # fmt: skip
def test_objects_and_elements_of_amp_become_what_they_show(player: str, shown: str) -> None:
    page = LexborHTMLParser(cleaned(f"<p>{player}</p>"))

    assert [node.attributes["src"] for node in page.css("[src]")] == [shown]
    assert page.body is not None
    assert page.body.text() == ""
