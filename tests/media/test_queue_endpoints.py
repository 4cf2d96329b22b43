"""The queue of episodes."""

from __future__ import annotations

import pytest

from media.test_episode_pages import part, podcast
from support.people import Person
from support.publisher import Publisher


@pytest.fixture
def audio(alice: Person, site: Publisher) -> list[int]:
    """Return ids of the files of three episodes."""
    return [part(entry, "audio/mpeg") for entry in podcast(alice, site, "", "", "")]


def queued(person: Person) -> list[int]:
    return [one["id"] for one in person.get("/v1/queue")]


def test_episodes_are_added_moved_and_taken_out(alice: Person, audio: list[int]) -> None:
    one, two, three = audio
    for id_ in (one, two):
        alice.post("/v1/queue", {"enclosure_id": id_}, status=204)
    alice.post("/v1/queue", {"enclosure_id": three, "is_next": True}, status=204)
    assert queued(alice) == [three, one, two]

    alice.put(f"/v1/queue/{three}", {"position": 2})
    assert queued(alice) == [one, three, two]
    alice.put(f"/v1/queue/{one}", {"position": 99})
    assert queued(alice) == [three, two, one]
    alice.put(f"/v1/queue/{one}", {"position": 1})
    alice.delete(f"/v1/queue/{three}")
    alice.delete(f"/v1/queue/{three}")
    alice.put(f"/v1/queue/{three}", {"position": 1})
    assert queued(alice) == [one, two]

    first = alice.get("/v1/queue")[0]
    assert (first["title"], first["feed_title"], first["mime_type"]) == ("Episode 1", "Pod", "audio/mpeg")
    assert (first["url"], first["media_progression"]) == ("https://example.org/1.mp3", 0)


@pytest.mark.one_engine
def test_what_cannot_be_queued_is_refused(alice: Person, bob: Person, audio: list[int], site: Publisher) -> None:
    picture = '<enclosure url="https://example.org/9.png" type="image/png" length="9"/>'
    site.serve(
        "/pictures.xml",
        f'<rss version="2.0"><channel><title>P</title><item><title>A</title>{picture}</item></channel></rss>',
    )
    alice.post("/v1/feeds", {"feed_url": site.url("/pictures.xml")})
    image = next(part(entry, "image/png") for entry in alice.entries() if entry["title"] == "A")

    assert alice.call("POST", "/v1/queue", {"enclosure_id": image}).status == 400
    assert alice.call("POST", "/v1/queue", {}).error.startswith("enclosure_id: ")
    for body in ({}, {"position": 0}, {"position": -1}):
        assert alice.call("PUT", f"/v1/queue/{audio[0]}", body).error.startswith("position: ")
    assert bob.call("POST", "/v1/queue", {"enclosure_id": audio[0]}).status == 404
    for method in ("PUT", "DELETE"):
        assert bob.call(method, f"/v1/queue/{audio[0]}", {"position": 1}).status == 404
    assert queued(alice) == queued(bob) == []
