"""Enclosures."""

from __future__ import annotations

from typing import Any

import pytest

from support.people import Person
from support.publisher import Publisher

PATH = "/podcast.xml"


def podcast(site: Publisher, *files: str, title: str = "Episode") -> str:
    """Return a feed of one episode with an enclosure for each name."""
    enclosed = "".join(f'<enclosure url="{site.url(f)}" length="1234" type="audio/mpeg"/>' for f in files)
    item = f"<item><title>{title}</title><guid>one</guid><link>{site.url('/one')}</link>{enclosed}</item>"
    return site.serve(PATH, f'<rss version="2.0"><channel><title>Cast</title>{item}</channel></rss>')


def enclosures(person: Person) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = person.entries()[0]["enclosures"]
    return found


@pytest.fixture
def feed_id(alice: Person, site: Publisher) -> int:
    podcast(site, "/a.mp3", "/b.mp3")
    created: int = alice.post("/v1/feeds", {"feed_url": site.url(PATH)})["feed_id"]
    return created


def test_an_enclosure_has_the_same_fields_as_in_its_entry(alice: Person, site: Publisher, feed_id: int) -> None:
    entry = alice.entries()[0]
    first = entry["enclosures"][0]

    assert first == {
        "id": first["id"],
        "user_id": alice.id,
        "entry_id": entry["id"],
        "url": site.url("/a.mp3"),
        "mime_type": "audio/mpeg",
        "size": 1234,
        "media_progression": 0,
    }
    assert alice.get(f"/v1/enclosures/{first['id']}") == first


@pytest.mark.parametrize("position", [0, 1, 3600, 2**31, 2**63 - 1])
def test_a_playback_position_is_stored(alice: Person, feed_id: int, position: int) -> None:
    first, second = enclosures(alice)
    changed_at = alice.entries()[0]["changed_at"]

    alice.put(f"/v1/enclosures/{first['id']}", {"media_progression": position, "size": 5, "url": "x"})

    assert enclosures(alice) == [{**first, "media_progression": position}, second]
    assert alice.entries()[0]["changed_at"] == changed_at


@pytest.mark.parametrize("body", [{}, {"media_progression": None}])
def test_a_missing_position_is_zero(alice: Person, feed_id: int, body: object) -> None:
    first = enclosures(alice)[0]
    alice.put(f"/v1/enclosures/{first['id']}", {"media_progression": 5})

    alice.put(f"/v1/enclosures/{first['id']}", body)

    assert alice.get(f"/v1/enclosures/{first['id']}") == first


@pytest.mark.parametrize("position", [-1, 1.5, "5", 2**63, 10**30, True, [1]])
def test_an_invalid_position_is_400_even_for_an_unknown_enclosure(
    alice: Person, feed_id: int, position: object
) -> None:
    first = enclosures(alice)[0]

    for enclosure_id in (first["id"], 2147483000):
        answer = alice.call("PUT", f"/v1/enclosures/{enclosure_id}", {"media_progression": position})
        assert answer.status == 400
        assert "media_progression" in answer.error
    assert alice.get(f"/v1/enclosures/{first['id']}") == first


def test_a_playback_position_survives_a_refresh(alice: Person, site: Publisher, feed_id: int) -> None:
    first = enclosures(alice)[0]
    alice.put(f"/v1/enclosures/{first['id']}", {"media_progression": 77})

    podcast(site, "/c.mp3", "/a.mp3", title="Episode, corrected")
    alice.put(f"/v1/feeds/{feed_id}/refresh")

    assert alice.entries()[0]["title"] == "Episode, corrected"
    assert {one["url"]: one["media_progression"] for one in enclosures(alice)} == {
        site.url("/a.mp3"): 77,
        site.url("/c.mp3"): 0,
    }
    assert alice.get(f"/v1/enclosures/{first['id']}")["media_progression"] == 77


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["/a.mp3?token=1"], ["/a.mp3?token=2"]),
        (["/a.mp3?token=1", "/b.mp3?token=1"], ["/b.mp3?token=2", "/a.mp3?token=2"]),
        (["/a.mp3"], ["/elsewhere/a.mp3"]),
        (["/a.mp3"], ["/new.mp3", "/a.mp3"]),
        (["/a.mp3", "/play?id=1"], ["/a.mp3?v=2", "/play?id=1", "/play?id=2"]),
    ],
)
def test_a_playback_position_survives_a_new_address(
    alice: Person, site: Publisher, before: list[str], after: list[str]
) -> None:
    podcast(site, *before)
    feed_id = alice.post("/v1/feeds", {"feed_url": site.url(PATH)})["feed_id"]
    first = next(one for one in enclosures(alice) if one["url"] == site.url(before[0]))
    alice.put(f"/v1/enclosures/{first['id']}", {"media_progression": 77})

    podcast(site, *after)
    alice.put(f"/v1/feeds/{feed_id}/refresh")

    new = {one["url"]: one for one in enclosures(alice)}
    assert sorted(new) == sorted(map(site.url, after))
    moved = [url for url, one in new.items() if one["media_progression"] == 77]
    assert len(moved) == 1
    assert new[moved[0]] == {**first, "url": moved[0], "media_progression": 77}
    assert "/a.mp3" in moved[0]


def test_another_episode_of_an_entry_starts_at_its_beginning(alice: Person, site: Publisher, feed_id: int) -> None:
    for one in enclosures(alice):
        alice.put(f"/v1/enclosures/{one['id']}", {"media_progression": 77})

    podcast(site, "/a.mp3", "/c.mp3")
    alice.put(f"/v1/feeds/{feed_id}/refresh")

    assert {one["url"]: one["media_progression"] for one in enclosures(alice)} == {
        site.url("/a.mp3"): 77,
        site.url("/c.mp3"): 0,
    }


def test_unknown_and_foreign_enclosures_are_404(alice: Person, bob: Person, charlie: Person, feed_id: int) -> None:
    first = enclosures(alice)[0]

    for stranger, enclosure_id in ((alice, 2147483000), (alice, 2**40), (bob, first["id"]), (charlie, first["id"])):
        assert stranger.call("GET", f"/v1/enclosures/{enclosure_id}").status == 404
        assert stranger.call("PUT", f"/v1/enclosures/{enclosure_id}", {"media_progression": 9}).status == 404
    assert alice.get(f"/v1/enclosures/{first['id']}") == first


@pytest.mark.parametrize("text", ["0", "-1", "x", str(2**63)])
def test_an_enclosure_needs_an_id(alice: Person, text: str) -> None:
    assert alice.call("GET", f"/v1/enclosures/{text}").status == 400
    assert alice.call("PUT", f"/v1/enclosures/{text}", {"media_progression": 1}).status == 400
