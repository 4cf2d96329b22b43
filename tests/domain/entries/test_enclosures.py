"""Which stored enclosure is which published one."""

from __future__ import annotations

from tidings.content.model import ParsedEnclosure
from tidings.domain.entries.entries import match_enclosures


def test_a_picture_is_not_taken_for_the_episode_with_its_path() -> None:
    cover = ParsedEnclosure("https://a.example/get?file=cover", "image/jpeg", 0)
    old = ParsedEnclosure("https://cdn.example/episode.mp3?t=1", "audio/mpeg", 0)
    new = ParsedEnclosure("https://a.example/get?file=episode", "audio/mpeg", 0)

    found = match_enclosures({1: cover, 2: old}, [ParsedEnclosure("https://b.example/cover.jpg", "image/png", 0), new])

    assert found == {2: new}


def test_addresses_without_a_host_are_compared_whole() -> None:
    stored = {1: ParsedEnclosure("magnet:a", "application/x-bittorrent", 0)}

    assert match_enclosures(stored, [ParsedEnclosure("data:b", "application/pdf", 0)]) == {}
