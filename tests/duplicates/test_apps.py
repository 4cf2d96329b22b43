"""What apps see of folded entries is their user's choice, and what they do with them reaches all copies."""

from __future__ import annotations

from typing import Any

import pytest

from duplicates.test_api import by_feed, choose, search_all, subscribe_twice
from fever.apps import sign_in
from greader.apps import READ, STARRED, App
from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow


class FoldedFeeds:
    """Two feeds with the same two entries, of which the second feed's are folded, and what apps see of them."""

    def __init__(self, person: Person, site: Publisher, in_apps: str) -> None:
        self.person = person
        person.put(f"/v1/users/{person.id}", {"duplicates_in_apps": in_apps}, status=201)
        choose(person, "fold")
        self.news, self.planet = subscribe_twice(person, site)
        search_all(person)
        rain = by_feed(person, feed_id=self.news)[self.news, "Rain"]
        self.rain, self.copy = rain["id"], rain["duplicates"][0]
        self.fever, self.greader = sign_in(person), App(person).sign_in()

    def native(self, **query: Any) -> dict[tuple[int, str], str]:
        listed = self.person.get("/v1/entries", **query)
        found = {(one["feed_id"], one["title"]): one["status"] for one in listed["entries"]}
        assert listed["total"] == len(found)
        assert set(self.person.get("/v1/entries/ids", **query)["entry_ids"]) == {o["id"] for o in listed["entries"]}
        return found

    def unread(self) -> list[int]:
        """The number of unread entries of the second feed, as each API says, and checked to be the same there."""
        native = sum(feed == self.planet for feed, _ in self.native(status="unread"))
        assert self.person.get(f"/v1/feeds/{self.planet}/entries", status="unread")["total"] == native
        counted = self.person.get("/v1/feeds/counters")["unreads"].get(str(self.planet), 0)
        items = {int(item["id"]): item for item in self.fever.items()}
        fever = [id_ for id_ in self.fever.unread() if items[id_]["feed_id"] == self.planet]
        assert all(items[id_]["is_read"] == 0 for id_ in fever)
        greader = self.greader.ids(f"feed/{self.planet}", xt=READ)
        assert all(READ not in item["categories"] for item in self.greader.contents(greader))
        counts = {one["id"]: one["count"] for one in self.greader.get("unread-count")["unreadcounts"]}
        return [native, counted, len(fever), len(greader), counts[f"feed/{self.planet}"]]


def test_apps_see_no_folded_entries_unless_their_user_wants_it(alice: Person, site: Publisher) -> None:
    feeds = FoldedFeeds(alice, site, "hide")
    assert set(feeds.native().values()) == {"unread"}
    assert {feed for feed, _ in feeds.native()} == {feeds.news}
    assert feeds.unread() == [0] * 5
    assert len(feeds.fever.items()) == len(feeds.greader.ids()) == 2


def test_apps_see_folded_entries_as_read(alice: Person, site: Publisher) -> None:
    feeds = FoldedFeeds(alice, site, "read")
    news, planet = feeds.news, feeds.planet
    expected = {(news, "Rain"): "unread", (news, "Snow"): "unread", (planet, "Rain"): "read", (planet, "Snow"): "read"}
    assert feeds.native() == expected
    assert feeds.unread() == [0] * 5
    assert set(feeds.native(status="read")) == {(planet, "Rain"), (planet, "Snow")}
    assert alice.get(f"/v1/entries/{feeds.copy}")["status"] == "read"
    assert alice.get("/v1/feeds/counters")["reads"] == {str(planet): 2}
    assert len(feeds.fever.items()) == len(feeds.greader.ids()) == 4
    # It is the one that an app marks unread.
    alice.put("/v1/entries", {"entry_ids": [feeds.rain], "status": "read"})
    feeds.greader.post("edit-tag", {"i": feeds.copy, "r": READ})
    assert feeds.native(status="unread") == {(news, "Rain"): "unread", (news, "Snow"): "unread"}


