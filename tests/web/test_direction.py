"""In which direction titles and articles run."""

from __future__ import annotations

import pytest

from tidings.web.rendering import text_direction


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
