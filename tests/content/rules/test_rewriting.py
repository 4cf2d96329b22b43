"""Edge cases of each rewrite rule; docs/rules.md has the usual cases."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.scaling import TIMES, assert_linear, assert_squared
from tidings.content.errors import InvalidRule
from tidings.content.model import ParsedEnclosure
from tidings.content.rules.evaluation import RuleEntry, RuleErrors
from tidings.content.rules.rewrite import NAMES, WITH_ARGUMENTS, apply_rewrites, parse_rewrites, read_calls

pytestmark = pytest.mark.slow


def content(rule: str, before: str, *, url: str = "") -> str:
    changed, warnings = apply_rewrites(RuleEntry(url=url, content=before), parse_rewrites(rule))
    assert not warnings
    return changed.content


UNCHANGED = [
    ("add_image_title", '<img src="a"><img src="b" title=" "><b title="c">d</b>'),
    ("add_mailto_subject", '<a href="mailto:a@example.org">A</a><a href="/?subject=x">B</a>'),
    ("add_dynamic_image", '<img src="a"><div class="data-src">b</div>'),
    ("add_dynamic_image", '<noscript><img src="a"><img src="b"></noscript><noscript><p>c</p></noscript>'),
    ("add_dynamic_iframe", '<iframe src="a"></iframe><img data-src="b">'),
    ("add_youtube_video_from_id", "youtube_id: none"),
    ("use_noscript_figure_images", '<figure><img src="a"></figure><noscript><img src="b"></noscript>'),
    ("convert_text_links", '<a href="/">http://a</a> <pre>http://b</pre> ftp://c xhttp'),
    ("add_hn_links_using_hack", '<a href="https://news.ycombinator.com/">A</a><a href="/item?id=1">B</a>'),
    ("fix_ghost_cards", '<figure class="kg-bookmark-card"><p>No link</p></figure>'),
    ("remove_img_blur_params", '<img src="/a?blur=0"><img src="/a?w=1"><img src="http://[bad?blur=1">'),
    ("base64_decode", "<p>Tomorrow it may rain</p><b>This</b><i>abcdefgh</i>"),
    ("add_pdf_download_link", "x"),
    ("add_enclosure_links", "x"),
]


@pytest.mark.parametrize(("rule", "html"), UNCHANGED)
def test_rules_leave_other_content_unchanged(rule: str, html: str) -> None:
    assert content(rule, html) == html


@pytest.mark.parametrize(
    ("rule", "before", "after"),
    [
        (
            "add_image_title",
            '<img src="a" title="&lt;b&gt; &amp;">',
            '<figure><img src="a" title="&lt;b&gt; &amp;"><figcaption><p>&lt;b&gt; &amp;</p></figcaption></figure>',
        ),
        (
            "add_mailto_subject",
            '<a href="MAILTO:a@b?subject=%3Cb%3E">A</a>',
            '<a href="MAILTO:a@b?subject=%3Cb%3E">A [&lt;b&gt;]</a>',
        ),
        ("add_dynamic_image", '<noscript><img src="a"></noscript>', '<img src="a">'),
        (
            "add_dynamic_image",
            '<img data-380src="s" data-2000src="l">',
            '<img data-380src="s" data-2000src="l" src="l">',
        ),
        ("add_dynamic_image", '<div data-url="a"><div data-src="b">x</div></div>', '<img src="a" alt="">'),
        ("convert_text_links", "(http://a/b_(c))", '(<a href="http://a/b_(c)">http://a/b_(c)</a>)'),
        (
            "convert_text_links",
            "a &lt; http://b/?c&amp;d!",
            'a &lt; <a href="http://b/?c&amp;d">http://b/?c&amp;d</a>!',
        ),
        ("remove_tables", "<table><caption>A</caption><tr><td></td><th>B</th></tr></table>C", "A  B C"),
        ("remove_tables", "<table><tr><td>A<table><tr><td>B</td></tr></table></td></tr></table>", "A B  "),
        ("remove_tables", "A<table><tr><td>B</td></tr></table>C", "A B C"),
        ('remove("div")', "a<div>b<div>c</div></div>", "a"),
        ('remove("*")', "<p>a</p><b>b</b>", ""),
        ("nl2br", "a\r\nb\n", "a<br>b<br>"),
        ("base64_decode", "<p>PGI+aGk8L2I+IQ==</p>", "<p>&lt;b&gt;hi&lt;/b&gt;!</p>"),
        ("remove_img_blur_params", '<img src="/a?w=1&amp;blur=05">', '<img src="/a">'),
        ('replace("\\\\d"|"\\"")', "a1", 'a"'),
        ('replace("\\d+"|"<$0>")', "a12", "a<12>"),
        ('replace("\\n"|"\\n\\n")', "a\nb", "a\n\nb"),
        ('replace("a"|"b"|"c")', "a", "b"),
    ],
)
def test_rules_handle_edge_cases(rule: str, before: str, after: str) -> None:
    assert content(rule, before) == after


@pytest.mark.parametrize(
    ("url", "is_video"),
    [
        ("https://www.youtube.com/watch?v=abcdefghijk", True),
        ("https://m.youtube.com/watch?app=x&v=abcdefghijk&t=1", True),
        ("https://youtube.com/shorts/abcdefghijk", True),
        ("https://youtube.com/shorts/abc", False),
        ("https://youtube.com/watch?v=a%22%3E", False),
        ("https://youtube.com/playlist?v=abcdefghijk", False),
        ("https://youtube.com.example.org/watch?v=abcdefghijk", False),
        ("http://[youtube.com/watch?v=abcdefghijk", False),
        ("", False),
    ],
)
def test_a_youtube_player_needs_a_video_url(url: str, is_video: bool) -> None:
    for rule in ("add_youtube_video", "add_youtube_video_using_invidious_player"):
        assert ("<iframe" in content(rule, "x", url=url)) is is_video


def test_the_invidious_host_is_the_operators_choice() -> None:
    entry = RuleEntry(url="https://youtube.com/watch?v=abcdefghijk", invidious_host="inv.example.org")

    changed, _ = apply_rewrites(entry, parse_rewrites("add_youtube_video_using_invidious_player"))

    assert 'src="https://inv.example.org/embed/abcdefghijk"' in changed.content


def test_consecutive_ghost_cards_become_a_list() -> None:
    card = '<figure class="kg-bookmark-card"><a href="/{0}"><div class="kg-bookmark-title">{0}</div></a></figure>'

    html = content("fix_ghost_cards", f"{card.format(1)}\n{card.format(2)}<p>x</p>{card.format(3)}")

    assert html.split() == [
        *("<ul><li><a", 'href="/1">1</a></li><li><a', 'href="/2">2</a></li></ul>'),
        *("<p>x</p><p><a", 'href="/3">3</a></p>'),
    ]


def test_the_pdf_link_is_put_before_the_content_of_other_rules() -> None:
    html = content('add_pdf_download_link, replace("PDF|a"|"b")', "a", url="https://example.org/a.PDF?x")

    assert html == '<p><a href="https://example.org/a.PDF?x">Download PDF</a></p>b'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("EVERYONE loves «RAIN»", "Everyone Loves «Rain»"),
        ("don't  STOP", "Don't  Stop"),
        ("ÉTÉ", "Été"),
        ("!?", "!?"),
        ("", ""),
    ],
)
def test_titles_in_capitals_become_title_case(before: str, after: str) -> None:
    changed, _ = apply_rewrites(RuleEntry(title=before), parse_rewrites("remove_clickbait"))

    assert changed.title == after


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("", []),
        ("a b,c;d\ne|f", [("a",), ("b",), ("c",), ("d",), ("e",), ("f",)]),
        ('a("x"|"y")b', [("a", "x", "y"), ("b",)]),
        ('a "x" "y"', [("a", "x", "y")]),
        (r'a("\"\\\d\n")', [("a", '"\\\\d\n')]),
        ('a("é ☂")', [("a", "é ☂")]),
        ('a("")', [("a", "")]),
    ],
)
def test_names_and_strings_are_read_with_any_text_in_between(text: str, calls: list[tuple[str, ...]]) -> None:
    read = read_calls(text, field="rewrite_rules", errors=RuleErrors())

    assert [(call.name, *call.arguments) for call in read] == calls
    assert [call.number for call in read] == list(range(1, len(calls) + 1))


def test_a_skipped_rule_changes_nothing_and_the_next_one_is_applied() -> None:
    entry = RuleEntry(title="a", content="<div>" * 10_000)

    changed, warnings = apply_rewrites(entry, parse_rewrites('nl2br, remove("p"), replace_title("a"|"b")'))

    assert (changed.title, changed.content) == ("b", entry.content)
    assert [one.english() for one in warnings] == [
        "Rewrite rule 2 (remove) was skipped: the HTML is nested too deeply."
    ]


ALL_RULES = [
    *sorted(NAMES - set(WITH_ARGUMENTS)),
    *("base64_decode", 'base64_decode("p")', 'remove("b, p > i")', 'replace("(.)b"|"<$1")', 'replace_title("a"|"")'),
]
PIECES = [
    *("<p>", "</p>", "<b>", "</b>", "<div data-src=a>", "</div>", "<figure>", "</figure>", "<noscript>", "</noscript>"),
    *("<img src='?blur=1' title=t>", "<img data-src=b>", "<table>", "<tr>", "<td>", "</table>", "http://a ", "\n", "x"),
    *("<a href=mailto:a?subject=b>", "</a>", "<a href=https://news.ycombinator.com/item?id=1>", "<!--", "-->", "&amp;"),
    *(
        "<div class=kg-bookmark-card>",
        "<p class=kg-bookmark-title>",
        "<iframe data-src=a>",
        "<template>",
        "<svg>",
        "\0",
    ),
    *('youtube_id: "a"', "UmFpbiB0b21vcnJvdw==", "\ud800", "<script>", "</script>", "<select>", "<plaintext>", "<"),
]
pages = st.text() | st.lists(st.sampled_from(PIECES), max_size=20).map("".join)
addresses = st.text() | st.sampled_from(
    ["https://youtube.com/watch?v=abcdefghijk", "https://example.org/a.pdf", "http://[", "javascript:x.pdf"]
)


@given(rules=st.lists(st.sampled_from(ALL_RULES), min_size=1, max_size=4), html=pages, title=st.text(), url=addresses)
def test_every_rule_takes_any_html(rules: list[str], html: str, title: str, url: str) -> None:
    entry = RuleEntry(url=url, title=title, content=html, enclosures=(ParsedEnclosure(url=url),))

    changed, warnings = apply_rewrites(entry, parse_rewrites(",".join(rules)))

    assert isinstance(changed.content, str)
    assert not warnings


@given(text=st.text() | st.lists(st.sampled_from([*ALL_RULES, '"', "|", "(", "replace", "\\"])).map(" ".join))
def test_rules_are_refused_or_can_be_applied(text: str) -> None:
    try:
        rules = parse_rewrites(text)
    except InvalidRule:
        return
    apply_rewrites(RuleEntry(content="<p>a</p>"), rules)


# Pieces, and how often they are repeated. The time for elements in each other may grow with the square of the depth,
# which has a limit of its own.
HUGE = [
    ("<p>http://a ", 20_000, assert_linear),
    ("<div data-src=a>", 4_000, assert_squared),
    ("<figure><noscript><img>", 4_000, assert_squared),
    ("<span class=kg-bookmark-card>", 20_000, assert_linear),
    ("<table><tr><td>", 4_000, assert_squared),
    ("UmFpbiB0b21vcnJvdw==<br>", 5_000, assert_linear),
]


@pytest.mark.parametrize("rule", ALL_RULES)
def test_no_rule_takes_long_on_huge_content(rule: str) -> None:
    rules = parse_rewrites(rule)

    def rewrite(piece: str, count: int) -> None:
        apply_rewrites(RuleEntry(content=piece * count), rules)

    for piece, count, assert_growth in HUGE:
        assert_growth(partial(rewrite, piece), count // TIMES)
