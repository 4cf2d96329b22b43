"""The same article has the same address in all its spellings, and the same text except for a few words."""

from __future__ import annotations

import pytest

from tidings.content.duplicates import MIN_TEXT, canonical_address, digest, is_same_text, place_on_page, title_key

ADDRESS = "https://example.org/2026/rain-tomorrow"
TEXT = (
    "The front comes in from the west before noon, and it brings rain for most of the day. Take an umbrella, and leave"
    " the bicycle at home unless you have a good coat and better patience. The wind turns to the north in the evening,"
    " and the night is clear and cold. Frost is possible in the valleys, where the fog may stay until late in the"
    " morning; on the hills the sun is out before nine. The sea is calm, and the ferries sail as planned all week long."
)


@pytest.mark.parametrize(
    "spelling",
    [
        "http://example.org/2026/rain-tomorrow",
        "https://www.example.org/2026/rain-tomorrow",
        "https://EXAMPLE.org:443/2026/rain-tomorrow",
        "https://m.example.org/2026/rain-tomorrow/",
        "https://example.org./2026/rain-tomorrow",
        "https://example.org/2026/../2026/./rain-tomorrow",
        "https://example.org/2026/rain%2dtomorrow",
        "https://example.org/2026/rain-tomorrow?",
        "https://example.org/2026/rain-tomorrow#comments",
        "https://example.org/2026/rain-tomorrow?utm_source=rss&utm_medium=feed",
        "https://example.org/2026/rain-tomorrow?at_medium=RSS&at_campaign=rss",
        "https://example.org/2026/rain-tomorrow?partner=rss&emc=rss",
        "https://example.org/2026/rain-tomorrow#xtor=RSS-1",
        "https://example.org/2026/rain-tomorrow/amp/",
        "https://example.org/amp/2026/rain-tomorrow",
        "https://amp.example.org/2026/rain-tomorrow",
        "https://example.org/2026/rain-tomorrow?amp=1",
        "https://www.google.com/amp/s/example.org/2026/rain-tomorrow.amp",
        "https://example-org.cdn.ampproject.org/c/s/example.org/2026/rain-tomorrow",
        " https://user@example.org/2026/rain-tomorrow ",
    ],
)
def test_all_spellings_of_an_address_are_the_same(spelling: str) -> None:
    assert canonical_address(spelling) == canonical_address(ADDRESS) == "//example.org/2026/rain-tomorrow"


def test_letters_of_other_scripts_are_encoded() -> None:
    assert canonical_address("https://münchen.example/straße?q=ü") == canonical_address(
        "https://xn--mnchen-3ya.example/stra%c3%9fe?q=%C3%BC"
    )


@pytest.mark.parametrize(
    "other",
    [
        "https://example.org/2026/rain-tomorrow-2",
        "https://example.org/2026/Rain-Tomorrow",
        "https://example.com/2026/rain-tomorrow",
        "https://blog.example.org/2026/rain-tomorrow",
        "https://example.org/2026/rain-tomorrow?page=2",
        "https://example.org/2026/rain-tomorrow?id=amp",
        "https://example.org/camp",
        "https://example.org/2026/#!/rain-tomorrow",
        "https://example.org/2026/#/rain-tomorrow",
        "https://m.com/2026/rain-tomorrow",
    ],
)
def test_other_addresses_stay_apart(other: str) -> None:
    assert canonical_address(other) not in {"", canonical_address(ADDRESS)}


@pytest.mark.parametrize(
    "url",
    [
        "",
        "https://example.org",
        "https://www.example.org/?utm_source=rss",
        "https://example.org/#/",
        "mailto:a@b.example",
    ],
)
def test_what_is_no_article_has_no_address(url: str) -> None:
    assert canonical_address(url) == ""


def test_a_place_on_a_page_is_not_the_page() -> None:
    assert place_on_page(f"{ADDRESS}#comment-7") == "comment-7"
    assert [place_on_page(f"{ADDRESS}{end}") for end in ("", "#more-12", "#respond", "#!/x", "#xtor=RSS-1")] == [""] * 5


def test_titles_are_compared_by_their_words() -> None:
    assert title_key("“Rain”, tomorrow!") == title_key('"RAIN" \u2013 tomorrow') == "rain tomorrow"
    assert title_key("東京の雨") == "東 京 の 雨"
    assert title_key("...") == ""


@pytest.mark.parametrize(
    "other",
    [
        TEXT,
        TEXT.upper(),
        TEXT.replace(",", " –").replace("; ", ". "),
        f"By Ada Lovelace. {TEXT}",
        f"{TEXT} The post Rain tomorrow appeared first on Weather notes.",
        f"{TEXT[: TEXT.index(' The sea')]} […]",
    ],
)
def test_a_text_stays_the_same_with_a_few_more_words(other: str) -> None:
    assert is_same_text(TEXT, other)
    assert is_same_text(other, TEXT)


@pytest.mark.parametrize(
    "other",
    [
        "",
        TEXT[:MIN_TEXT],
        TEXT + TEXT + TEXT,
        TEXT.replace("rain", "snow").replace("west", "east").replace("noon", "dawn").replace("north", "south"),
        " ".join(reversed(TEXT.split())),
    ],
)
def test_another_text_is_not_the_same(other: str) -> None:
    assert not is_same_text(TEXT, other)


def test_short_texts_are_never_the_same() -> None:
    short = TEXT[: MIN_TEXT - 1]
    assert not is_same_text(short, short)


def test_one_changed_word_of_a_long_text_is_not_noticed() -> None:
    long = " ".join(f"{TEXT} Part {number} of the forecast." for number in range(20))
    assert is_same_text(long, long.replace("Part 7 of", "Section 7 of"))


def test_a_digest_fits_into_a_column() -> None:
    assert -(2**63) <= digest("//example.org/1") < 2**63
    assert digest("//example.org/1") != digest("//example.org/2")
