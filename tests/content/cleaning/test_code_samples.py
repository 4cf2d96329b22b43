"""Code that a script on the publisher's page laid out, and the buttons next to it."""

from __future__ import annotations

import pytest

from content.cleaning.trees import cleaned

LONG = "A sentence of an article. " * 20


@pytest.mark.parametrize(
    "lines",
    [
        "<div>a</div><div>  b</div>",
        "<div>a</div>\n<div>  b</div>",
        '<div class="line"><div class="code">a</div></div><div class="line"><div class="code">  b</div></div>',
        '<span class="line">a</span>\n<span class="line">  b</span>',
        '<span class="line">a</span><span class="line">  b</span>',
        '<span class="line">a\n</span><span class="line">  b</span>',
        '<span style="display:block">a</span><span style="display:block">  b</span>',
        '<span class="line"><span class="ln">1</span>a</span>\n<span class="line"><span class="ln">2</span>  b</span>',
        '<span aria-hidden="true">1</span>a\n<span aria-hidden="true">2</span>  b',
        '<span style="-webkit-user-select:none;user-select:none">1 </span>a\n<i></i>  b',
        "<pre>a</pre><pre>  b</pre>",
        '<table><tr><td class="hljs-ln-numbers">1</td><td>a</td></tr><tr><td>2</td><td>  b</td></tr></table>',
    ],
)
def test_each_line_of_code_is_a_line_with_its_indentation(lines: str) -> None:
    page = cleaned(f"<pre><code>{lines}</code></pre>")
    assert page.replace("<i></i>", "") == "<pre><code>a\n  b</code></pre>"
    assert cleaned(page) == page


def test_empty_lines_of_code_stay() -> None:
    assert cleaned("<pre><div>a</div><div>\n</div><div>b</div></pre>") == "<pre>a\n\nb</pre>"
    assert cleaned('<pre><b class="line">a</b>\n<b></b>\nb</pre>') == "<pre><b>a</b>\n<b></b>\nb</pre>"
    assert cleaned('<pre><span class="line">a<br></span><span class="line">b</span></pre>') == "<pre>a<br>b</pre>"


@pytest.mark.parametrize("number", ['<span class="hljs-number">42</span>', "<span>42</span>", '<i class="line">42</i>'])
def test_numbers_in_code_stay(number: str) -> None:
    assert "42" in cleaned(f"<pre>x = {number}</pre>")


@pytest.mark.parametrize(
    "table",
    [
        (
            '<tr><td class="blob-num" data-line-number="1"></td><td class="blob-code">a</td></tr>\n'
            '<tr><td class="blob-num"></td><td class="blob-code"></td></tr>\n'
            '<tr><td class="blob-num">3</td><td class="blob-code">  <b>b</b> &lt;</td></tr>'
        ),
        '<tr><td class="gutter gl"><pre>1\n2\n3\n</pre></td><td class="x"><pre>a\n\n  b &lt;</pre></td></tr>',
        (
            '<tr><td class="gutter"><pre><span>1</span><br><span>2</span><br></pre></td>'
            '<td class="code"><pre><span>a</span><br><br><span>  b &lt;</span><br></pre></td></tr>'
        ),
        (
            '<tr><td class="gutter"><div>1</div><div>2</div></td><td class="code"><div><div>a</div><div>&nbsp;</div>'
            "<div><code>&nbsp;&nbsp;</code><code>b &lt;</code></div></div></td></tr>"
        ),
        "<tr><td><pre><i>1\n</i></pre></td><td><pre><code>a\n\n  b &lt;</code></pre></td></tr>",
    ],
)
def test_a_table_of_lines_is_code(table: str) -> None:
    page = cleaned(f"<table><tbody>{table}</tbody></table>").replace("\n \n", "\n\n")
    assert page == "<pre><code>a\n\n  b &lt;</code></pre>"
    assert cleaned(page) == page


def test_the_language_of_a_table_of_lines_stays() -> None:
    table = '<table><tr><td>1</td><td class="code"><pre><code class="language-rust">a</code></pre></td></tr></table>'
    assert cleaned(f"<p>x{table}") == '<p>x</p><pre><code class="language-rust">a</code></pre>'


@pytest.mark.parametrize(
    "rows",
    [
        "<tr><td>1</td><td>Apples</td></tr><tr><td>2</td><td>Pears</td></tr>",
        "<tr><td>1</td><td><code>ls</code></td></tr>",
        '<tr><th>Name</th><th class="code">Code</th></tr><tr><td>1</td><td class="code">A1</td></tr>',
        '<tr><td>1</td><td class="code">a</td><td>b</td></tr>',
        '<tr><td>1</td><td class="zip-code">10115</td></tr>',
        "",
    ],
)
def test_other_tables_stay_tables(rows: str) -> None:
    assert "<pre" not in cleaned(f"<table><tbody>{rows}</tbody></table>")


def test_a_style_that_keeps_blanks_makes_code_of_several_lines() -> None:
    assert cleaned('<div style="white-space: pre">a\n  b</div>') == "<pre>a\n  b</pre>"
    assert cleaned('<div style="white-space: pre">a</div>') == "a"
    assert cleaned('<textarea name="code">\n\na\n  &lt;b</textarea>') == "<pre><code>a\n  &lt;b</code></pre>"
    assert cleaned('<div style="white-space: pre-wrap">a\nb</div>') == "a\nb"


@pytest.mark.parametrize(
    "control",
    [
        "<button>Copy</button>",
        '<button type="button"><svg><title>Copy</title></svg> Copy</button>',
        '<div class="code-copy-btn">Copy</div>',
        '<a class="copy-button">Copy</a>',
        '<span role="button">Copy</span>',
        "<form><p>Get our letters</p><input type='email'><button>Go</button></form>",
        "<select><option>A</option><option>B</option></select>",
        "<textarea>text</textarea>",
        '<div class="vjs-control-bar"><span class="vjs-control-text">Mute</span></div>',
        '<div class="plyr__controls"><span>00:00</span></div>',
        '<div class="mejs-controls"><button>Play</button></div>',
    ],
)
def test_what_people_operate_on_the_page_is_left_out(control: str) -> None:
    assert cleaned(f"<pre>a</pre>{control}<p>b</p>") == "<pre>a</pre><p>b</p>"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h3><button>Question</button></h3>", "<h3>Question</h3>"),
        ("<details><summary><button>More</button></summary>a</details>", "<details><summary>More</summary>a</details>"),
        (f"<button>Copy <p>{LONG}</p></button>", f"Copy <p>{LONG}</p>"),
        (f"<form><input type='text'><p>{LONG}</p></form>", f"<p>{LONG}</p>"),
        ("<form><input type='hidden'><p>a</p></form>", "<p>a</p>"),
        ('<div class="body-copy">a</div>', "a"),
        ('<div class="copyright-code">a</div>', "a"),
        ('<div class="birth-controls">a</div>', "a"),
        (f'<div class="video-controls">{LONG}</div>', LONG),
    ],
)
def test_content_in_such_elements_stays(html: str, expected: str) -> None:
    assert cleaned(html) == expected


@pytest.mark.parametrize("inside", ['<img src="/a.jpg">', '<a href="/a">a</a>', "<h2>a</h2>"])
def test_a_button_around_content_is_no_control(inside: str) -> None:
    assert cleaned(f"<button>{inside}</button>") == cleaned(inside)
