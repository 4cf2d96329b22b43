"""A feed of letters is an ordinary feed, except that nothing is fetched from its address."""

from __future__ import annotations

from archives.test_endpoints_import import finished
from newsletters.letters import delivered, has_address, message
from support.people import Person


def has_letter(person: Person) -> int:
    return int(delivered(person, has_address(person), message())["feed_id"])


def test_it_is_never_fetched(alice: Person) -> None:
    feed_id = has_letter(alice)

    alice.put(f"/v1/feeds/{feed_id}/refresh")
    alice.put("/v1/feeds/refresh")
    alice.post("/v1/feeds/bulk", {"feed_ids": [feed_id], "action": "enable"}, status=200)

    feed = alice.get(f"/v1/feeds/{feed_id}")
    assert (feed["disabled"], feed["parsing_error_count"], feed["parsing_error_message"]) == (True, 0, "")


def test_it_cannot_be_switched_on(alice: Person) -> None:
    answer = alice.call("PUT", f"/v1/feeds/{has_letter(alice)}", {"disabled": False})

    assert (answer.status, answer.error) == (
        400, "disabled: this feed is never fetched, so that it cannot be switched on.",
    )  # fmt: skip


def test_it_is_changed_as_other_feeds(alice: Person) -> None:
    feed_id = has_letter(alice)

    alice.put(f"/v1/feeds/{feed_id}", {"title": "Sea", "hide_globally": True, "disabled": True}, status=201)

    assert alice.get(f"/v1/feeds/{feed_id}")["title"] == "Sea"


def test_it_is_healthy(alice: Person) -> None:
    feed_id = has_letter(alice)

    found = {one["id"]: one["health"] for one in alice.get("/v1/feeds/health")["feeds"]}

    assert found == {feed_id: "fine"}


def test_opml_for_other_readers_leaves_it_out(alice: Person) -> None:
    has_letter(alice)

    assert b"newsletters.invalid" not in alice.call("GET", "/v1/export").body


def test_an_archive_brings_feed_and_letters_and_the_next_letter_goes_there(alice: Person, bob: Person) -> None:
    has_letter(alice)
    archive = alice.call("GET", "/v1/export/archive").body

    assert bob.call("POST", "/v1/import/archive", raw=archive).status == 202
    assert finished(bob)["report"]["new_entries"] == 1
    (entry,) = bob.entries()
    again = delivered(bob, has_address(bob), message(2))
    assert again["feed_id"] == entry["feed_id"]
