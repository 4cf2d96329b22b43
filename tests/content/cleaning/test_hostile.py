"""Hostile content: known attacks, damaged and deeply nested documents, and generated input."""

from __future__ import annotations

import json
import lzma
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from content.cleaning.trees import PAGE, cleaned, dangers, tree, words
from scoring.archives import FOLDER
from support.random_examples import examples, in_long_run
from support.scaling import TIMES, assert_linear
from tidings.content.cleaning import clean, clean_with_text, text_of
from tidings.content.cleaning.text import normalize_words

pytestmark = pytest.mark.slow

PAYLOADS = FOLDER / "hostile.json.xz"

NAMES = """
    a a b p p div span strike tt
    li ul dd dt h1 h2 pre table tr td th caption colgroup blockquote ruby rt details summary
    figure img video picture source mjx-math mjx-assistive-mml
    iframe svg math mi mtext annotation-xml foreignObject desc title style script template
    noscript textarea select option button object marquee form xmp plaintext font body html frameset
"""
ATTRIBUTES = [
    "",
    ' href="x"',
    " href='java\tscript:alert(1)'",
    ' src="/y.png"',
    " onload=alert(1)",
    " dir=rtl",
    " id=x",
    ' type="math/tex"',
    ' class="line code" aria-hidden=true',
    ' style="white-space:pre"',
    " role=button",
    ' class="MathJax_Preview" aria-hidden=true',
    ' class="emoji" alt="&lt;b onclick=x&gt;\U0001f600"',
    ' srcset="/a.png 100w, javascript:alert(1) 2000w" media="x"',
    " name=x href='#x'",
    " href='https://blog.example/posts/rain.html#x'",
    " href='#y' id='y\"><img src=x onerror=alert(1)>'",
    " hidden",
    ' encoding="text/html"',
    ' title="</title><img src=x onerror=alert(1)>"',
    ' class="language-x lazy" data-src="/z.png"',
    ' style="display:none"',
    ' style="font-weight:bold;text-decoration:line-through"',
    ' style="display:block;vertical-align:super"',
]
TEXTS = [
    "x",
    " ",
    "\n",
    "1",
    "a\n",
    "&lt;img src=x onerror=alert(1)&gt;",
    "&amp;lt;",
    "-->",
    "<!--",
    "]]>",
    "<![CDATA[",
    "\0",
    "\r",
    "<",
]

tags = st.builds(
    lambda slash, name, attribute, end: f"<{slash}{name}{attribute if not slash else ''}{end}",
    st.sampled_from(["", "", "/"]),
    st.sampled_from(words(NAMES)),
    st.sampled_from(ATTRIBUTES),
    st.sampled_from([">", ">", "/>", ""]),
)
html = st.lists(tags | st.sampled_from(TEXTS), max_size=25).map("".join)


def check(page: str, source: str) -> None:
    assert dangers(page) == [], source
    assert tree(cleaned(page)) == tree(page), source


def payloads() -> list[str]:
    return [case["payload"] for case in json.loads(lzma.decompress(PAYLOADS.read_bytes()))]


@pytest.mark.skipif(not PAYLOADS.exists(), reason="the corpus hostile is not on this machine")
def test_known_attacks_are_removed() -> None:
    for payload in payloads():
        check(cleaned(payload), payload)


@pytest.mark.skipif(not PAYLOADS.exists(), reason="the corpus hostile is not on this machine")
@pytest.mark.parametrize(
    "frame", ["<math><mtext>{}", "<svg><desc>{}", "<table>{}", "<select>{}", "<a href=x>{}</a>", "<p>{}"]
)
def test_attacks_in_foreign_content_and_raw_text_are_removed(frame: str) -> None:
    for payload in payloads()[::3]:
        hidden = frame.format(payload)
        check(cleaned(hidden), hidden)


@given(html)
@settings(max_examples=examples(100))
def test_any_mixture_of_tags_is_made_safe(source: str) -> None:
    check(cleaned(source), source)


@given(html)
@settings(max_examples=examples(100))
def test_the_text_of_any_mixture_is_the_one_on_the_page(source: str) -> None:
    page = clean_with_text(source, base_url=PAGE)
    assert normalize_words(page.text) == text_of(page.html)


