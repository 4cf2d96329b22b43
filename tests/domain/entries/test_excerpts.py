"""Excerpts and first images of articles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.domain.entries.excerpts import LENGTH, excerpt, first_image


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("", ""),
        ("<p>Rain &amp; <b>s</b>un</p><p>Snow</p>", "Rain & sun Snow"),
        ("<p>" + "word " * 100 + "</p>", "word " * 35 + "word…"),
        ("x" * 500, "x" * LENGTH + "…"),
        (f'<img src="data:image/png;base64,{"A" * 9000}"><p>After the first_image</p>', "After the first_image"),
    ],
)
def test_an_excerpt_is_one_line_of_text(html: str, shown: str) -> None:
    assert excerpt(html) == shown


@given(st.text(alphabet="ab <>&;/=\"'p", max_size=9000))
def test_an_excerpt_of_any_html_is_one_line_of_limited_length(html: str) -> None:
    assert len(excerpt(html)) <= LENGTH + 1
    assert "\n" not in excerpt(html)


def test_the_first_image_with_a_web_url_is_found() -> None:
    html = '<p>a</p><img src="data:image/png;base64,AA"><img alt="b" src="https://example.org/1.png?a=1&amp;b=2">'

    assert first_image(html) == "https://example.org/1.png?a=1&amp;b=2"
    assert first_image("<p>none</p>") == ""
