"""Duplicates in the API and in apps, for those who have them found; nothing changes for others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from archives.test_account_archive import _export, _import
from fever.apps import sign_in
from greader.apps import READING_LIST, App
from support.people import Person, rss
from support.publisher import Publisher
from tidings.duplicates.services import DuplicateServices

pytestmark = pytest.mark.slow


def subscribe_twice(person: Person, site: Publisher, titles: tuple[str, ...] = ("Rain", "Snow")) -> Iterator[int]:
    """Yield the ids of two feeds with the same entries."""
    for name in ("news", "planet"):
        path = f"/{name}-{person.id}.xml"
        site.serve(path, rss(titles, site.url(f"/articles-{person.id}"), title=name.title()))
        yield person.post("/v1/feeds", {"feed_url": site.url(path)})["feed_id"]


def choose(person: Person, mode: str) -> None:
    person.put(f"/v1/users/{person.id}", {"duplicates": mode}, status=201)
    search_all(person)


def search_all(person: Person) -> None:
    """Let the worker find what it has to find."""
    while person.service.services.of(DuplicateServices).search.work():
        pass


def by_feed(person: Person, **query: Any) -> dict[tuple[int, str], dict[str, Any]]:
    return {(one["feed_id"], one["title"]): one for one in person.entries(**query)}


def test_entries_tell_what_they_repeat_only_to_those_who_want_it(alice: Person, site: Publisher) -> None:
    news, planet = subscribe_twice(alice, site)
    assert {"duplicate_of", "duplicates"}.isdisjoint(alice.entries()[0])
    choose(alice, "mark_read")

    found = by_feed(alice)
    first, second = found[news, "Rain"], found[planet, "Rain"]
    assert (first["status"], first["duplicate_of"], first["duplicates"]) == ("unread", None, [second["id"]])
    assert (second["status"], second["duplicate_of"], second["duplicates"]) == ("read", first["id"], [])
    assert {key[0] for key in by_feed(alice, query="is:duplicate")} == {planet}


def test_a_folded_entry_is_in_no_list_and_no_count(alice: Person, bob: Person, site: Publisher) -> None:
    choose(alice, "fold")
    news, planet = subscribe_twice(alice, site)
    search_all(alice)
    listed = alice.get("/v1/entries")
    assert (listed["total"], {one["feed_id"] for one in listed["entries"]}) == (2, {news})
    assert alice.get("/v1/feeds/counters")["unreads"] == {str(news): 2}
    assert alice.get(f"/v1/feeds/{planet}/entries")["total"] == 0
    assert alice.get("/v1/entries", query="is:duplicate")["total"] == 2
    assert len(sign_in(alice).unread()) == 2
    assert len(App(alice).sign_in().ids(READING_LIST)) == 2

    original = by_feed(alice)[news, "Rain"]
    (folded_id,) = original["duplicates"]
    folded = alice.get(f"/v1/entries/{folded_id}")
    assert (folded["status"], folded["duplicate_of"], folded["feed_id"]) == ("unread", original["id"], planet)
    alice.put("/v1/entries", {"entry_ids": [folded_id], "status": "read", "starred": True})
    assert [alice.get(f"/v1/entries/{id_}")["status"] for id_ in (original["id"], folded_id)] == ["read"] * 2
    assert alice.get("/v1/entries", starred="true")["total"] == 1

    assert bob.call("GET", f"/v1/entries/{folded_id}").status == 404
    bob.put("/v1/entries", {"entry_ids": [folded_id], "status": "unread"})
    assert alice.get(f"/v1/entries/{original['id']}")["status"] == "read"
    choose(alice, "off")
    assert alice.get("/v1/entries")["total"] == 4


def test_another_choice_is_refused(alice: Person) -> None:
    answer = alice.call("PUT", f"/v1/users/{alice.id}", {"duplicates": "hide"})
    assert answer.status == 400
    assert "duplicates" in answer.error


@pytest.mark.slow
def test_an_archive_has_the_setting_and_the_states_behind_it(alice: Person, bob: Person, site: Publisher) -> None:
    news, _planet = subscribe_twice(alice, site)
    choose(alice, "fold")
    read = by_feed(alice)[news, "Rain"]
    alice.put("/v1/entries", {"entry_ids": [read["id"]], "status": "read"})

    kept = alice.has_category("Planets")
    alice.put(f"/v1/categories/{kept['id']}", {"keep_duplicates": True}, status=201)

    services = alice.service.services
    _import(services, bob, _export(services, alice))
    assert bob.get("/v1/me")["duplicates"] == "fold"
    assert {one["title"] for one in bob.get("/v1/categories") if one["keep_duplicates"]} == {"Planets"}
    choose(bob, "off")
    states = {(one["feed"]["title"], one["title"]): one["status"] for one in bob.entries()}
    assert states == {
        ("News", "Rain"): "read",
        ("News", "Snow"): "unread",
        ("Planet", "Rain"): "read",
        ("Planet", "Snow"): "unread",
    }
