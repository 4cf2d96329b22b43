"""Flushing the history."""

from __future__ import annotations

import pytest

from support.people import Person, rss
from support.publisher import Publisher
from tidings.storage.schema import entries


def titles(person: Person) -> list[str]:
    return sorted(entry["title"] for entry in person.entries())


def mark(person: Person, **state_of: str) -> None:
    """Set the state of entries. state_of: by title, read, starred or shared."""
    for entry in person.entries():
        for word in state_of.get(entry["title"], "").split():
            if word == "read":
                person.put("/v1/entries", {"entry_ids": [entry["id"]], "status": "read"})
            elif word == "starred":
                person.put("/v1/entries", {"entry_ids": [entry["id"]], "starred": True})
            else:
                with person.service.services.database.writing() as db:
                    code = f"code-{entry['id']}"
                    db.run(entries.update().where(entries.c.id == entry["id"]).values(share_code=code))


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_flushing_deletes_read_entries_but_not_those_that_the_user_keeps(
    alice: Person, site: Publisher, method: str
) -> None:
    alice.has_feed(site, ["Gone", "Labelled", "Starred", "Shared", "Unread"])
    mark(alice, Gone="read", Labelled="read", Starred="read starred", Shared="read shared")
    labelled = [entry["id"] for entry in alice.entries() if entry["title"] == "Labelled"]
    alice.service.services.entries.labels.change(alice.id, labelled, add=["Work"])

    answer = alice.call(method, "/v1/flush-history")

    assert (answer.status, answer.body, answer.headers["content-type"]) == (202, b"", "application/json")
    assert titles(alice) == ["Labelled", "Shared", "Starred", "Unread"]


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_other_methods_are_405(alice: Person, method: str) -> None:
    answer = alice.call(method, "/v1/flush-history")

    assert (answer.status, answer.headers["allow"]) == (405, "DELETE, PUT")


def test_counters_and_totals_are_updated(alice: Person, site: Publisher) -> None:
    first, second = alice.has_feed(site, ["A", "B", "C"]), alice.has_feed(site, ["D", "E"])
    mark(alice, A="read", B="read starred", D="read", E="read")

    alice.put("/v1/flush-history", status=202)

    assert alice.get("/v1/feeds/counters") == {
        "reads": {str(first["id"]): 1},
        "unreads": {str(first["id"]): 1},
    }
    assert alice.get("/v1/entries")["total"] == 2
    assert alice.get(f"/v1/feeds/{second['id']}/entries")["total"] == 0


def test_flushed_entries_do_not_come_back(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["Gone", "Stays"])
    mark(alice, Gone="read")
    alice.put("/v1/flush-history", status=202)

    path = feed["feed_url"].removeprefix(site.url(""))
    site.serve(path, rss(["New", "Gone", "Stays"], feed["feed_url"]))
    alice.put(f"/v1/feeds/{feed['id']}/refresh")

    assert titles(alice) == ["New", "Stays"]


def test_flushing_keeps_removed_entries(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Removed", "Read"])
    mark(alice, Read="read")
    removed = next(entry["id"] for entry in alice.entries() if entry["title"] == "Removed")
    alice.put("/v1/entries", {"entry_ids": [removed], "status": "removed"})

    alice.put("/v1/flush-history", status=202)

    assert [entry["id"] for entry in alice.entries(status="removed")] == [removed]


def test_flushing_twice_is_the_same_as_once(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Gone", "Stays"])
    mark(alice, Gone="read")

    for _ in range(2):
        alice.delete("/v1/flush-history", status=202)

    assert titles(alice) == ["Stays"]


def test_entries_of_other_users_are_not_flushed(alice: Person, bob: Person, charlie: Person, site: Publisher) -> None:
    alice.has_feed(site, ["One"])
    mark(alice, One="read")

    for stranger in (bob, charlie):
        stranger.put("/v1/flush-history", status=202)

    assert titles(alice) == ["One"]


@pytest.mark.slow
def test_one_call_flushes_several_batches(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, [f"Entry {number}" for number in range(2_300)])
    kept = alice.entries(limit=1, offset=1_500)[0]["id"]
    alice.put("/v1/entries", {"entry_ids": [kept], "starred": True})
    alice.put(f"/v1/users/{alice.id}/mark-all-as-read")

    alice.put("/v1/flush-history", status=202)

    assert [entry["id"] for entry in alice.entries()] == [kept]
