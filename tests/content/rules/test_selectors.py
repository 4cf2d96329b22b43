"""Selectors find the same as the engine, in document order, within their budget."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser, LexborNode

from support.random_examples import examples
from tidings.content.rules.evaluation import RuleBudget, RuleBudgetExceeded
from tidings.content.rules.pipeline import scrape
from tidings.content.rules.selectors import parse_selector, select

pytestmark = pytest.mark.slow

PAGE = """<body><main id="m"><h1>Rain</h1><article class="a b"><p>One</p><!-- x --><p class="ad">Two</p>
<div><p lang="en">Three</p></div></article></main><p>Four</p></body>"""


@pytest.mark.parametrize(
    ("selector", "result"),
    [
        ("h1", "<h1>Rain</h1>"),
        ("table", None),
        ("p.ad, h1", '<h1>Rain</h1><p class="ad">Two</p>'),
        ("h1, h1, main h1", "<h1>Rain</h1>"),
        ("article > p", '<p>One</p><p class="ad">Two</p>'),
        ("article p[lang]", '<p lang="en">Three</p>'),
        ("p + p", '<p class="ad">Two</p>'),
        ("h1 ~ article div", '<div><p lang="en">Three</p></div>'),
        ("main ~ p", "<p>Four</p>"),
        ("main + p , article>p.ad", '<p class="ad">Two</p><p>Four</p>'),
        ("div, div p", '<div><p lang="en">Three</p></div><p lang="en">Three</p>'),
        ("article:has(.ad) > p:not(.ad)", "<p>One</p>"),
        ("p:nth-child( 2n + 1 )", '<p>One</p><p lang="en">Three</p>'),
        ("#m /* the main part */ .a.b>p:first-child", "<p>One</p>"),
        ("p:is(.ad, [lang])", '<p class="ad">Two</p><p lang="en">Three</p>'),
        ("P.ad", '<p class="ad">Two</p>'),
    ],
)
def test_all_matches_are_joined_in_the_order_of_the_page(selector: str, result: str | None) -> None:
    assert scrape(PAGE, parse_selector(selector)) == result


trees = st.recursive(
    st.just("x"),
    lambda inner: st.builds(
        "<{0} class={1}>{2}</{0}>".format,
        st.sampled_from(["b", "i", "u"]),
        st.sampled_from(["p", "q"]),
        st.lists(inner, max_size=3).map("".join),
    ),
    max_leaves=12,
)
compounds = st.sampled_from(
    ["b", "i", "u", "*", ".p", ".q", "b.p", ":not(.p)", ":first-child", "i:last-child", ":has(b)"]
)
# Pairs of a combinator and the compound behind it; the combinator of the first pair is left out.
paths = st.lists(
    st.tuples(st.sampled_from([" ", " > ", " + ", " ~ ", ">", "+\n", "\t~ "]), compounds), min_size=1, max_size=4
)


def combine(tree: LexborHTMLParser, path: Sequence[tuple[str, str]]) -> list[int]:
    """Return the ids of the nodes that a path matches, by trying every combination of nodes (Selectors 4, section 4).

    The engine matches single compounds only: of `:not(.p) b`, it takes a `b.p` in a `b.p` for a match.
    """
    matched = [{node.mem_id for node in tree.css(compound)} for _, compound in path]

    def is_match(node: LexborNode, step: int) -> bool:
        if node.mem_id not in matched[step]:
            return False
        return step == 0 or any(is_match(one, step - 1) for one in related(node, path[step][0].strip()))

    return [node.mem_id for node in tree.css("*") if is_match(node, len(path) - 1)]


def related(node: LexborNode, combinator: str) -> list[LexborNode]:
    """Return the elements that a combinator connects with a node, the nearest first."""
    siblings = combinator in ("+", "~")
    found = []
    while (other := node.prev if siblings else node.parent) is not None:
        node = other
        if node.is_element_node:
            found.append(node)
    return found[:1] if combinator in (">", "+") else found


@settings(max_examples=examples(75))
@given(html=trees, path=paths)
@example(html="<b class=p><b class=p>x</b></b>", path=[(" ", ":not(.p)"), (" ", "b")])
@example(html="<i class=p><b class=p>x</b></i>", path=[(" ", ":not(.p)"), (" > ", "b")])
@example(html="<b class=p></b><i class=q></i><u class=p></u>", path=[(" ", "b"), (" + ", "u")])
@example(html="<b class=p><i class=q><u class=p></u></i></b>", path=[(" ", "b"), (" > ", "u")])
def test_following_combinators_finds_what_trying_every_combination_finds(
    html: str, path: list[tuple[str, str]]
) -> None:
    tree = LexborHTMLParser(f"<div>{html}</div>")
    selector = "".join(f"{combinator}{compound}" for combinator, compound in path)[len(path[0][0]) :]

    ours = [node.mem_id for node in select(tree, parse_selector(selector), RuleBudget())]

    assert ours == combine(tree, path)


HOSTILE_PAGES = {
    "flat": "<p>x" * 20_000,
    "deep": "<span>" * 20_000,
    "deep blocks": "<div>" * 4_900 + "<p>x",
    "bushy": "<div><p>x<b>y</b></p>" * 4_900,
    "too deep": "<div>" * 100_000,
    "formatting left open": "<b><p>" * 50_000,
}
DEMANDING = [
    *("x * * * * * * *", "* * * * * * x", "* ~ * ~ * ~ * ~ *", "p:nth-last-child(2n)", ":has(~ x)", ":root *"),
    *("*:has(*:has(*:has(x)))", "*:has(* * * x)", "*:not(* * * x)", "p:last-of-type", "div > div > div p"),
]


@pytest.mark.parametrize("page", HOSTILE_PAGES)
def test_any_selector_ends_within_its_budget(page: str) -> None:
    easy_s = processor_time_s("flat", "x")

    for selector in DEMANDING:
        # It is ten times as much at most; without a budget it is minutes.
        assert processor_time_s(page, selector) < 150 * easy_s


def processor_time_s(page: str, selector: str) -> float:
    started = time.thread_time()
    with suppress(RuleBudgetExceeded):
        scrape(HOSTILE_PAGES[page], parse_selector(selector))
    return time.thread_time() - started


def test_signs_inside_strings_do_not_count_towards_the_budget() -> None:
    page = "<p title='a b ~ c'>x</p>" * 20_000

    assert scrape(page, parse_selector('p:not([title="a b ~ c :has( d"])')) is not None
