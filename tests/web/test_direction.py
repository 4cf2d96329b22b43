"""In which direction pages, titles and articles run."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest
from markupsafe import Markup

from tidings.base.messages import msg
from tidings.web.language import Language, filled, use_language
from tidings.web.message_translation import translated
from tidings.web.rendering import other_direction, text_direction

_SIDE = re.compile(r"^.*\b(?:left|right)\b.*$", re.MULTILINE)
# Code is written from left to right, recordings and their lines run so, and names begin where the page's lines do.
_SIDES = ["--start: left;", "--start: right;", "text-align: left;", "linear-gradient(to right,"]


@pytest.mark.parametrize(
    ("language", "text", "direction"),
    [
        ("", "An English article.", "auto"),
        ("", "Статья", "auto"),
        ("", "שלום עולם", "rtl"),
        ("", "<p>iPhone 17 הגיע היום לחנויות בארץ, והמחיר גבוה.</p>", "rtl"),
        ("en", "Apple: مقال طويل عن الهاتف الجديد", "rtl"),
        ("", "<p>The word שלום means peace.</p>", "ltr"),
        ("", "שלום is a word of peace, and much more than that.", "ltr"),
        ("", '<p class="a-long-name-of-a-class" title="words and words">שלום</p>', "rtl"),
        ("", "<p>word</p>" * 5_000 + "שלום", "ltr"),
        ("", "<p>שלום <code>rm -rf build</code></p><pre>if (x) { return; }</pre>", "rtl"),
        # The feed's language decides if there is a letter of such a script: the language of some feeds is wrong.
        ("ar-EG", "iPhone, iPad و iMac", "rtl"),
        ("he", "An English article.", "auto"),
    ],
)
def test_the_direction_is_the_one_of_most_letters(language: str, text: str, direction: str) -> None:
    assert text_direction(language, text) == direction


def test_style_sheets_know_the_begin_and_the_end_of_a_line_and_no_sides() -> None:
    folder = files("tidings.web").joinpath("static")
    sheets = [*folder.joinpath("css").iterdir(), folder.joinpath("picking.css")]
    rules = "\n".join(re.sub(r"/\*.*?\*/", "", one.read_text("utf-8"), flags=re.DOTALL) for one in sheets)
    assert "inset-inline-start" in rules
    assert [line for line in _SIDE.findall(rules) if not any(known in line for known in _SIDES)] == []
    # Four values in a row begin at the top, and their second and fourth are sides.
    four = re.findall(r"(?:padding|margin|inset): ([^\s;(]+) ([^\s;(]+) ([^\s;(]+) ([^\s;(]+);", rules)
    assert [one for one in four if one[1] != one[3]] == []


@pytest.fixture
def from_right_to_left() -> Language:
    """A language without words of its own."""
    chosen = Language("en")
    chosen.direction = "rtl"
    return chosen


def test_values_do_not_disturb_the_order_of_a_sentence(from_right_to_left: Language) -> None:
    with use_language(from_right_to_left):
        assert filled("Go to %(name)s.", {"name": "C++"}) == "Go to \u2068C++\u2069."
        assert filled("%(count)d of %(name)s", {"count": 3_000, "name": ""}) == "3,000 of "
        shown = filled(Markup("<b>%(one)s</b>, %(two)s"), {"one": "<i>", "two": Markup("<i>x</i>")})
        assert shown == "<b>\u2068&lt;i&gt;\u2069</b>, \u2068<i>x</i>\u2069"
        assert translated(msg("{url} answered {status}.", url="http://a/", status=500)) == (
            "\u2068http://a/\u2069 answered 500."
        )


def test_sentences_from_left_to_right_have_no_marks() -> None:
    with use_language(Language("en")):
        assert filled("Go to %(name)s.", {"name": "C++"}) == "Go to C++."
        assert translated(msg("{url} answered.", url="http://a/")) == "http://a/ answered."


@pytest.mark.parametrize(
    ("language", "text", "attribute"),
    [("", "An English article.", ""), ("", "שלום עולם", ' dir="rtl"'), ("ar", "iPhone, iPad و iMac", ' dir="rtl"')],
)
def test_a_text_that_runs_as_the_page_does_has_no_attribute(language: str, text: str, attribute: str) -> None:
    with use_language(Language("en")):
        assert other_direction(language, text) == attribute


def test_on_a_page_from_right_to_left_each_text_says_how_it_runs(from_right_to_left: Language) -> None:
    with use_language(from_right_to_left):
        assert other_direction("", "An English article.") == ' dir="auto"'
