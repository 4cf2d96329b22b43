"""Readrops (Android) with its account type Fever.

The form has the key only: everything else is in the address, and only the login has `api` there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from clients.library import Library, numbered, subscribe
from clients.okhttp import AGENT, fitting, form_of_parts
from clients.shapes import filled, list_of, nullable, record, text, whole
from fever.apps import key_of
from support.people import HttpResponse, Person, call
from support.publisher import Publisher

pytestmark = pytest.mark.slow

MEMBERS = {
    "groups": record(groups=list_of(record(id=whole, title=filled))),
    "feeds": record(
        feeds=list_of(record(id=whole, favicon_id=whole, title=filled, url=filled, site_url=nullable(text))),
        feeds_groups=list_of(record(group_id=whole, feed_ids=filled)),
    ),
    "favicons": record(favicons=list_of(record(id=whole, data=filled), 0)),
    "items": record(
        items=list_of(
            record(
                id=whole,
                feed_id=whole,
                title=filled,
                author=nullable(text),
                html=nullable(text),
                url=nullable(text),
                is_read=whole,
                is_saved=whole,
                created_on_time=whole,
            ),
            0,
        )
    ),
    "unread_item_ids": record(unread_item_ids=text),
    "saved_item_ids": record(saved_item_ids=text),
}


@dataclass
class Readrops:
    """An account of the type Fever. key: without zeros at its beginning, since the app computes it as a number."""

    person: Person
    key: str

    def ask(self, query: str) -> Any:
        shape = MEMBERS.get(query.partition("&")[0], record())
        return fitting(self._post(query), record(auth=whole) if query == "api" else shape)

    def mark(self, state: str, entry_id: int) -> None:
        assert self._post(f"mark=item&as={state}&id={entry_id}").status == 200

    def pages(self, parameter: str, start: int, most: int) -> list[int]:
        """Return the ids of pages until one is empty: downwards with max_id, upwards with since_id."""
        found: list[int] = []
        for _ in range(most):
            page = [item["id"] for item in self.ask(f"items&{parameter}={start}")["items"]]
            if not page:
                break
            start = min(page) if parameter == "max_id" else max(page)
            found += page
        return found

    def _post(self, query: str) -> HttpResponse:
        body, header = form_of_parts(("api_key", self.key))
        return call(self.person.service.url, "POST", f"/fever/?{query}", body, {**AGENT, **header})


def key_with_a_zero(person: Person) -> str:
    """Return a key that begins with 0, as one in 16 does."""
    for _ in range(500):
        created = person.post("/v1/api-passwords", {"name": "Readrops"})
        key = key_of(person.user.username, created["password"])
        if key.startswith("0"):
            return key
        person.delete(f"/v1/api-passwords/{created['id']}")
    raise AssertionError("no key begins with 0")


@pytest.fixture
def app(alice: Person, library: Library) -> Readrops:
    password = alice.post("/v1/api-passwords", {"name": "Readrops"})["password"]
    return Readrops(alice, key_of(alice.user.username, password).lstrip("0"))


def test_a_session_of_the_app_works(alice: Person, site: Publisher, library: Library, app: Readrops) -> None:
    many = subscribe(alice, site, numbered(120), "Many")
    assert app.ask("api")["auth"] == 1
    found = app.ask("feeds")
    grouped = {int(one) for group in found["feeds_groups"] for one in group["feed_ids"].split(",")}
    assert {one["id"] for one in found["feeds"]} == grouped == {library.feed, library.podcast, many}
    # It reads a group until it knows both members, and never gets past another one.
    assert all(group.keys() == {"id", "title"} for group in app.ask("groups")["groups"])
    assert {icon["id"] for icon in app.ask("favicons")["favicons"]} <= {one["favicon_id"] for one in found["feeds"]}

    unread = [int(one) for one in app.ask("unread_item_ids")["unread_item_ids"].split(",")]
    assert [int(one) for one in app.ask("saved_item_ids")["saved_item_ids"].split(",")] == [library.starred]
    newest = max(unread)
    first = app.pages("max_id", newest, 20)
    assert len(first) == len(set(first)) == 123
    assert {newest, *first} >= set(unread)

    app.mark("read", library.entry)
    app.mark("saved", library.entry)
    app.mark("unsaved", library.starred)
    app.mark("unread", library.starred)

    subscribe(alice, site, numbered(60), "Later")
    later = app.pages("since_id", newest, 100)
    assert (len(later), min(later) > newest) == (60, True)
    unread = [int(one) for one in app.ask("unread_item_ids")["unread_item_ids"].split(",")]
    assert (library.entry in unread, library.starred in unread) == (False, True)
    assert app.ask("saved_item_ids")["saved_item_ids"] == str(library.entry)


def test_a_key_without_its_zeros_is_known(alice: Person) -> None:
    key = key_with_a_zero(alice)
    assert Readrops(alice, key.lstrip("0")).ask("api")["auth"] == 1
    assert Readrops(alice, key).ask("api")["auth"] == 1


def test_the_login_fails_with_another_password(alice: Person, app: Readrops) -> None:
    other = f"{int(app.key, 16) ^ 1:x}"
    assert Readrops(alice, other).ask("api")["auth"] == 0
