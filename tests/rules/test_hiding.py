"""Entries that a rule hides from the global lists: they stay in those of their feed and category."""

from __future__ import annotations

import re
from typing import Any

from support.entry_fixtures import NOW, FeedFixture, ready
from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor
from tidings.domain.entries.entries import EntryStatus, Order, PageRequest
from tidings.engine.database import Database
from tidings.query import parse
from tidings.query.model import DatedQuery
from tidings.rules.services import RuleServices
from tidings.services.entries.search_index import SearchIndexer
from tidings.storage.accounts import change_log
from tidings.storage.entries import counters, entries
from tidings.storage.feeds import feeds, sidebar

VISIBLE: dict[str, Any] = {"globally_visible": True}
UNREAD: dict[str, Any] = {"statuses": (EntryStatus.UNREAD,)}


def hide(feed: FeedFixture, *ids: int, hidden: bool = True) -> int:
    with feed.database.writing() as db:
        counters.lock_all(db, feed.user_id)
        return entries.set_hidden(db, feed.user_id, ids, hidden=hidden)


def query(text: str) -> dict[str, Any]:
    return {"query": DatedQuery(parse(text), NOW, "UTC")}


def test_global_lists_and_their_totals_leave_hidden_entries_out(database: Database) -> None:
    feed = FeedFixture.create(database)
    loud = feed.another_feed()
    stranger = FeedFixture.create(database)
    ids = feed.add(*(ready(f"Rain {number}") for number in range(4)), ready("Snow", hidden=True))
    others = loud.add(*(ready(f"Hail {number}", hidden=True) for number in range(3)))
    (theirs,) = stranger.add(ready("Rain"))
    with database.writing() as db:
        entries.set_state(db, feed.user_id, [ids[0], others[0]], status=EntryStatus.READ, now=NOW)
        entries.set_state(db, feed.user_id, [ids[1], others[1]], starred=True, now=NOW)
    # Of a stranger: nothing happens.
    hide(feed, ids[2], theirs)
    while SearchIndexer(database).work():
        pass

    assert feed.titles(**VISIBLE) == ["Rain 0", "Rain 1", "Rain 3"]
    assert feed.titles(**VISIBLE, **UNREAD) == ["Rain 1", "Rain 3"]
    assert feed.titles(**query("-is:hidden")) == ["Rain 0", "Rain 1", "Rain 3"]
    assert feed.titles(**query("is:hidden hail")) == ["Hail 0", "Hail 1", "Hail 2"]
    assert feed.titles(**query("is:hidden"), **VISIBLE) == []
    assert feed.titles(feed_id=loud.feed_id) == ["Hail 0", "Hail 1", "Hail 2"]
    for order in Order:
        assert len(feed.titles(**VISIBLE, page=PageRequest(order=order))) == 3
    totals = {
        "all": feed.total(**VISIBLE),
        "unread": feed.total(**VISIBLE, **UNREAD),
        "starred": feed.total(**VISIBLE, starred=True),
        "not starred": feed.total(**VISIBLE, starred=False),
        "found": feed.total("rain", **VISIBLE),
        "not found": feed.total("-rain", **VISIBLE),
        "of the feed": feed.total(**VISIBLE, feed_id=feed.feed_id),
        "of the category": feed.total(**VISIBLE, category_id=feed.category_id),
        "hidden": feed.total(**query("is:hidden")),
        "everything": feed.total(),
    }
    assert totals == {
        "all": 3, "unread": 2, "starred": 1, "not starred": 2, "found": 3, "not found": 0, "of the feed": 3,
        "of the category": 3, "hidden": 5, "everything": 8,
    }  # fmt: skip
    assert stranger.titles(**VISIBLE) == ["Rain"]

    hide(feed, *ids, *others, hidden=False)
    assert feed.total(**VISIBLE) == 8


def test_showing_entries_again_that_are_shown_changes_no_list(database: Database) -> None:
    feed = FeedFixture.create(database)
    rain, snow = feed.add(ready("Rain"), ready("Snow", hidden=True))

    def version() -> int | None:
        with database.reading() as db:
            return change_log.version(db, feed.user_id)

    before = version()
    assert (hide(feed, rain, hidden=False), hide(feed, snow), version()) == (0, 0, before)
    assert hide(feed, rain, snow, hidden=False) == 1
    assert version() != before


def test_the_sidebar_subtracts_each_hidden_entry_once(database: Database) -> None:
    feed = FeedFixture.create(database)
    hidden_feed = feed.another_feed()
    feed.add(ready("One"), ready("Two", hidden=True), ready("Three", hidden=True))
    hidden_feed.add(ready("Four"), ready("Five", hidden=True))
    with database.writing() as db:
        feeds.change(db, feed.user_id, hidden_feed.feed_id, hide_globally=True)
        counts = sidebar.count_by_category(db, feed.user_id)[feed.category_id]

    assert (counts.unread, counts.visible_unread) == (5, 1)
    assert feed.total(**VISIBLE, **UNREAD) == 1


