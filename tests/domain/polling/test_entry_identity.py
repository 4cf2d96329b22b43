"""Canonical URLs, and the new hashes of stored entries that are identified by URL."""

from __future__ import annotations

import pytest

from tidings.domain.polling.changes import StoredIdentity, canonical_url, rehash_by_url, url_hash

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
def test_spellings_of_one_url_have_one_canonical_url(same: str) -> None:
    assert canonical_url(same) == canonical_url(PAGE)


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
def test_different_urls_have_different_canonical_urls(other: str) -> None:
    assert canonical_url(other) != canonical_url(PAGE)


@pytest.mark.parametrize("fragment", ["#", "#utm_source=rss&utm_medium=feed", "#xtor=RSS-1", "#Xtor=EPR-5"])
def test_a_fragment_with_tracking_parameters_only_is_removed(fragment: str) -> None:
    assert canonical_url("https://site.example/news" + fragment) == canonical_url("https://site.example/news")


@pytest.mark.parametrize("fragment", ["#!/news/1", "#/news/1", "#v1.2", "#utm_source=rss&part=2"])
def test_other_fragments_stay(fragment: str) -> None:
    assert canonical_url("https://site.example/" + fragment) != canonical_url("https://site.example/")


def test_a_url_without_a_path_is_that_of_the_root() -> None:
    assert canonical_url("https://site.example") == canonical_url("https://site.example/")
    assert canonical_url("https://site.example?a=1") == canonical_url("https://site.example/?a=1")
    assert canonical_url("") == ""


def test_of_several_copies_the_newest_gets_the_new_hash() -> None:
    stored = [
        StoredIdentity(3, b"c", PAGE, "Title"),
        StoredIdentity(2, b"b", PAGE, "Title"),
        StoredIdentity(1, b"a", "", "None"),
    ]

    assert rehash_by_url(stored) == {3: url_hash(PAGE)}


def test_entries_with_the_same_url_and_different_titles_get_different_hashes() -> None:
    found = rehash_by_url([StoredIdentity(2, b"b", PAGE, "Two"), StoredIdentity(1, b"a", PAGE, "One")])

    assert found.keys() == {1, 2}
    assert found[1] != found[2]


def test_an_entry_already_stored_by_its_url_keeps_its_hash() -> None:
    stored = [StoredIdentity(2, b"b", PAGE, "Title"), StoredIdentity(1, url_hash(PAGE), PAGE, "Title")]

    assert rehash_by_url(stored) == {}
