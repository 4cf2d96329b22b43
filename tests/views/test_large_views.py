"""Views and queries with more entries than are counted: what says so, and what stays exact."""

from __future__ import annotations

from typing import Any

import pytest

from greader.apps import App, label
from support.entry_fixtures import ready
from support.people import Person
from support.visitors import Visitor
from tidings.domain.entries.entries import EntryFilter, EntryStatus
from tidings.storage.entries import entry_lists
from tidings.storage.feeds import feeds
from tidings.storage.polling import entry_writes

pytestmark = pytest.mark.slow

BOUND = 10_000
LARGE = "added:7d"


def has_entries(person: Person, number: int) -> None:
    """Store entries."""
    services = person.service.services
    category, now = services.feeds.categories.create(person.id, "Stored").id, services.clock()
    new = [ready(f"Entry {one:05}") for one in range(number)]
    with services.database.writing() as db:
        feed_id = feeds.add(
            db, person.id, category_id=category, feed_url="https://example.org/large", title="Large",
            created_at=now, checked_at=now, next_check_at=now,
        )  # fmt: skip
        entry_writes.add(db, person.id, feed_id, category, new, now=now)


def listed(person: Person, **more: Any) -> tuple[int, Any, int, bool]:
    """Return total, whether it is exact, the number of entries on the page, and whether another page follows."""
    answer = person.call("GET", "/v1/entries", fields="id", **more)
    found = answer.json()
    return found["total"], found.get("total_exact"), len(found["entries"]), "link" in answer.headers


def test_lists_beyond_the_bound_say_that_there_is_more(alice: Person, reader: Visitor) -> None:
    has_entries(alice, BOUND + 1)
    large = alice.post("/v1/views", {"name": "Large", "query": LARGE, "in_apps": True})["id"]
    exact = alice.post("/v1/views", {"name": "All", "query": "is:unread"})["id"]
    beyond = {"query": LARGE, "order": "title"}
    alice.put("/v1/entries", {"entry_ids": [alice.entries(limit=1)[0]["id"]], "starred": True})

    assert listed(alice, **beyond, limit=10) == (BOUND, False, 10, True)
    assert listed(alice, **beyond, limit=1_001) == (BOUND, False, 1_001, True)
    assert listed(alice, **beyond, limit=10, offset=BOUND - 10) == (BOUND, False, 10, True)
    assert listed(alice, **beyond, limit=10, offset=BOUND) == (BOUND + 1, True, 1, False)
    assert listed(alice, **beyond, limit=10, total="exact") == (BOUND + 1, True, 10, True)
    assert listed(alice, query=f"{LARGE} -is:starred", limit=10) == (BOUND, True, 10, True)
    assert listed(alice, limit=10) == (BOUND + 1, None, 10, True)
    assert listed(alice, limit=10, search="-nothing") == (BOUND + 1, None, 10, True)
    assert alice.call("GET", "/v1/entries", total="all").error == "total: 'all' is not exact."
    assert (alice.get(f"/v1/views/{large}/entries", fields="id", limit=1)["total_exact"]) is False
    ids = alice.get(f"/v1/views/{large}/ids")
    assert (ids["total"], len(ids["entry_ids"])) == (BOUND + 1, BOUND)

    assert alice.get("/v1/views/counters") == {
        "unreads": {str(large): 1_000, str(exact): BOUND + 1}, "at_least": [large],
    }  # fmt: skip
    page = reader.page(f"/views/{large}")
    assert page.count(">1,000+</span>") == 2
    assert "<title>(1,000+) Large" in page
    assert reader.get("/counts").json()["at_least"] == [f"v{large}"]
    assert reader.get(f"/search/total?query={LARGE}").json() == {"text": "More than 10,000 results"}
    app = App(alice).sign_in()
    counts = {one["id"]: one["count"] for one in app.get("unread-count")["unreadcounts"]}
    assert counts[label("Large")] == 1_000
    assert app.call("GET", "stream/items/count", query={"s": label("Large")}).body == b"10001"

    rule = {"query": LARGE, "actions": [{"type": "star"}]}
    preview = alice.post("/v1/rules/preview", rule, status=200)
    assert (preview["matched"], preview["changed"]) == (BOUND + 1, BOUND)
    alice.put(f"/v1/views/{large}/mark-all-as-read", status=204)
    with alice.service.services.reading() as db:
        assert entry_lists.total(db, alice.id, EntryFilter(statuses=(EntryStatus.UNREAD,))) == 0