def test_apps_see_folded_entries_as_they_are(alice: Person, bob: Person, site: Publisher) -> None:
    feeds = FoldedFeeds(alice, site, "all")
    bobs = FoldedFeeds(bob, site, "all")
    news, planet = feeds.news, feeds.planet
    assert set(feeds.native()) == {(feed, title) for feed in (news, planet) for title in ("Rain", "Snow")}
    assert feeds.native() == feeds.native(status="unread")
    assert feeds.unread() == [2] * 5
    assert feeds.native(status="unread", order="published_at", direction="desc") == feeds.native()
    assert feeds.native(status="unread", query="Rain") == {(news, "Rain"): "unread", (planet, "Rain"): "unread"}

    alice.put("/v1/entries", {"entry_ids": [feeds.copy], "status": "read"})
    assert feeds.native(status="read") == {(news, "Rain"): "read", (planet, "Rain"): "read"}
    assert feeds.unread() == [1] * 5
    assert alice.get("/v1/feeds/counters") == {
        "reads": {str(news): 1, str(planet): 1},
        "unreads": {str(news): 1, str(planet): 1},
    }
    (category,) = [one for one in alice.get("/v1/categories", counts="true") if one["total_unread"]]
    assert category["total_unread"] == 2
    assert bobs.unread() == [2] * 5


@pytest.mark.parametrize(
    "query",
    ["", "&starred=false", "&query=Rain OR Snow", "&order=created_at"],
    ids=["feed", "no star", "query", "order"],
)
def test_marking_a_part_of_a_list_reads_what_it_showed_and_is_undone(
    alice: Person, site: Publisher, query: str
) -> None:
    feeds = FoldedFeeds(alice, site, "all")
    path = f"/v1/entries/mark-as-read?feed_id={feeds.planet}{query.replace(' ', '+')}"
    first = alice.get(f"/v1/feeds/{feeds.planet}/entries")["entries"][0]

    below = alice.put(path, {"range": "below", "entry_id": first["id"]}, status=200)
    assert (below["marked"], feeds.unread()) == (1, [1] * 5)
    assert (feeds.planet, first["title"]) in feeds.native(status="unread")
    assert alice.put(path, {"range": "all"}, status=200)["marked"] == 1
    assert feeds.unread() == [0] * 5

    assert alice.post("/v1/entries/undo-mark-as-read", {"undo_token": below["undo_token"]}, status=200) == {
        "marked_unread": 1
    }
    assert feeds.unread() == [1] * 5


@pytest.mark.parametrize("mark", ["native feed", "native category", "fever", "greader", "greader lists"])
def test_an_app_that_marks_a_list_read_reads_what_it_showed(alice: Person, site: Publisher, mark: str) -> None:
    feeds = FoldedFeeds(alice, site, "all")
    category = alice.get(f"/v1/feeds/{feeds.planet}")["category"]["id"]
    planet = f"feed/{feeds.planet}"
    match mark:
        case "native feed":
            alice.put(f"/v1/feeds/{feeds.planet}/mark-all-as-read")
        case "native category":
            alice.put(f"/v1/categories/{category}/mark-all-as-read")
        case "fever":
            feeds.fever.mark(**{"mark": "feed", "as": "read", "id": feeds.planet, "before": 0})
        case "greader":
            feeds.greader.post("mark-all-as-read", {"s": planet})
        case "greader lists":
            feeds.greader.post("mark-all-as-read", {"s": [planet, STARRED]})
    assert feeds.unread() == [0] * 5
    assert feeds.native(status="unread") == {}


def test_an_app_that_shows_no_folded_entries_marks_none(alice: Person, site: Publisher) -> None:
    feeds = FoldedFeeds(alice, site, "hide")
    alice.put(f"/v1/feeds/{feeds.planet}/mark-all-as-read")
    assert set(feeds.native(status="unread")) == {(feeds.news, "Rain"), (feeds.news, "Snow")}
