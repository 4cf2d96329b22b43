"""Entries that become starred are saved to services, if their user wants that, in every API and on pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from deliveries.test_outbox import outbox, switch_on
from fever.apps import sign_in
from greader.apps import STARRED, App, long_id
from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor

pytestmark = pytest.mark.slow

Star = Callable[[Person, Sequence[int]], Any]
TITLES = ["Rain", "Sun", "Snow"]


def star_natively(person: Person, ids: Sequence[int]) -> None:
    person.put("/v1/entries", {"entry_ids": list(ids), "starred": True})


def toggle(person: Person, ids: Sequence[int]) -> None:
    for entry_id in ids:
        person.put(f"/v1/entries/{entry_id}/star", status=204)


def star_in_a_reader_app(person: Person, ids: Sequence[int]) -> None:
    App(person).sign_in().post("edit-tag", [*(("i", long_id(one)) for one in ids), ("a", STARRED)])


def star_in_a_fever_app(person: Person, ids: Sequence[int]) -> None:
    app = sign_in(person, f"app {ids}")
    for entry_id in ids:
        app.mark(mark="item", id=entry_id, **{"as": "saved"})


def star_on_pages(person: Person, ids: Sequence[int]) -> None:
    visitor = Visitor(person.service, person)
    visitor.sign_in()
    visitor.post("/entries/marks", star=[str(one) for one in ids])


WAYS = [star_natively, toggle, star_in_a_reader_app, star_in_a_fever_app, star_on_pages]


@pytest.fixture
def ids(alice: Person, site: Publisher) -> list[int]:
    """Entries of Alice, who has a service that saves, and saves what she stars."""
    alice.has_feed(site, TITLES)
    switch_on(alice)
    alice.put(f"/v1/users/{alice.id}", {"saves_starred": True}, status=201)
    return sorted(entry["id"] for entry in alice.entries())


def saved(person: Person) -> list[int]:
    """The ids of the entries with deliveries, in their order. Each was delivered with its star."""
    events = outbox(person)
    assert all(event["event_type"] == "save_entry" and event["entry"]["starred"] for event in events)
    return [event["entry"]["id"] for event in events]


@pytest.mark.slow
@pytest.mark.parametrize("star", WAYS)
def test_an_entry_is_saved_when_it_becomes_starred(alice: Person, ids: list[int], star: Star) -> None:
    star(alice, ids[:2])
    assert saved(alice) == ids[:2]
    assert alice.get(f"/v1/entries/{ids[0]}")["starred"] is True

    if star is not toggle:
        star(alice, ids[:3])
        assert saved(alice) == ids
    alice.put("/v1/entries", {"entry_ids": ids, "starred": False})
    alice.put("/v1/entries", {"entry_ids": ids, "status": "read"})
    assert len(saved(alice)) == len(set(saved(alice)))


@pytest.mark.parametrize("star", WAYS)
def test_stars_save_nothing_unless_the_user_wants_that(alice: Person, ids: list[int], star: Star) -> None:
    alice.put(f"/v1/users/{alice.id}", {"saves_starred": False}, status=201)

    star(alice, ids)

    assert saved(alice) == []
    assert all(entry["starred"] for entry in alice.entries())


@pytest.mark.parametrize("star", WAYS)
def test_without_a_service_that_saves_a_star_is_a_star(alice: Person, ids: list[int], star: Star) -> None:
    alice.put("/v1/integrations", {"webhook": {"enabled": False}}, status=201)

    star(alice, ids)

    assert saved(alice) == []
    assert all(entry["starred"] for entry in alice.entries())


def test_entries_of_others_are_not_saved(alice: Person, bob: Person, ids: list[int], site: Publisher) -> None:
    bob.has_feed(site, ["Hail"])
    (foreign,) = (entry["id"] for entry in bob.entries())

    star_natively(alice, [foreign, ids[0]])
    assert alice.call("PUT", f"/v1/entries/{foreign}/star").status == 404

    assert (saved(alice), saved(bob)) == ([ids[0]], [])
    assert bob.entries()[0]["starred"] is False


def test_many_stars_at_once_are_a_copy_of_another_account(alice: Person, ids: list[int]) -> None:
    star_natively(alice, [*ids, *range(2**30, 2**30 + 98)])

    assert saved(alice) == []
    assert all(entry["starred"] for entry in alice.entries())


def test_an_imported_star_saves_nothing(alice: Person, ids: list[int]) -> None:
    feed_id = alice.get(f"/v1/entries/{ids[0]}")["feed_id"]

    alice.post(f"/v1/feeds/{feed_id}/entries/import", {"url": "https://example.org/old", "starred": True})

    assert saved(alice) == []


def test_an_entry_is_saved_with_the_labels_that_it_gets_with_its_star(alice: Person, ids: list[int]) -> None:
    label = alice.post("/v1/labels", {"title": "Later"})["id"]

    alice.put("/v1/entries", {"entry_ids": ids[:1], "starred": True, "add_labels": [label]})

    assert [event["entry"]["labels"] for event in outbox(alice)] == [["Later"]]
