"""Static files: addressed by a fingerprint, cached for a year, compressed."""

from __future__ import annotations

import re
from pathlib import Path

import brotli
import pytest

import tidings
from support.visitors import Visitor
from tidings.web.assets import strip_styles


def address(visitor: Visitor, name: str) -> str:
    match = re.search(rf'"(/static/\w+/{re.escape(name)})', visitor.page("/unread"))
    assert match
    return match[1]


@pytest.mark.parametrize(
    ("name", "kind"), [("tidings.css", "text/css"), ("js/reading.js", "text/javascript"), ("icon.svg", "image/svg")]
)
def test_an_asset_of_a_page_exists_and_is_cached(reader: Visitor, name: str, kind: str) -> None:
    answer = reader.get(address(reader, name))

    assert answer.status == 200
    assert answer.headers["content-type"].startswith(kind)
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert reader.get(address(reader, name), headers={"If-None-Match": answer.headers["etag"]}).status == 304


def test_assets_are_compressed(reader: Visitor) -> None:
    plain = reader.get(address(reader, "tidings.css"))
    packed = reader.get(address(reader, "tidings.css"), headers={"Accept-Encoding": "gzip, deflate, br, zstd"})

    assert packed.headers["content-encoding"] == "br"
    assert brotli.decompress(packed.body) == plain.body
    assert packed.headers["vary"] == "Accept-Encoding"


def test_an_old_fingerprint_returns_the_current_file(visitor: Visitor) -> None:
    answer = visitor.get("/static/0123456789/tidings.css")

    assert (answer.status, answer.headers["cache-control"]) == (200, "public, no-cache")


@pytest.mark.parametrize("name", ["css/tokens.css", "../app.py", "..%2fapp.py", "", "none.js", "%00"])
def test_no_other_file_is_served(visitor: Visitor, name: str) -> None:
    assert visitor.get(f"/static/x/{name}").status in (404, 307)


def test_every_icon_used_in_a_template_is_in_the_page(visitor: Visitor) -> None:
    page = visitor.get("/sign-in").body.decode()
    templates = Path(tidings.__file__).parent.glob("*/templates/**/*.html")

    used = {name for path in templates for name in re.findall(r'icon\("([\w-]+)"\)', path.read_text())}

    assert used
    assert used - set(re.findall(r'<symbol id="i-([\w-]+)"', page)) == set()


def test_the_logo_of_pages_is_the_icon_that_browsers_show_in_tabs() -> None:
    web = Path(tidings.__file__).parent / "web"
    drawings = {
        re.sub(r".*?<svg[^>]*>", "", (web / name).read_text(), count=1, flags=re.DOTALL).strip()
        for name in ("static/icon.svg", "templates/parts/logo.html")
    }
    assert len(drawings) == 1


def test_styles_lose_comments_and_blanks_and_keep_their_meaning() -> None:
    source = """
    /* A page; of "ours". */
    .row > a:hover , .row .name :is( b, i ) { color : red; content: "a;  b /* c */" ; width: calc( 1px + 2px ) }
    @media (min-width: 9px) and (max-width: 99px) { .x { margin: 0 auto; } }
    """

    assert strip_styles(source) == (
        '.row > a:hover,.row .name :is( b,i ){color :red;content:"a;  b /* c */";width:calc( 1px + 2px )}'
        "@media (min-width:9px) and (max-width:99px){.x{margin:0 auto}}"
    )
