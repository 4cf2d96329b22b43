"""Readrops (Android): its account types FreshRSS and Google Reader API, which differ in the address.

Facts from its sources of June 2025: which requests it sends, what its parsers refuse, and how it joins ids with items.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import pytest

from clients.apps import plain
from clients.library import Article, Library, document, numbered, subscribe
from clients.okhttp import AGENT, fitting, form_of_parts
from clients.shapes import JsonShape, filled, list_of, nullable, record, text, whole
from greader.apps import FORM, ITEM, READ, READING_LIST, STARRED, label, long_id
from support.people import HttpResponse, Person, call
from support.publisher import Publisher

pytestmark = pytest.mark.slow

UNREAD = "user/-/state/com.google/unread"

# A title that is empty, or an address, fails the whole list.
SUBSCRIPTIONS = record(
    subscriptions=list_of(
        record(
            id=filled,
            title=filled,
            url=filled,
            htmlUrl=nullable(text),
            iconUrl=nullable(text),
            categories=list_of(record(id=nullable(text)), 0),
        )
    )
)
TAGS = record(tags=list_of(record(id=filled)))
ITEMS = record(
    items=list_of(
        record(
            id=filled,
            published=whole,
            title=filled,
            summary=record(content=nullable(text)),
            alternate=list_of(record(href=text), 0),
            categories=list_of(text, 0),
            origin=record(streamId=text),
            author=nullable(text),
        ),
        0,
    )
)
IDS = record(itemRefs=list_of(record(id=filled), 0))


def states(ids: Iterable[str]) -> list[str]:
    """Return the ids of items that the app derives from short ids: as many hex digits as there are decimal ones."""
    return [f"{ITEM}{int(one):0{len(one)}x}" for one in ids]


@dataclass
class Readrops:
    """An account of the types FreshRSS and Google Reader API. mount: what the app has as its address."""

    person: Person
    mount: str
    token: str = ""
    edit_token: str = ""

    def login(self, password: str) -> None:
        """Sign in; keep both tokens for ever, and the name to show."""
        body, header = form_of_parts(("Email", self.person.user.username), ("Passwd", password))
        answer = self._call("POST", "accounts/ClientLogin", body, header)
        assert answer.status == 200, answer
        # It reads the text as a file of properties.
        lines = dict(line.split("=", 1) for line in plain(answer).decode().splitlines())
        self.token = lines["Auth"]
        self.edit_token = plain(self._call("GET", "reader/api/0/token")).decode()
        shown = fitting(self._call("GET", "reader/api/0/user-info"), record(userName=text))
        assert shown["userName"] == self.person.user.username

    def get(self, path: str, shape: JsonShape) -> Any:
        return fitting(self._call("GET", f"reader/api/0/{path}"), shape)

    def post(self, path: str, *fields: tuple[str, str]) -> None:
        """Send a form. Any status below 400 is a success, and the body is not read."""
        body = urlencode([("T", self.edit_token), *fields]).encode()
        answer = self._call("POST", f"reader/api/0/{path}", body, {"Content-Type": FORM})
        assert answer.status == 200, answer

    def items(self, query: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get(f"stream/contents/{query}", ITEMS)["items"]
        return found

    def ids(self, query: str) -> list[str]:
        """Return the ids under which the app looks for items. It takes no other member next to `id`."""
        refs = self.get(f"stream/items/ids?{query}", IDS)["itemRefs"]
        assert all(ref.keys() == {"id"} for ref in refs)
        return states(ref["id"] for ref in refs)

    def unread_ids(self) -> list[str]:
        return self.ids(f"xt={READ}&s={READING_LIST}&n=2500")

    def starred_ids(self) -> list[str]:
        return self.ids(f"s={STARRED}&n=1000")

    def folders(self) -> list[str]:
        """Return the names it shows: what follows the last slash of the id."""
        tags = self.get("tag/list?output=json", TAGS)["tags"]
        return [tag["id"].rsplit("/", 1)[-1] for tag in tags if tag.get("type") == "folder"]

    def feeds(self) -> list[dict[str, Any]]:
        """Return the subscriptions. The app stops reading the categories of one after the first, and fails at more."""
        found: list[dict[str, Any]] = self.get("subscription/list?output=json", SUBSCRIPTIONS)["subscriptions"]
        assert all(len(one["categories"]) == 1 for one in found)
        return found

    def _call(
        self, method: str, path: str, body: bytes | None = None, header: dict[str, str] | None = None
    ) -> HttpResponse:
        signed = {"Authorization": f"GoogleLogin auth={self.token}"} if self.token else {}
        return call(
            self.person.service.url, method, f"{self.mount}/{path}", body, {**AGENT, **signed, **(header or {})}
        )


# The type FreshRSS adds its path to what was entered: to that path, too, which fits the other type.
@pytest.fixture(
    params=["/api/greader.php", "/api/greader.php/api/greader.php", ""],
    ids=["freshrss", "freshrss-path-entered", "google-reader"],
)
def app(request: pytest.FixtureRequest, alice: Person, library: Library) -> Readrops:
    """Alice's app, signed in."""
    signed_in = Readrops(alice, request.param)
    signed_in.login(alice.post("/v1/api-passwords", {"name": "Readrops"})["password"])
    return signed_in


def titles(items: Sequence[dict[str, Any]]) -> list[str]:
    return sorted(item["title"] for item in items)


