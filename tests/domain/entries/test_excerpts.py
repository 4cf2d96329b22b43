"""The beginning of an article, for lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.domain.entries.excerpts import LENGTH, excerpt, picture


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("", ""),
        ("<p>Rain &amp; <b>s</b>un</p><p>Snow</p>", "Rain & sun Snow"),
        ("<p>" + "word " * 100 + "</p>", "word " * 35 + "word…"),
        ("x" * 500, "x" * LENGTH + "…"),
        (f'<img src="data:image/png;base64,{"A" * 9000}"><p>After the picture</p>', "After the picture"),
    ],
)
def test_it_is_a_line_of_text(html: str, shown: str) -> None:
    assert excerpt(html) == shown


@given(st.text(alphabet="ab <>&;/=\"'p", max_size=9000))
def test_it_is_never_much_longer_and_has_one_line(html: str) -> None:
    assert len(excerpt(html)) <= LENGTH + 1
    assert "\n" not in excerpt(html)


def test_the_picture_is_the_first_one_from_the_web() -> None:
    html = '<p>a</p><img src="data:image/png;base64,AA"><img alt="b" src="https://example.org/1.png?a=1&amp;b=2">'

    assert picture(html) == "https://example.org/1.png?a=1&amp;b=2"
    assert picture("<p>none</p>") == ""