def test_what_a_rule_hides_stays_in_its_feed_and_unread_there(
    alice: Person, bob: Person, reader: Visitor, site: Publisher
) -> None:
    """The list, its count, and "mark all as read" of Unread leave it out; undoing the rule brings it back."""
    feed = alice.has_feed(site, ["Rain", "Snow", "Hail"])
    bob.has_feed(site, ["Snow"])
    rule = alice.post("/v1/rules", {"query": "title:snow", "actions": [{"type": "hide"}]})
    runs = alice.service.services.of(RuleServices).runs
    preview = alice.post("/v1/rules/preview", {"query": "title:snow", "actions": [{"type": "hide"}]}, status=200)
    assert (preview["matched"], preview["changed"]) == (1, 1)

    assert alice.post(f"/v1/rules/{rule['id']}/apply", status=202)["total"] == 1
    while runs.work("worker"):
        pass

    def unread(**query: Any) -> set[str]:
        return {entry["title"] for entry in alice.entries(status="unread", **query)}

    assert unread(globally_visible=True) == {"Rain", "Hail"}
    assert unread() == unread(feed_id=feed["id"]) == {"Rain", "Snow", "Hail"}
    assert {entry["title"] for entry in alice.entries(query="is:hidden")} == {"Snow"}
    assert [entry["title"] for entry in bob.entries(globally_visible=True)] == ["Snow"]
    page = reader.page("/unread")
    assert "Snow" not in page
    assert re.search(r'href="/unread"[^>]*>(?s:.*?)class="count"[^>]*>2<', page)
    assert "Snow" in reader.page(f"/feeds/{feed['id']}")
    again = alice.post("/v1/rules/preview", {"query": "title:snow", "actions": [{"type": "hide"}]}, status=200)
    assert (again["matched"], again["changed"], again["entries"][0]["actions"]) == (1, 0, [])

    reader.page("/unread")
    reader.post("/unread/mark-read")
    assert unread() == {"Snow"}

    alice.post(f"/v1/rules/{rule['id']}/undo", status=202)
    while runs.work("worker"):
        pass
    assert unread(globally_visible=True) == {"Snow"}
    assert alice.entries(query="is:hidden") == []


def test_hidden_entries_are_shown_again(alice: Person, bob: Person, reader: Visitor, site: Publisher) -> None:
    """By the API, one by one on pages, and all that a search or a view finds; never those of others."""
    titles = [f"Snow {number}" for number in range(5)]
    alice.has_feed(site, ["Rain", *titles])
    bob.has_feed(site, ["Rain"])
    ids = {entry["title"]: entry["id"] for entry in [*bob.entries(), *alice.entries()]}
    theirs = bob.entries()[0]
    snow = [ids[title] for title in titles]

    def hidden() -> list[str]:
        assert [entry["title"] for entry in alice.entries(query="is:hidden")] == [
            entry["title"] for entry in alice.entries() if entry["hidden"]
        ]
        return sorted(entry["title"] for entry in alice.entries(query="is:hidden"))

    before = alice.get(f"/v1/entries/{snow[0]}")
    alice.put("/v1/entries", {"entry_ids": [*snow, theirs["id"]], "hidden": True})
    assert (hidden(), bob.entries()) == (titles, [theirs])
    assert alice.get(f"/v1/entries/{snow[0]}") == before | {"hidden": True}
    bob.put("/v1/entries", {"entry_ids": snow, "hidden": False})
    alice.put("/v1/entries", {"entry_ids": [snow[0], ids["Rain"]], "hidden": False, "status": "read", "starred": True})
    assert hidden() == titles[1:]
    assert {entry["title"] for entry in alice.entries(status="read", starred="true")} == {"Snow 0", "Rain"}
    refused = alice.call("PUT", "/v1/entries", {"entry_ids": snow, "hidden": None})
    assert (refused.status, refused.error) == (
        400, "Nothing to change: send status, starred, hidden, add_labels or remove_labels."
    )  # fmt: skip

    assert "Hidden from Unread." not in reader.page(f"/unread/{snow[0]}")
    assert "Hidden from Unread." in reader.page(f"/unread/{snow[1]}")
    page = reader.follow(reader.post("/entries/marks", show=snow[1], back=f"/unread/{snow[1]}"))
    assert "1 shown in Unread again" in page
    assert "Hidden from Unread." not in page
    page = reader.page("/search?query=is:hidden")
    assert page.count('name="show"') == 3
    assert "Show all of these in Unread again" not in reader.page("/search?query=snow")
    asked = "/search/show-hidden?query=is%3Ahidden+title%3A2"
    assert "1 shown in Unread again" in reader.follow(reader.post(asked))
    assert hidden() == titles[3:]
    view = alice.post("/v1/views", {"name": "Hidden", "query": "is:hidden"})
    assert f'action="/views/{view["id"]}/show-hidden"' in reader.page(f"/views/{view['id']}")
    assert "2 shown in Unread again" in reader.follow(reader.post(f"/views/{view['id']}/show-hidden"))
    assert hidden() == []
    assert {entry["title"] for entry in alice.entries(globally_visible=True)} == {"Rain", *titles}
