"""Excerpts and first images of articles."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.domain.entries.excerpts import LENGTH, excerpt, first_image, without_title


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


@pytest.mark.parametrize(
    "formula",
    [
        '<img src="https://s0.wp.com/latex.php?latex=x%5E2" alt="x^2">',
        '<img src="https://latex.codecogs.com/svg?x" alt="">',
        '<img src="https://wikimedia.org/api/rest_v1/media/math/render/svg/1" alt="">',
        '<img src="https://blog.example/1.png" alt="x" class="latex">',
    ],
)
def test_a_formula_is_not_the_picture_of_an_article(formula: str) -> None:
    assert first_image(f"<p>Let {formula} be</p>") == ""
    assert first_image(f'<p>Let {formula} be <img src="https://blog.example/plot.png"></p>').endswith("/plot.png")


@pytest.mark.parametrize(
    ("text", "title", "shown"),
    [
        ("A post of a short message", "A post of…", "…a short message"),
        ("A post", "A post", ""),
        ("A post…", "A post…", ""),
        ("Rain is coming", "Rain", "Rain is coming"),
        ("Something else", "A post of…", "Something else"),
        ("Something else", "", "Something else"),
    ],
)
def test_an_excerpt_does_not_repeat_a_title_that_is_its_beginning(text: str, title: str, shown: str) -> None:
    assert without_title(text, title) == shown
