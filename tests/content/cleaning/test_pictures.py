"""Smileys, and pictures that only the sources of a `picture` name."""

from __future__ import annotations

import pytest

from content.cleaning.trees import attributes_of, cleaned
from tidings.content.cleaning.media import main_candidate

SMILE = "\U0001f600"
DOT = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"


@pytest.mark.parametrize(
    "attributes",
    [
        'class="wp-smiley" style="height: 1em; max-height: 1em;"',
        'draggable="false" class="emoji"',
        'class="Twemoji" title=":grinning:"',
        'class="emoji" height="72" width="72"',
        'style="width:1em;height:1em;vertical-align:-0.1em"',
        'style="height: 1.25em !important"',
        'style="color:red;max-height:.9em"',
    ],
)
def test_a_smiley_is_the_character_that_it_stands_for(attributes: str) -> None:
    assert cleaned(f'<p>Nice <img src="https://img.example/1.png" alt="{SMILE}" {attributes}> day</p>') == (
        f"<p>Nice {SMILE} day</p>"
    )


@pytest.mark.parametrize("alt", ["\u2764\ufe0f", "1\ufe0f\u20e3", "\U0001f1e9\U0001f1ea", "\U0001f468\u200d\U0001f4bb"])
def test_a_smiley_may_be_of_several_characters(alt: str) -> None:
    assert cleaned(f'<img class="emoji" src="/a.png" alt="{alt}">') == alt


@pytest.mark.parametrize("alt", [":)", ":smile:", "", "12", "a" * 100, f"Nice {SMILE}"])
def test_a_smiley_without_a_character_is_as_high_as_a_line(alt: str) -> None:
    image = attributes_of(cleaned(f'<img class="emoji" src="/a.png" alt="{alt}" width="72" height="72">'), "img")
    assert (image["width"], image["height"], image["alt"]) == ("20", "20", alt)


def test_a_small_size_of_a_smiley_stays() -> None:
    image = attributes_of(cleaned('<img class="wp-smiley" src="/a.png" alt=":)" width="15" height="15">'), "img")
    assert (image["width"], image["height"]) == ("15", "15")


@pytest.mark.parametrize(
    "attributes",
    ['style="height: 100%"', 'style="height: 10em"', 'style="line-height: 1em"', 'class="emoji-banner"', 'class=""'],
)
def test_other_pictures_are_no_smileys(attributes: str) -> None:
    assert "width" not in attributes_of(cleaned(f'<img src="/a.jpg" alt="{SMILE}" {attributes}>'), "img")


def test_a_hidden_smiley_stays_hidden() -> None:
    assert cleaned(f'a<img class="emoji" src="/a.png" alt="{SMILE}" hidden>b') == "ab"


@pytest.mark.parametrize(
    "inside",
    [
        '<source srcset="https://img.example/a.jpg 1x" type="image/jpeg"><img alt="x">',
        '<source data-srcset="https://img.example/a.jpg 1x"><img class="lazy" alt="x">',
        f'<source data-srcset="https://img.example/a.jpg 1x"><img src="{DOT}" alt="x" width="1" height="1">',
        '<source srcset="https://img.example/a.webp 1x"><source srcset="https://img.example/a.jpg 1x"><img alt="x">',
        '<source srcset="https://img.example/a.jpg 1x"><source media="print" srcset="/s"><img src="/1x1.gif" alt="x">',
    ],
)
def test_a_picture_that_only_a_source_names_is_an_image(inside: str) -> None:
    assert attributes_of(cleaned(f"<picture>{inside}</picture>"), "img") == {
        "src": "https://img.example/a.jpg",
        "srcset": "https://img.example/a.jpg 1x",
        "alt": "x",
        "loading": "lazy",
    }


def test_a_picture_needs_no_image_element() -> None:
    page = cleaned('<figure><picture><source srcset="/a.jpg"></picture><figcaption>A</figcaption></figure>')
    assert attributes_of(page, "img")["src"] == "https://blog.example/a.jpg"
    assert page.endswith("<figcaption>A</figcaption></figure>")


def test_a_picture_with_an_image_keeps_its_sources() -> None:
    page = cleaned('<picture><source srcset="/a.webp"><img src="/a.jpg" width="5" height="5"></picture>')
    assert page.startswith('<picture><source srcset="https://blog.example/a.webp"><img width="5"')


@pytest.mark.parametrize("inside", ["", '<source srcset="javascript:x 1x"><img>', '<source srcset="data:image/png,x">'])
def test_a_picture_without_a_usable_address_shows_nothing(inside: str) -> None:
    assert "<img" not in cleaned(f"<picture>{inside}</picture>")


@pytest.mark.parametrize(
    ("srcset", "expected"),
    [
        ("a 400w, b 1200w, c 3000w", "b"),
        ("c 3000w, d 2000w", "d"),
        ("b 2x, a 1x", "a"),
        ("b 2x, a", "a"),
        ("b 2x, a 3x", "b"),
        ("", ""),
    ],
)
def test_a_reader_that_knows_no_candidates_gets_one_of_moderate_size(srcset: str, expected: str) -> None:
    assert main_candidate(srcset) == expected
