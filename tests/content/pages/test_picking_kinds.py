"""Picking on pages that are read by XPath, and in JSON: outlines, and the selectors for what is picked."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tidings.content.errors import PageUnreadable
from tidings.content.pages import PageDocument, PageKind, PageResult, Pick, parse_selectors, read_document
from tidings.content.pages.xpath_picking import xpath_of

STORED = Path(__file__).with_name("stored")
ROWS = "".join(f"<tr><td><a href=/n/{one}>Notice {one} of the town</a><td>{one + 1} May 2026</tr>" for one in range(4))
TABLE = f"<title>T</title><table id=notices><thead><tr><th>What<th>When</thead><tbody>{ROWS}</table><p>Imprint"
POSTS = {
    "about": {"name": "Town"},
    "posts": [
        {"heading": f"Post {one}", "at": f"2026-05-0{one + 1}", "to": {"page url": f"/p/{one}"}, "parts": ["x", "y"]}
        for one in range(3)
    ],
}
ALLOWED = re.compile(r'</?(?:ul|li|a)>|<li id="e\d+">|<a href="#e\d+">')


def looked_at(source: str, kind: str, **more: Any) -> PageResult:
    result = read_document(PageDocument(source.encode(), "https://site.example/", kind=PageKind(kind), **more))
    assert result.failure == ""
    return result


def number(source: str, kind: str, text: str) -> int:
    outline = looked_at(source, kind, wants_outline=True).outline
    found = re.search(rf'href="#e(\d+)">{re.escape(text)}', outline)
    assert found, outline
    return int(found[1])


def picked(source: str, kind: str, text: str, part: str, selectors: Mapping[str, Any] | None = None) -> dict[str, Any]:
    wanted = Pick(number(source, kind, text), part, dict(selectors or {}))
    answer = looked_at(source, kind, pick=wanted).picked
    assert answer is not None
    assert answer.problem is None, answer.problem
    return answer.selectors


def problem(source: str, kind: str, wanted: Pick) -> str:
    answer = looked_at(source, kind, pick=wanted).picked
    assert answer is not None
    assert answer.problem is not None
    return answer.problem.english()


def read(source: str, kind: str, selectors: Mapping[str, Any]) -> PageResult:
    result = looked_at(source, kind, selectors=parse_selectors(kind, dict(selectors)), wants_marks=True)
    assert result.reading is not None, result.problem
    return result


@pytest.mark.parametrize(
    ("css", "xpath"),
    [
        ("h2 a@href", ".//h2//a/@href"),
        ("@href", "@href"),
        (".", "."),
        ("div:nth-of-type(2) > span:nth-of-type(1)", ".//div[2]/span[1]"),
        ("a.more", ".//a[contains(concat(' ', normalize-space(@class), ' '), ' more ')]"),
        (".date", ".//*[contains(concat(' ', normalize-space(@class), ' '), ' date ')]"),
        ("#main > li", ".//*[@id='main']/li"),
        ("tbody > tr", ".//tr[not(parent::thead)]"),
        ("table > tbody > tr", ".//table//tr[not(parent::thead)]"),
    ],
)
def test_a_picked_selector_becomes_xpath(css: str, xpath: str) -> None:
    assert xpath_of(css, is_item=False) == xpath


@pytest.mark.parametrize("page", [TABLE, TABLE.replace("<tbody>", "").replace("id=notices", "")])
def test_picks_on_a_page_become_xpath_that_finds_them(page: str) -> None:
    selectors = picked(page, "html+xpath", "Notice 2", "item")
    selectors = picked(page, "html+xpath", "Notice 1", "title", selectors)
    selectors = picked(page, "html+xpath", "3 May", "date", selectors)

    assert selectors["date"] == ".//td[2]"
    result = read(page, "html+xpath", selectors)
    assert result.reading is not None
    found = [entry for entry in result.reading.feed.entries if entry.url]
    assert [(entry.title, entry.url) for entry in found] == [
        (f"Notice {one} of the town", f"https://site.example/n/{one}") for one in range(4)
    ]
    assert all(entry.published_at for entry in found)
    assert number(page, "html+xpath", "2 May") in result.marks["date"]


def test_what_was_typed_as_xpath_stays() -> None:
    before = {"item": "//tr[td]", "title": "normalize-space(td[1])", "date": {"selector": "x", "format": "%d %B %Y"}}

    after = picked(TABLE, "html+xpath", "2 May", "date", before)

    assert after == before | {"date": {"selector": ".//td[2]", "format": "%d %B %Y"}}


def test_picks_in_json_become_paths() -> None:
    source = json.dumps(POSTS)
    selectors = picked(source, "json", "heading: Post 1", "item")
    assert selectors == {"item": "$.posts[*]", "title": "heading"}
    selectors = picked(source, "json", "page url: /p/2", "link", selectors)
    selectors = picked(source, "json", "at: 2026-05-02", "date", selectors)

    assert selectors == {"item": "$.posts[*]", "title": "heading", "link": "to['page url']", "date": "at"}
    result = read(source, "json", selectors)
    assert result.reading is not None
    assert [entry.url for entry in result.reading.feed.entries] == [f"https://site.example/p/{one}" for one in range(3)]
    assert result.marks["date"] == [number(source, "json", f"at: 2026-05-0{one}") for one in range(1, 4)]
    assert len(result.marks["item"]) == 3


def test_picks_in_the_json_of_a_script_become_paths() -> None:
    page = f'<script id="__NEXT_DATA__">{json.dumps(POSTS)}</script><script id=own>{json.dumps([POSTS])}</script>'

    assert picked(page, "json in html", "heading: Post 1", "item")["item"] == "$.posts[*]"
    own = looked_at(page, "json in html", wants_outline=True, script="#own").outline
    assert "$: [1]" in own


def test_an_object_of_objects_is_a_list_where_there_is_none() -> None:
    source = json.dumps({"by id": {f"n{one}": {"title": {"text": f"Post {one}"}, "x": {}} for one in range(3)}})
    nested = json.dumps([{"title": {"text": f"Post {one}"}, "body": {"text": "x"}} for one in range(3)])

    assert picked(source, "json", "n1", "item")["item"] == "$['by id'][*]"
    assert picked(nested, "json", "text: Post 1", "item") == {"item": "$[*]", "title": "title.text"}


def test_an_outline_of_json_has_nothing_but_cut_texts() -> None:
    hostile: dict[str, Any] = {
        "<script>a</script>": "<img src=x onerror=a>",
        'b"onclick=c': ["d" * 1000, None, True, 1.5, {}, []],
    }
    outline = looked_at(json.dumps([hostile] * 3), "json", wants_outline=True).outline

    assert "<" not in ALLOWED.sub("", outline)
    assert "d" * 81 not in outline
    assert outline.count("<ul>") == outline.count("</ul>")
    assert outline.count("<li ") == outline.count("</li>")


@pytest.mark.parametrize("shape", ["long", "deep", "wide"])
def test_an_outline_of_json_ends_at_its_limits(shape: str) -> None:
    source = {
        # 20 MB, more than is ever fetched.
        "long": lambda: json.dumps([{"a": ["x" * 500] * 100}] * 400),
        "deep": lambda: '{"a":' * 2_000 + "1" + "}" * 2_000,
        "wide": lambda: json.dumps({str(one): {str(two): two for two in range(60)} for one in range(5_000)}),
    }[shape]()

    assert len(looked_at(source, "json", wants_outline=True).outline) < 1_200_000


def test_a_pick_that_cannot_be_used_is_explained() -> None:
    source = json.dumps(POSTS)
    name = number(source, "json", "name: Town")
    assert "outside of the items" in problem(source, "json", Pick(name, "title", {"item": "$.posts"}))
    assert "pick an item first" in problem(source, "json", Pick(name, "title"))
    assert "Nothing like that repeats" in problem(source, "json", Pick(name, "item"))
    assert "item: the path cannot be read" in problem(source, "json", Pick(name, "title", {"item": "$["}))
    assert "load it again" in problem(source, "json", Pick(10_000, "item"))
    assert "item: XPath" in problem(TABLE, "html+xpath", Pick(5, "title", {"item": "//tr["}))
    assert "outside of the items" in problem(TABLE, "html+xpath", Pick(2, "title", {"item": "//tr"}))


def test_a_document_without_json_says_so() -> None:
    for wanted in ({"wants_outline": True}, {"pick": Pick(1, "item")}):
        result = looked_at("<p>Hello", "json", **wanted)
        assert result.code == PageUnreadable.code
        assert result.problem is not None
        assert "answers with a page" in result.problem.english()


@pytest.mark.parametrize("name", sorted(path.name.partition(".")[0] for path in STORED.glob("*.expected.json")))
def test_every_text_can_be_picked(name: str) -> None:
    """Whatever is picked as an item, by the kind of each stored page, the selectors can be used."""
    kind = json.loads((STORED / f"{name}.expected.json").read_text())["kind"]
    kind = "html+xpath" if kind == "html+css" else kind
    (page,) = STORED.glob(f"{name}.page.*")
    source = page.read_text(encoding="utf-8")
    outline = looked_at(source, kind, wants_outline=True).outline
    for each in dict.fromkeys(map(int, re.findall(r'href="#e(\d+)"', outline)[:40])):
        answer = looked_at(source, kind, pick=Pick(each, "item")).picked
        assert answer is not None
        if answer.problem is None:
            assert read(source, kind, answer.selectors).marks["item"]
