"""Which addresses are the same, and which stored entry goes on under a new hash."""

from __future__ import annotations

import pytest

from tidings.domain.polling.entry_identity import Stored, canonical, hash_of_address, renewed

PAGE = "https://site.example/news?id=1#part"


@pytest.mark.parametrize(
    "same",
    [
        "http://site.example/news?id=1#part",
        "https://SITE.example/news?id=1#part",
        "https://site.example:443/news?id=1#part",
        "https://site.example/news?id=1&utm_source=rss#part",
        "https://site.example/news?fbclid=7&id=1#part",
    ],
)
def test_the_same_address_in_other_words(same: str) -> None:
    assert canonical(same) == canonical(PAGE)


@pytest.mark.parametrize(
    "other",
    [
        "https://site.example/news?id=2#part",
        "https://site.example/news?id=1#other",
        "https://site.example/news?id=1",
        "https://site.example/News?id=1#part",
        "https://site.example:8443/news?id=1#part",
        "https://www.site.example/news?id=1#part",
    ],
)
def test_another_address(other: str) -> None:
    assert canonical(other) != canonical(PAGE)


@pytest.mark.parametrize("fragment", ["#", "#utm_source=rss&utm_medium=feed", "#xtor=RSS-1", "#Xtor=EPR-5"])
def test_a_fragment_that_only_tracks_is_none(fragment: str) -> None:
    assert canonical("https://site.example/news" + fragment) == canonical("https://site.example/news")


@pytest.mark.parametrize("fragment", ["#!/news/1", "#/news/1", "#v1.2", "#utm_source=rss&part=2"])
def test_other_fragments_stay(fragment: str) -> None:
    assert canonical("https://site.example/" + fragment) != canonical("https://site.example/")


def test_an_address_without_a_path_is_that_of_the_root() -> None:
    assert canonical("https://site.example") == canonical("https://site.example/")
    assert canonical("https://site.example?a=1") == canonical("https://site.example/?a=1")
    assert canonical("") == ""


def test_the_newest_of_several_copies_goes_on() -> None:
    stored = [Stored(3, b"c", PAGE, "Title"), Stored(2, b"b", PAGE, "Title"), Stored(1, b"a", "", "None")]

    assert renewed(stored) == {3: hash_of_address(PAGE)}


def test_entries_of_one_address_with_other_titles_all_go_on() -> None:
    found = renewed([Stored(2, b"b", PAGE, "Two"), Stored(1, b"a", PAGE, "One")])

    assert found.keys() == {1, 2}
    assert found[1] != found[2]


def test_what_goes_by_its_address_already_stays() -> None:
    stored = [Stored(2, b"b", PAGE, "Title"), Stored(1, hash_of_address(PAGE), PAGE, "Title")]

    assert renewed(stored) == {}