def test_the_first_sync_shows_what_is_unread_and_what_is_starred(
    alice: Person, library: Library, app: Readrops
) -> None:
    assert app.folders() == ["All", "News", "Podcasts"]
    assert {one["id"] for one in app.feeds()} == {f"feed/{library.feed}", f"feed/{library.podcast}"}
    items = app.items(f"{READING_LIST}?xt={READ}&xt={STARRED}&n=2500")
    assert titles(items) == ["On the air", "Rain tomorrow", "Wind yesterday"]
    starred = app.items(f"{STARRED}?n=1000")
    assert titles(starred) == ["Sun today"]
    known = {one["id"] for one in app.feeds()}
    assert {item["origin"]["streamId"] for item in [*items, *starred]} <= known

    # An item without a state is shown as read.
    assert sorted(app.unread_ids()) == sorted(item["id"] for item in items)
    assert app.starred_ids() == [starred[0]["id"]]


def test_a_later_sync_sends_the_changes_and_asks_for_what_is_new(
    alice: Person, site: Publisher, library: Library, app: Readrops
) -> None:
    entry, listened, starred = long_id(library.entry), long_id(library.listened), long_id(library.starred)
    since = int(time.time()) + 1
    time.sleep(max(0.0, since + 0.05 - time.time()))
    later = subscribe(alice, site, numbered(2), "Later", category_id=library.category)

    app.post("edit-tag", ("a", READ), ("i", entry), ("i", listened))
    app.post("edit-tag", ("r", READ), ("i", starred))
    app.post("edit-tag", ("a", STARRED), ("i", entry))
    app.post("edit-tag", ("r", STARRED), ("i", starred))

    assert f"feed/{later}" in {one["id"] for one in app.feeds()}
    new = app.items(f"{READING_LIST}?n=2500&ot={since}")
    assert titles(new) == ["Number 1", "Number 2"]
    assert set(app.ids(f"xt={UNREAD}&s={READING_LIST}&n=2500")) == {entry, listened}
    assert set(app.unread_ids()) >= {starred, *(item["id"] for item in new)}
    assert app.starred_ids() == [entry]
    assert not {entry, listened} & set(app.unread_ids())


def test_feeds_and_folders_are_changed(alice: Person, site: Publisher, library: Library, app: Readrops) -> None:
    """The feed is named by its address, as the list of subscriptions has it."""
    url = site.serve("/new.xml", document(numbered(1), site.url("/new.xml"), "New"))
    app.post("subscription/edit", ("s", f"feed/{url}"), ("ac", "subscribe"), ("a", label("News")))
    (new,) = [one for one in app.feeds() if one["title"] == "New"]
    assert (new["url"], new["categories"][0]["id"]) == (url, label("News"))

    named = ("s", f"feed/{new['url']}")
    app.post("subscription/edit", named, ("t", "Tides"), ("a", label("Podcasts")), ("ac", "edit"))
    changed = next(one for one in app.feeds() if one["id"] == new["id"])
    assert (changed["title"], changed["categories"][0]["id"]) == ("Tides", label("Podcasts"))

    app.post("rename-tag", ("s", label("News")), ("dest", label("Papers")))
    assert app.folders() == ["All", "Papers", "Podcasts"]
    app.post("disable-tag", ("s", label("Papers")))
    assert app.folders() == ["All", "Podcasts"]
    # So did older versions make a folder.
    app.post("edit-tag", ("a", label("Sea")))
    assert app.folders() == ["All", "Podcasts", "Sea"]
    app.post("subscription/edit", named, ("ac", "unsubscribe"))
    assert new["id"] not in {one["id"] for one in app.feeds()}
    assert len(app.feeds()) == 2


def test_a_feed_without_a_folder_is_subscribed(alice: Person, site: Publisher, app: Readrops) -> None:
    url = site.serve("/new.xml", document(numbered(1), site.url("/new.xml"), "New"))
    app.post("subscription/edit", ("s", f"feed/{url}"), ("ac", "subscribe"))
    assert "New" in {one["title"] for one in app.feeds()}


def test_an_item_without_a_title_has_one(alice: Person, site: Publisher, app: Readrops) -> None:
    """An empty title fails the whole list."""
    subscribe(alice, site, [Article("", text="<p>Only a text.</p>")], "Untitled")
    assert all(app.items(f"{READING_LIST}?xt={READ}&xt={STARRED}&n=2500"))


@pytest.mark.parametrize(
    ("query", "agent"),
    [
        (f"s={STARRED}&n=1000&output=json", "okhttp/4.12.0"),
        (f"s={STARRED}&n=1000&ot=0", "okhttp/4.12.0"),
        (f"s={STARRED}&n=10000", "okhttp/4.12.0"),
        (f"s={STARRED}&n=1000", "NetNewsWire"),
        (f"n=1000&xt={UNREAD}&it={STARRED}", "okhttp/4.12.0"),
    ],
)
def test_other_apps_get_ids_as_they_are(library: Library, app: Readrops, query: str, agent: str) -> None:
    """They send them back, where zeros at the beginning would mean another id."""
    headers = {"Authorization": f"GoogleLogin auth={app.token}", "User-Agent": agent}
    answer = call(app.person.service.url, "GET", f"/reader/api/0/stream/items/ids?{query}", None, headers)
    assert answer.json()["itemRefs"] == [{"id": str(library.starred)}]
