"""Marking many at once, and taking it back: with forms alone, and as scripts ask for it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.people import HttpResponse, Person
from support.publisher import Publisher
from support.running import RunningService
from support.visitors import Visitor

JSON = {"Accept": "application/json"}


@pytest.fixture
def ids(alice: Person, site: Publisher) -> list[int]:
    """Of five unread entries, as the list shows them."""
    alice.put(f"/v1/users/{alice.id}", {"entry_sorting_direction": "desc"}, status=201)
    alice.has_feed(site, ["One", "Two", "Three", "Four", "Five"])
    return [entry["id"] for entry in alice.entries(order="published_at", direction="desc")]


def unread(alice: Person) -> set[str]:
    return {entry["title"] for entry in alice.entries(status="unread")}


def moment(page: str) -> str:
    match = re.search(r'name="moment" value="(\d+)"', page)
    assert match
    return match[1]


def test_all_entries_are_marked_read_and_the_undo_restores_them(reader: Visitor, alice: Person, ids: list[int]) -> None:
    page = reader.follow(reader.post("/unread/mark-read"))
    assert "5 marked read" in page
    assert unread(alice) == set()

    page = reader.follow(reader.post("/entries/undo", moment=moment(page), back="/unread"))

    assert "5 unread again" in page
    assert len(unread(alice)) == 5
    assert 'name="moment"' not in page


@pytest.mark.parametrize(
    ("part", "remaining"), [("above", {"Three", "Four", "Five"}), ("below", {"One", "Two", "Three"})]
)
@pytest.mark.parametrize("path_of", ["/unread", "/feeds/{feed}", "/categories/{category}"])
def test_only_entries_of_the_list_are_marked_read(
    reader: Visitor, alice: Person, ids: list[int], part: str, remaining: set[str], path_of: str
) -> None:
    feed = alice.entries()[0]["feed"]
    path = path_of.format(feed=feed["id"], category=feed["category"]["id"])

    fields: dict[str, Any] = {part: ids[2]}
    reader.post(f"{path}/mark-read", **fields)

    assert unread(alice) == remaining


def test_an_undo_skips_entries_that_were_changed_since(reader: Visitor, alice: Person, ids: list[int]) -> None:
    notice = reader.post("/unread/mark-read", headers=JSON).json()
    alice.put("/v1/entries", {"entry_ids": [ids[0]], "status": "read"})

    second_notice = reader.post("/entries/undo", headers=JSON, moment=notice["undo"]).json()

    assert second_notice["notice"] == "4 unread again"
    assert unread(alice) == {"Two", "Three", "Four", "Five"}


def test_an_undo_includes_what_the_same_page_has_starred_since(
    reader: Visitor, alice: Person, bob: Person, site: Publisher, ids: list[int]
) -> None:
    bob.has_feed(site, ["Theirs"])
    theirs = bob.entries()[0]["id"]
    bob.put("/v1/entries", {"entry_ids": [theirs], "status": "read"})
    notice = reader.post("/unread/mark-read", headers=JSON).json()
    alice.put("/v1/entries", {"entry_ids": [ids[1]], "status": "read"})
    reader.post("/entries/marks", headers=JSON, star=ids[0])

    undone = reader.post(
        "/entries/undo", headers=JSON, moment=notice["undo"], later=[ids[0], theirs], shown=[*ids, theirs]
    ).json()

    assert undone["notice"] == "4 unread again"
    assert sorted(undone["entries"]) == sorted(set(ids) - {ids[1]})
    assert unread(alice) == {"One", "Three", "Four", "Five"}
    assert unread(bob) == set()


def test_an_undone_mark_says_so(reader: Visitor, alice: Person, ids: list[int]) -> None:
    undone = reader.post("/entries/marks", headers=JSON, read=ids[:2], undone="1").json()

    assert undone["notice"] == "Undone."
    assert unread(alice) == {"Three", "Four", "Five"}


def test_an_undo_does_not_change_entries_of_other_users(
    reader: Visitor, bob: Person, service: RunningService, ids: list[int]
) -> None:
    notice = reader.post("/unread/mark-read", headers=JSON).json()
    stranger = Visitor(service, bob)
    stranger.sign_in()

    assert "nothing" in stranger.post("/entries/undo", headers=JSON, moment=notice["undo"]).json()["notice"]


def test_several_entries_are_marked_by_their_ids(
    reader: Visitor, alice: Person, bob: Person, site: Publisher, ids: list[int]
) -> None:
    bob.has_feed(site, ["Theirs"])
    theirs = bob.entries()[0]["id"]

    notice = reader.post("/entries/marks", headers=JSON, read=[ids[0], ids[1], theirs]).json()

    assert notice["notice"] == "2 marked read"
    assert notice["undo"]
    assert unread(alice) == {"Three", "Four", "Five"}
    assert unread(bob) == {"Theirs"}


def test_a_script_without_a_session_gets_the_sign_in_path(visitor: Visitor) -> None:
    answer: HttpResponse = visitor.post("/unread/mark-read", headers=JSON)

    assert answer.json()["to"].startswith("/sign-in")


@pytest.mark.parametrize("given", ["", "x", "-1", "9" * 30, "0"])
def test_an_undo_of_nothing_says_so(reader: Visitor, given: str) -> None:
    assert reader.post("/entries/undo", moment=given).status == 303


def test_the_counts_of_unread_entries_are_returned(reader: Visitor, alice: Person, ids: list[int]) -> None:
    feed = alice.entries()[0]["feed"]

    counts = reader.get("/counts").json()

    of_lists = {"unread": 5, "starred": 0, f"f{feed['id']}": 5, f"c{feed['category']['id']}": 5}
    assert counts == {**of_lists, "at_least": []}


def test_the_playback_position_is_stored(
    reader: Visitor, alice: Person, bob: Person, site: Publisher, service: RunningService
) -> None:
    item = (
        "<item><title>Episode</title><link>https://example.org/1</link><description>x</description>"
        '<enclosure url="https://example.org/a.mp3" type="audio/mpeg" length="1048576"/></item>'
    )
    site.serve("/pod.xml", f'<rss version="2.0"><channel><title>Pod</title>{item}</channel></rss>')
    alice.post("/v1/feeds", {"feed_url": site.url("/pod.xml")})
    entry = alice.entries()[0]
    enclosure = entry["enclosures"][0]["id"]
    stranger = Visitor(service, bob)
    stranger.sign_in()

    assert reader.post(f"/enclosures/{enclosure}/position", headers=JSON, position=83).status == 200
    assert stranger.post(f"/enclosures/{enclosure}/position", position=1).status == 404

    assert 'data-at="83"' in reader.page(f"/entries/{entry['id']}")


def test_keyboard_shortcuts_are_listed(reader: Visitor) -> None:
    assert "<kbd>g u</kbd>" in reader.page("/keys")
