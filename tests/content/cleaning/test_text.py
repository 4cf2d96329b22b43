"""The text of clean HTML, and its reading time."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.cleaning.trees import cleaned
from tidings.content.cleaning import text_of
from tidings.content.cleaning.text import count_words
from tidings.domain.entries.reading_time import reading_minutes


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("", ""),
        ("plain  text\n", "plain text"),
        ("<p>a</p><p>b</p>", "a b"),
        ("<b>T</b>idings", "Tidings"),
        ('<a href="https://a.example/?b=1&amp;c=%3E" title="x &gt; y">T</a>idings', "Tidings"),
        ("a<br>b", "a b"),
        ("1 &lt; 2 &amp;amp; 3 &gt; 2 &quot;", '1 < 2 &amp; 3 > 2 "'),
        ("<ul><li>a</li><li>b</li></ul>c", "a b c"),
        ('<img alt="d" src="https://a.example/x">e', "e"),
    ],
)
def test_words_of_html_are_extracted(html: str, expected: str) -> None:
    assert text_of(html) == expected


def test_escaped_tags_stay_text() -> None:
    assert text_of(cleaned("&lt;b&gt; is bold, &amp;lt; is not")) == "<b> is bold, &lt; is not"


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("", 0),
        ("   \n", 0),
        ("<p></p>", 0),
        ("one", 1),
        ("word " * 265, 1),
        ("word " * 266, 2),
        ("<p>word</p>" * 265, 1),
        ("<p>word</p>" * 266, 2),
        ("漢" * 500, 1),
        ("漢" * 501, 2),
        ("<p>" + "かな" * 250 + "</p>", 1),
        ("<p>" + "한글" * 251 + "</p>", 2),
        ("漢" * 51 + "a" * 50 + " word" * 300, 2),
        ("a" * 51 + "漢" * 501, 2),
        ("1234 5678 " * 133, 2),
        ("&amp; " * 26 + "漢" * 501, 2),
        ("é" + " &amp;" * 70 + "漢" * 30 + "a" * 29, 1),
        ("1 " * 300 + "漢" * 501, 3),
        ("b" * 99 + "&lt;&lt;" + "漢" * 501, 2),
    ],
)
def test_minutes_are_rounded_up(text: str, minutes: int) -> None:
    assert reading_minutes(text, words_per_minute=265, cjk_per_minute=500) == minutes


@given(st.text())
def test_words_are_counted_as_they_are_split(text: str) -> None:
    assert count_words(text) == len(text.split())


def test_every_unicode_blank_ends_a_word() -> None:
    blanks = [blank for blank in map(chr, range(sys.maxunicode)) if blank.isspace()]
    assert count_words("".join(f"a{blank}é" for blank in blanks)) == len(blanks) + 1


def test_reading_speed_is_configurable() -> None:
    assert reading_minutes("word " * 100, words_per_minute=10, cjk_per_minute=500) == 10
    assert reading_minutes("漢" * 100, words_per_minute=265, cjk_per_minute=10) == 10
