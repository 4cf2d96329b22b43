"""Clean HTML as Markdown."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.content.cleaning import clean
from tidings.content.cleaning.text import text_of
from tidings.content.markdown import to_markdown


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("", ""),
        ("<p>One</p><p>Two<br>lines</p>", "One\n\nTwo\nlines"),
        ("<h2>A <em>title</em></h2>Text", "## A *title*\n\nText"),
        ("<p><b>Bold</b>, <del>gone</del>, <code>x</code></p>", "**Bold**, ~~gone~~, `x`"),
        ('<p><a href="https://a.example/?a=1&amp;b=2">Here</a></p>', "[Here](https://a.example/?a=1&b=2)"),
        ('<a href="https://a.example/">https://a.example/</a>', "https://a.example/"),
        ('<a href="javascript:x">No</a>, <a>none</a>', "No, none"),
        ('<a href="https://a.example/"><p>Block</p></a>', "Block\n\n(https://a.example/)"),
        ('<p>See <img src="https://a.example/i.png" alt="A  cat">!</p>', "See (Image: A cat)!"),
        ('<iframe src="https://a.example/v"></iframe>', "(Embedded page: https://a.example/v)"),
        ("<ul><li>One</li><li>Two<ul><li>Below</li></ul></li></ul>", "- One\n- Two\n  - Below"),
        ('<ol start="9"><li>Nine</li><li><p>Ten</p><p>More</p></li></ol>', "9. Nine\n10. Ten\n\n    More"),
        ("<blockquote><p>One</p><p>Two</p></blockquote><p>After</p>", "> One\n>\n> Two\n\nAfter"),
        ("<pre><code>a &lt; b\n  ```\n</code></pre>", "````\na < b\n  ```\n````"),
        (
            "<table><tr><th>A</th><th>B</th></tr><tr><td>1</td><td>2</td></tr></table>",
            "| A | B |\n| --- | --- |\n| 1 | 2 |",
        ),
        ("<dl><dt>Word</dt><dd>Meaning</dd></dl><hr><p>End</p>", "Word\n: Meaning\n\n---\n\nEnd"),
        ("<p>a</p><script>obey()</script><p>b</p>", "a\n\nb"),
        ("<details><summary>More</summary>Text</details>", "More\nText"),
    ],
    ids=range(18),
)
def test_html_becomes_markdown(html: str, expected: str) -> None:
    assert to_markdown(html) == expected


# Of emphasis, code and tables, and before a character that would be one of them.
MARKS = re.compile(r"[*_~`|\\]")


@given(st.text(alphabet='<>/abipreultdh1 "=&;\n\\`|*', max_size=200))
def test_anything_that_was_cleaned_keeps_its_words(text: str) -> None:
    """A word may have marks in its middle: `1<i>1</i>` is `1*1*`."""
    html = clean(text, base_url="https://a.example/")
    found = MARKS.sub("", to_markdown(html))
    assert all(MARKS.sub("", word) in found for word in text_of(html).split())
