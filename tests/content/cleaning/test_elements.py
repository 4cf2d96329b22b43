"""Which elements and attributes are kept, one case for each rule."""

from __future__ import annotations

import pytest

from content.cleaning.trees import cleaned, tree, words

KEPT = words("""
    abbr acronym aside b bdi bdo big blockquote cite code dd del details dfn dl dt em figure figcaption
    h1 h2 h3 h4 h5 h6 i ins kbd li mark ol p picture pre q ruby s samp small strong sub summary sup time u ul var
""")
VOID = ["br", "hr", "wbr"]
LEFT_OUT = words("""
    address article center custom-element div fieldset font footer form header label main nav nobr object
    section span
""")
DROPPED = [
    "script",
    "style",
    "noscript",
    "template",
    "noembed",
    "noframes",
    "title",
    "iframe",
    "select",
    "textarea",
    "button",
]


@pytest.mark.parametrize("name", KEPT)
def test_an_allowed_element_is_kept(name: str) -> None:
    assert tree(cleaned(f"a<{name}>b</{name}>c")) == tree(f"a<{name}>b</{name}>c")


@pytest.mark.parametrize("name", VOID)
def test_an_element_without_content_stays(name: str) -> None:
    assert tree(cleaned(f"a<{name}>b")) == tree(f"a<{name}>b")


@pytest.mark.parametrize("name", LEFT_OUT)
def test_any_other_element_is_removed_and_its_content_stays(name: str) -> None:
    assert cleaned(f"<p>a <em>b</em></p><{name} class=x><em>c</em></{name}>") == "<p>a <em>b</em></p><em>c</em>"


@pytest.mark.parametrize("name", DROPPED)
def test_an_invisible_element_is_removed_with_its_content(name: str) -> None:
    assert cleaned(f"a<{name}>b</{name}>c") == "ac"


def test_a_table_is_kept_complete() -> None:
    table = (
        "<table><caption>Rain</caption><colgroup><col span=2><col></colgroup><thead><tr><th scope=col>Day</th>"
        "</tr></thead><tbody><tr><td colspan=2 rowspan=3>x</td></tr></tbody><tfoot><tr><td>y</td></tr></tfoot>"
        "</table>"
    )
    assert tree(cleaned(table)) == tree(table)


def test_comments_are_removed() -> None:
    assert cleaned("a<!-- b --><![CDATA[ c ]]><? d ?>e") == "ae"


@pytest.mark.parametrize(
    "html",
    [
        '<h2 id="user-content-rain">x</h2>',
        '<sup id="user-content-fn1">1</sup>',
        '<ul id="user-content-a"><li id="user-content-b">x</li></ul>',
        '<dl id="user-content-a"><dt id="user-content-b">x</dt><dd id="user-content-c">y</dd></dl>',
        '<ol start="3" reversed type="a"><li value="7">x</li></ol>',
        '<ol start="-3"><li value="-7">x</li></ol>',
        '<abbr title="World Wide Web">WWW</abbr>',
        '<time datetime="2026-11-21">today</time>',
        '<p dir="rtl" lang="he">x</p>',
        '<p lang="he">x</p>',
        '<bdo dir="rtl">x</bdo>',
        "<details open><summary>x</summary>y</details>",
        '<pre><code class="language-python">x = 1\n</code></pre>',
        '<pre class="language-c++">x</pre>',
        '<blockquote cite="https://a.example/b">x</blockquote>',
        '<q cite="https://a.example/b">x</q>',
        '<del cite="https://a.example/b" datetime="2026-11-21">x</del>',
        '<div dir="rtl"><p>x</p></div>',
        '<p>a<span dir="ltr">b</span></p>',
    ],
)
def test_an_allowed_attribute_is_kept(html: str) -> None:
    assert tree(cleaned(html)) == tree(html)


@pytest.mark.parametrize(
    "html",
    [
        "<p class=x>a</p>",
        "<p style='color: red'>a</p>",
        "<p id=x>a</p>",
        "<p onclick=alert(1)>a</p>",
        "<p dir=sideways>a</p>",
        "<div dir=sideways><p>a</p></div>",
        "<p lang='de\" onclick=\"x'>a</p>",
        "<p data-x=1 aria-label=x role=dialog tabindex=1 contenteditable draggable=true>a</p>",
        "<p background=x.png align=center>a</p>",
    ],
)
def test_any_other_attribute_is_removed(html: str) -> None:
    assert cleaned(html) == "<p>a</p>"


@pytest.mark.parametrize("bad", ["start=x", "start=1e9", "type=z", "start='1 onclick=x'"])
def test_an_invalid_number_is_removed(bad: str) -> None:
    assert cleaned(f"<ol {bad}><li>a</li></ol>") == "<ol><li>a</li></ol>"


def test_of_all_classes_only_the_language_of_code_stays() -> None:
    html = '<code class="highlight lang-rust line-numbers">x</code><p class="language-rust">y</p>'
    assert cleaned(html) == '<code class="language-rust">x</code><p>y</p>'


@pytest.mark.parametrize(
    "attribute",
    [
        "hidden",
        'hidden=""',
        "hidden=until-found",
        'style="display:none"',
        'style="color: red; DISPLAY : none !important"',
        'style="visibility: hidden"',
    ],
)
@pytest.mark.parametrize("name", ["p", "div", "span", "a href=x", "img src=x.png", "table", "video src=x.mp4"])
def test_what_the_publisher_hides_stays_hidden(name: str, attribute: str) -> None:
    end = name.partition(" ")[0]
    assert cleaned(f"a<{name} {attribute}><b>b</b></{end}>").replace("<b>b</b>", "") == "a"


def test_styles_that_do_not_hide_an_element_are_ignored() -> None:
    assert cleaned('<span aria-hidden="true">a</span><p style="overflow: hidden">b</p>') == "a<p>b</p>"


def test_of_a_formula_written_twice_the_mathml_is_kept() -> None:
    html = (
        '<span class="katex"><span class="katex-mathml"><math><mi>x</mi></math></span>'
        '<span class="katex-html" aria-hidden="true"><span>x</span></span></span>'
    )
    assert cleaned(html).count("x</mi>") == 1
    assert cleaned(html).endswith("</math>")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<div>a</div><div>b</div>", "a<br>b"),
        ("a<div>b</div>c", "a<br>b<br>c"),
        ("<div>a</div> <div> </div> <div>b</div>", "a   <br>b"),
        ("<div><b>a</b></div><div><i>b</i></div>", "<b>a</b><br><i>b</i>"),
        ("<div><p>a</p></div><div><p>b</p></div>", "<p>a</p><p>b</p>"),
        ("<div>a</div><ul><li>b</li></ul><div>c</div>", "a<ul><li>b</li></ul>c"),
        ("<div><div><div>a</div></div></div>", "a"),
        ("<span>a</span><span>b</span>", "ab"),
    ],
)
def test_a_removed_block_element_still_ends_the_line(html: str, expected: str) -> None:
    assert cleaned(html) == expected


@pytest.mark.parametrize("html", ["<pre>\n\na</pre>", "<pre>\na</pre>", "<pre><!-- -->\n\na</pre>"])
def test_code_keeps_its_line_feeds(html: str) -> None:
    assert tree(cleaned(html)) == tree(html.replace("<!-- -->", "\n"))


def test_text_without_markup_is_only_escaped() -> None:
    assert cleaned("1 > 0\r\nand so on \0") == "1 &gt; 0\nand so on "
