"""The outline of a page, and the selectors for what is picked on it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from scoring import hostile
from tidings.content.pages import Pick, parse_selectors
from tidings.content.pages.outline import MAX_CHARS, outline
from tidings.content.pages.picking import Picked, marks, pick

STORED = sorted(Path(__file__).with_name("stored").glob("*.page.html"))
CARDS = "".join(
    f"""<article class="card"><h2><a href="/{one}">The <em>story</em> of week {one}</a></h2>
    <p class="meta">By <span class="who">Ann</span>, <span>{one} May 2026</span></p>
    <img src="/{one}.jpg" alt="A view"><p>What happened in that week.</p></article>"""
    for one in range(1, 5)
)
PAGE = f"<title>T</title><nav><ul><li><a href=/>Start</a></ul></nav><main>{CARDS}</main><footer>Imprint</footer>"
# All that an outline may have.
ALLOWED = re.compile(r'</?[a-z0-9]+>|<[a-z0-9]+ id="e\d+">|<a (?:id="e\d+" )?href="#e\d+">')


def number(page: str, text: str) -> int:
    found = re.search(rf'href="#e(\d+)">[^<]*{re.escape(text)}', outline(page))
    assert found, text
    return int(found[1])


def picked(page: str, text: str, part: str, **selectors: Any) -> Picked:
    return pick(page, Pick(number(page, text), part, selectors))


def problem(answer: Picked) -> str:
    assert answer.problem is not None
    assert answer.selectors == {}
    return answer.problem.english()


def test_an_outline_has_the_texts_and_a_link_for_each() -> None:
    shown = outline(
        '<h2>News <b>of</b> today</h2><ul><li><a href="/x">One</a> two</li></ul><img src="/a/b.jpg?c" alt="">'
    )

    assert re.sub(r"e\d+", "e", shown) == (
        '<h2 id="e"><a href="#e">News of today</a></h2><ul id="e"><li id="e"><span id="e"><a href="#e">One</a></span>'
        ' <a href="#e">two</a></li></ul><a id="e" href="#e">▣ b.jpg</a>'
    )


def test_a_page_without_text_has_no_outline() -> None:
    assert outline("<div id=root></div><script>render()</script>") == ""
    assert outline("") == ""


def test_an_outline_ends_at_its_limit() -> None:
    assert len(outline(f"<p>{'word ' * 1000}</p>" * 1000)) < MAX_CHARS * 1.1


@pytest.mark.parametrize(
    "source",
    [
        "<script>a</script><style>b</style><template><img src=x onerror=a></template><noscript><img src=x></noscript>",
        '<form action="/a"><input><button formaction="/b">c</button><select><option>d</select></form>',
        '<a href="javascript:a" onclick="b" style="c" id="d" class="e" target="_top">f</a><base href="//g">',
        "<svg onload=a><a xlink:href=b><text>c</text></a></svg><math><mtext>d</mtext></math><iframe srcdoc='<b>'>e",
        "<p>&lt;script&gt;a&lt;/script&gt; &amp;lt;</p><img alt='\"><script>a</script>'><x-y onclick=a>b</x-y>",
        "<plaintext><script>",
        *(hostile.payloads() if hostile.PAYLOADS.exists() else []),
    ],
)
def test_an_outline_has_nothing_of_the_page_but_text(source: str) -> None:
    rest = ALLOWED.sub("", outline(source))

    assert "<" not in rest, rest


def test_a_pick_of_any_text_of_an_item_finds_the_items_with_their_fields() -> None:
    for text in ("story of week 2", "3 May 2026", "Ann", "What happened"):
        assert picked(PAGE, text, "item").selectors == {
            "item": "article.card", "title": "h2", "link": "h2 a@href", "content": "p", "image": "img@src",
        }  # fmt: skip


def test_cells_of_a_table_are_no_items() -> None:
    rows = "".join(f"<tr><td><a href=/{one}>The notice {one}</a><td>{one} May 2026</tr>" for one in range(4))

    for text in ("The notice 2", "2 May"):
        assert picked(f"<table class=news>{rows}</table>", text, "item").selectors["item"] == "table.news tr"


def test_items_need_no_links() -> None:
    page = "<ul>" + "".join(f"<li><b>{one} May</b> It rained</li>" for one in range(4)) + "</ul>"

    assert picked(page, "2 May", "item").selectors == {"item": "ul > li", "title": "."}


def test_a_date_is_found_by_its_place_if_nothing_else_names_it() -> None:
    answer = picked(PAGE, "2 May 2026", "date", item="article.card", title="h2")

    assert answer.selectors == {"item": "article.card", "title": "h2", "date": "span:nth-of-type(2)"}
    assert marks(PAGE, parse_selectors("html+css", answer.selectors))["date"] == [
        number(PAGE, f"{one} May 2026") for one in range(1, 5)
    ]


def test_parts_are_found_in_their_item() -> None:
    item = {"item": "article.card"}
    assert picked(PAGE, "story of week 2", "title", **item).selectors == {**item, "title": "h2", "link": "a@href"}
    assert picked(PAGE, "story of week 2", "link", **item).selectors == {**item, "link": "a@href"}
    assert picked(PAGE, "Ann", "author", **item).selectors == {**item, "author": "span.who"}
    assert picked(PAGE, "A view", "image", **item).selectors == {**item, "image": "img@src"}
    assert picked(PAGE, "What happened", "content", **item).selectors == {**item, "content": "p:nth-of-type(2)"}


def test_what_becomes_of_a_value_stays() -> None:
    before = {"item": "article.card", "date": {"selector": "p", "attribute": "title", "format": "%d %B %Y"}}

    assert picked(PAGE, "2 May 2026", "date", **before).selectors["date"] == {
        "selector": "span:nth-of-type(2)", "format": "%d %B %Y",
    }  # fmt: skip


def test_a_pick_that_cannot_be_used_is_explained() -> None:
    assert "outside of the items" in problem(picked(PAGE, "Imprint", "title", item="article.card"))
    assert "pick an item first" in problem(picked(PAGE, "Imprint", "title"))
    assert "Nothing like that repeats" in problem(picked(PAGE, "Imprint", "item"))
    assert "no link" in problem(picked(PAGE, "Ann", "link", item="article.card"))
    assert "not a picture" in problem(picked(PAGE, "Ann", "image", item="article.card"))
    assert "item: The selector ends before" in problem(picked(PAGE, "Ann", "title", item="div["))
    for element, part in ((100_000, "item"), (-1, "item"), (1, "none")):
        assert "load it again" in problem(pick(PAGE, Pick(element, part)))


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.name.partition(".")[0])
def test_every_text_of_a_page_can_be_picked(path: Path) -> None:
    """Whatever is picked as an item, the selectors can be used, and find what was picked."""
    page = path.read_text(encoding="utf-8")
    for each in dict.fromkeys(map(int, re.findall(r'href="#e(\d+)"', outline(page)))):
        answer = pick(page, Pick(each, "item"))
        if answer.problem is None:
            found = marks(page, parse_selectors("html+css", answer.selectors))
            assert len(found["item"]) > 1
            again = pick(page, Pick(each, "title", answer.selectors))
            assert again.problem is None
            assert parse_selectors("html+css", again.selectors).item == answer.selectors["item"]
