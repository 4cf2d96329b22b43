"""Footnotes: links within an article lead to their targets."""

from __future__ import annotations

import pytest

from content.cleaning.trees import PAGE, cleaned
from tidings.content.cleaning import clean, clean_with_text

LINK = '<p>Text<a href="#n">1</a></p>'
CLEAN_LINK = '<p>Text<a href="#user-content-n">1</a></p>'
ID = 'id="user-content-n"'


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ('<p id="n">x</p>', f"<p {ID}>x</p>"),
        ('<aside id="n">x</aside>', f"<aside {ID}>x</aside>"),
        ('<blockquote id="n">x</blockquote>', f"<blockquote {ID}>x</blockquote>"),
        ('<figure id="n">x</figure>', f"<figure {ID}>x</figure>"),
        ('<p><b id="n">x</b></p>', f"<p><b {ID}>x</b></p>"),
        ('<p lang="de" id="n">x</p>', f'<p {ID} lang="de">x</p>'),
        ('<table id="n"><tr><td>x</td></tr></table>', f"<table {ID}><tbody><tr><td>x</td></tr></tbody></table>"),
        ('<table><tr id="n"><td>x</td></tr></table>', f"<table><tbody><tr {ID}><td>x</td></tr></tbody></table>"),
        ('<table><tr><td id="n">x</td></tr></table>', f"<table><tbody><tr><td {ID}>x</td></tr></tbody></table>"),
        ('<ol><li id="n">x</li></ol>', f"<ol><li {ID}>x</li></ol>"),
        ('<dl><dt id="n">x</dt></dl>', f"<dl><dt {ID}>x</dt></dl>"),
        ('<div id="n">x</div>', f"<span {ID}></span>x"),
        ('<section id="n"><p>x</p></section>', f"<span {ID}></span><p>x</p>"),
        ('<p><span id="n">1</span> x</p>', f"<p><span {ID}></span>1 x</p>"),
        ('<p><custom-note id="n">1</custom-note> x</p>', f"<p><span {ID}></span>1 x</p>"),
        ('<p><a name="n"></a>x</p>', f"<p><span {ID}></span>x</p>"),
        ('<p><a id="n">x</a></p>', f"<p><span {ID}></span>x</p>"),
        ('<p><b id="n" style="font-weight:normal">x</b></p>', f"<p><span {ID}></span>x</p>"),
        ("<div>a</div><div id='n'>b</div>", f"a<br><span {ID}></span>b"),
        ('<p id="n">x</p><p id="n">y</p>', f"<p {ID}>x</p><p>y</p>"),
        ('<pre><code><span id="n">\nx</span></code></pre>', f"<pre><code><span {ID}></span>\nx</code></pre>"),
    ],
)
def test_an_id_that_a_link_names_is_kept_on_any_element(target: str, expected: str) -> None:
    for html, right in ((LINK + target, CLEAN_LINK + expected), (target + LINK, expected + CLEAN_LINK)):
        assert cleaned(html) == right
        assert cleaned(right) == right


@pytest.mark.parametrize("target", ['<img src="a.png" id="n">', '<video src="a.mp4" id="n"></video>'])
def test_a_link_to_a_picture_or_player_leads_to_its_place(target: str) -> None:
    assert f"<span {ID}></span><{target[1:4]}" in cleaned(LINK + target)


def test_a_link_may_be_a_target_by_its_name() -> None:
    page = cleaned(LINK + '<a name="n" href="/x">y</a>')
    assert f'<a {ID} href="https://blog.example/x"' in page
    assert cleaned(page) == page


def test_other_ids_of_such_elements_are_removed() -> None:
    assert cleaned(f'{LINK}<p id="m">x</p><div id="body">y</div>') == f"{CLEAN_LINK}<p>x</p>y"
    assert cleaned('<p id="n">x</p>') == "<p>x</p>"


def test_a_link_that_is_left_out_keeps_no_id() -> None:
    assert cleaned('<!-- <a href="#n"> --><a hidden href="#n">1</a><p id="n">x</p>') == "<p>x</p>"


def test_names_are_compared_as_browsers_do() -> None:
    page = cleaned('<a href="#anm-%C3%BC">1</a><p id="anm-ü">x</p><a href="#fn:1">2</a><p id="fn:1">y</p>')
    assert '<p id="user-content-anm-ü">' in page
    assert '<p id="user-content-fn:1">' in page


@pytest.mark.parametrize(
    "href",
    [
        PAGE + "#n",
        PAGE.replace("https://", "http://www.") + "/#n",
        "rain.html#n",
        "/posts/rain.html#n",
        "/posts/rain.html?utm_source=feed#n",
    ],
)
def test_the_address_of_the_article_with_a_known_fragment_is_a_jump_inside(href: str) -> None:
    assert cleaned(f'<p>Text<a href="{href}">1</a></p><p id="n">x</p>') == f"{CLEAN_LINK}<p {ID}>x</p>"


@pytest.mark.parametrize(
    "href", [PAGE + "#m", PAGE, PAGE + "#", "other.html#n", PAGE + "?p=2#n", "https://blog.example/#n"]
)
def test_any_other_address_stays_a_link_to_the_web(href: str) -> None:
    page = cleaned(f'<a href="{href}">1</a><p id="n">x</p>')
    assert '<a href="https://blog.example/' in page
    assert page.endswith("<p>x</p>")


def test_the_article_may_have_another_address_than_the_base_of_its_links() -> None:
    html = '<a href="https://blog.example/p/1#n">1</a><p id="n">x</p>'
    page = clean(html, base_url="https://cdn.example/", page_url="https://blog.example/p/1/")
    assert page == f'<a href="#user-content-n">1</a><p {ID}>x</p>'


def test_an_id_cannot_end_its_attribute() -> None:
    page = cleaned("""<a href='#x"><b>y'>1</a><p id='x"><b>y'>z</p>""")
    assert '<p id="user-content-x&quot;&gt;&lt;b&gt;y">z</p>' in page


def test_anchors_are_no_part_of_the_text() -> None:
    assert clean_with_text('<a href="#n">1</a>a<span id="n">b</span>', base_url=PAGE).text == "1ab"