@given(st.text())
@settings(max_examples=examples(75))
def test_any_text_is_cleaned_without_errors(source: str) -> None:
    check(cleaned(source), source)
    assert text_of(cleaned(source)).split() == text_of(cleaned(cleaned(source))).split()


@pytest.mark.parametrize(
    "source",
    [
        "\ud800<b>\udfff</b>&",
        "\ud83d",
        "<a href='\ud800'>x",
        "\ufeff\ufeffx",
        "\0<b\0>x",
        "&#0;&#xD800;&#x110000;&#13;",
    ],
)
def test_lone_surrogates_cause_no_errors(source: str) -> None:
    page = cleaned(source)
    check(page, source)
    page.encode()
    assert "\0" not in page


N = in_long_run(100_000, otherwise=30_000)
FONTS = "".join(f"<b a{number}>" for number in range(700))


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda n: "<div>" * n + "x", id="deep"),
        pytest.param(lambda n: "<blockquote>" * n + "x", id="deep and kept"),
        pytest.param(lambda n: "<ul><li>" * n + "x", id="lists in lists"),
        pytest.param(lambda n: "<li><dd>" * n + "x", id="items in items"),
        pytest.param(lambda n: "<table><tr><td>" * (n // 4) + "x", id="tables in tables"),
        pytest.param(lambda n: "<div>" * n + "</p>" * n + "x", id="ends of nothing"),
        pytest.param(lambda n: "<math>" + "<mrow>" * n + "x", id="a deep formula"),
        pytest.param(lambda n: "<svg>" + "<g>" * n + "<text>x", id="a deep drawing"),
        pytest.param(lambda n: "<div><a title='</div>'>" * n + "x", id="ends inside of values"),
        pytest.param(lambda n: "<div><!--</div>-->" * n + "x", id="ends inside of comments"),
        pytest.param(lambda n: "<div><script></div></script>" * n + "x", id="ends inside of scripts"),
        pytest.param(lambda n: "<div><table><tr><td></div></table>" * (n // 4) + "x", id="ends behind a scope"),
        pytest.param(lambda n: "<p>" + FONTS * 20 + "<p>x" * n, id="unclosed formatting"),
        pytest.param(lambda n: "<a " + " ".join(f"a{number}" for number in range(n)) + ">x", id="many attributes"),
        pytest.param(lambda n: "<img srcset='" + "a 1x," * n + "' src=y>x", id="many candidates"),
        pytest.param(lambda n: "<img src='" + "-blank" * n + "'>x", id="a picture named after many placeholders"),
        pytest.param(lambda n: "<!--" * n, id="unclosed comments"),
        pytest.param(lambda n: "<a title='" * n, id="unclosed values"),
        pytest.param(lambda n: "<" * n, id="angle brackets"),
    ],
)
def test_cleaning_takes_linear_time(make: Callable[[int], str]) -> None:
    pages = {n: make(n) for n in (N // TIMES, N)}
    assert_linear(lambda n: cleaned(pages[n]), N // TIMES)
    source, page = pages[N], cleaned(pages[N])
    assert tree(cleaned(page[:50_000])) is not None
    assert cleaned(page) == page
    assert text_of(page).endswith("x") or "x" not in source.rpartition(">")[2]


def test_a_small_document_does_not_become_a_large_one() -> None:
    source = "<p>" + FONTS + "<p>x" * 700
    assert len(cleaned(source)) < 20 * len(source)


def test_content_nested_too_deeply_is_kept_as_text() -> None:
    page = cleaned("<blockquote>" * 300 + "a<table><tr><td>b</table><p>c")
    assert text_of(page).split() == ["a", "b", "c"]
    assert "<table" not in page
    assert clean(page, base_url=PAGE) == page


def test_a_long_article_with_careless_markup_keeps_its_structure() -> None:
    rows = "".join(f"<p>a <b>b <i>c</b> d</i><ul><li>e<li>f</ul><td>{number}" for number in range(500))
    page = cleaned(rows)
    assert page.count("<p>") >= 500
    assert page.count("<li>") == 1_000
