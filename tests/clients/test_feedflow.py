"""FeedFlow (Android, iOS, Windows, macOS, Linux): its account types FreshRSS and Miniflux, by the Google Reader API.

Facts from its sources of 2026. FreshRSS takes articles from streams, Miniflux asks for ids first. Both sign in with the
fields in the address, keep the edit token as it is, and write `output=json` at the end of most addresses.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import pytest

from clients.apps import plain
from clients.library import Library, document, numbered, subscribe
from clients.shapes import JsonShape, filled, list_of, misfits, nullable, record, text, whole
from greader.apps import FORM, READ, READING_LIST, STARRED, label
from support.people import HttpResponse, Person, call
from support.publisher import Publisher

pytestmark = pytest.mark.slow

AGENT = {
    "User-Agent": "FeedFlow (RSS Reader; +https://feedflow.dev)",
    "Accept": "application/json, text/html",
    "Accept-Charset": "UTF-8",
}
FRESHRSS, MINIFLUX = "/api/greader.php", ""

SUBSCRIPTIONS = record(
    subscriptions=list_of(
        record(id=text, title=text, categories=list_of(record(id=text, label=nullable(text)), 0), url=filled)
    )
)
IDS = record(itemRefs=list_of(record(id=text), 0))
# A member that is missing fails the whole page, even one that may be null.
ITEMS = record(
    items=list_of(
        record(
            id=text,
            published=whole,
            title=text,
            canonical=list_of(record(href=text), 0),
            summary=record(content=text),
            origin=record(streamId=text, htmlUrl=nullable(text), title=text),
            enclosure=list_of(record(href=text, type=text), 0),
            categories=list_of(text, 0),
            author=text,
        ),
        0,
    )
)
ADDED = record(numResults=nullable(whole), query=filled, streamId=filled)


@dataclass
class FeedFlow:
    """An account. mount: FRESHRSS or MINIFLUX. token: of the login. edit_token: None until the first change."""

    person: Person
    mount: str
    token: str = ""
    edit_token: str | None = None

    def login(self, password: str) -> int:
        """Return the status. The request has no body, and a header with an empty token."""
        fields = urlencode({"Email": self.person.user.username, "Passwd": password})
        answer = self.call("POST", f"accounts/ClientLogin?{fields}", b"")
        if answer.status == 200:
            # It splits at every equals sign, and takes what follows the last.
            lines = [line.split("=") for line in answer.body.decode().split("\n")]
            self.token = {parts[0]: parts[-1] for parts in lines}["Auth"]
        return answer.status

    def call(self, method: str, path: str, body: bytes | None = None, **headers: str) -> HttpResponse:
        signed = {**AGENT, "Authorization": f"GoogleLogin auth={self.token}", **headers}
        return call(self.person.service.url, method, f"{self.mount}/{path}", body, signed)

    def get(self, path: str, shape: JsonShape, *query: tuple[str, str]) -> Any:
        answer = self.call("GET", f"reader/api/0/{path}?{urlencode([*query, ('output', 'json')], quote_via=quote)}")
        return self.fitting(answer, shape)

    def post(self, path: str, *fields: tuple[str, str]) -> HttpResponse:
        """Send a change with the edit token; ask for a new token if it is refused with the header for that."""
        if self.edit_token is None:
            self._fetch_token()
        answer = self._post(path, fields)
        if answer.headers.get("x-reader-google-bad-token", "").lower() == "true":
            self._fetch_token()
            answer = self._post(path, fields)
        assert answer.status == 200, answer
        return answer

    def feeds(self) -> dict[str, dict[str, Any]]:
        """Return the subscriptions by id. Folders are those of subscriptions: it never asks for the list of tags."""
        found = self.get("subscription/list", SUBSCRIPTIONS)["subscriptions"]
        return {one["id"]: one for one in found}

    def folders(self) -> set[str]:
        return {one["categories"][0]["label"] for one in self.feeds().values()}

    def sync(self, since: int | None = None) -> dict[str, dict[str, Any]]:
        """Return new and starred items by id, two pages of each at most."""
        ot = [] if since is None else [("ot", str(since))]
        if self.mount == MINIFLUX:
            ids = [*self.ids(READING_LIST, ot, xt=READ), *self.ids(STARRED, ot)]
            return {item["id"].rsplit("/", 1)[-1]: item for item in self.contents(ids)}
        excluded = [("xt", READ), ("xt", STARRED)]
        items = [
            *self.pages(f"stream/contents/{READING_LIST}", excluded, ot),
            *self.pages(f"stream/contents/{STARRED}", [], ot),
        ]
        return {item["id"].rsplit("/", 1)[-1]: item for item in items}

    def pages(self, path: str, before: list[tuple[str, str]], ot: list[tuple[str, str]]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        continuation: str | None = None
        for _ in range(2):
            more = [] if continuation is None else [("c", continuation)]
            page = self.get(path, ITEMS, *before, ("n", "500"), *ot, *more)
            found += page["items"]
            continuation = page.get("continuation")
            if continuation is None:
                break
        return found

    def ids(self, stream: str, ot: Iterable[tuple[str, str]] = (), *, count: int = 500, xt: str = "") -> list[str]:
        """Return ids as 16 hex digits. Without pages if all are asked for at once."""
        found: list[str] = []
        continuation: str | None = None
        for _ in range(2 if count == 500 else 1):
            more = [] if continuation is None else [("c", continuation)]
            excluded = [("xt", xt)] if xt else []
            page = self.get("stream/items/ids", IDS, ("s", stream), *ot, *more, ("n", str(count)), *excluded)
            found += [f"{int(ref['id']):016x}" for ref in page["itemRefs"]]
            continuation = page.get("continuation")
            if continuation is None:
                break
        return found

    def contents(self, ids: list[str]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for start in range(0, len(ids), 200):
            pairs = [("i", one) for one in ids[start : start + 200]]
            found += self.fitting(self.post("stream/items/contents?output=json", *pairs), ITEMS)["items"]
        return found

    def unread(self) -> set[str]:
        return set(self.ids(READING_LIST, count=1000, xt=READ))

    def starred(self) -> set[str]:
        return set(self.ids(STARRED, count=1000))

    @staticmethod
    def fitting(answer: HttpResponse, shape: JsonShape) -> Any:
        assert answer.status == 200, answer
        found = json.loads(plain(answer))
        assert misfits(found, shape) == []
        return found

    def _fetch_token(self) -> None:
        answer = self.call("GET", "reader/api/0/token")
        assert (answer.status, answer.headers["content-type"].partition(";")[0]) == (200, "text/plain")
        self.edit_token = answer.body.decode()

    def _post(self, path: str, fields: Iterable[tuple[str, str]]) -> HttpResponse:
        body = urlencode([*fields, ("T", self.edit_token or "")]).encode()
        return self.call("POST", f"reader/api/0/{path}", body, **{"Content-Type": f"{FORM}; charset=UTF-8"})


@pytest.fixture(params=[FRESHRSS, MINIFLUX], ids=["freshrss", "miniflux"])
def app(request: pytest.FixtureRequest, alice: Person, library: Library) -> FeedFlow:
    """Alice's app, signed in."""
    signed_in = FeedFlow(alice, request.param)
    assert signed_in.login(alice.post("/v1/api-passwords", {"name": "FeedFlow"})["password"]) == 200
    return signed_in


def hex_id(entry_id: int) -> str:
    return f"{entry_id:016x}"


def titles(items: dict[str, dict[str, Any]]) -> list[str]:
    return sorted(item["title"] for item in items.values())


def test_a_wrong_password_is_401(alice: Person) -> None:
    assert FeedFlow(alice, FRESHRSS).login("wrong") == 401


def test_the_first_sync_brings_unread_and_starred_articles(library: Library, app: FeedFlow) -> None:
    assert app.folders() == {"News", "Podcasts"}
    found = app.sync()
    assert titles(found) == ["On the air", "Rain tomorrow", "Sun today", "Wind yesterday"]
    assert {item["origin"]["streamId"] for item in found.values()} <= app.feeds().keys()
    (enclosure,) = found[hex_id(library.listened)]["enclosure"]
    assert (enclosure["href"], enclosure["type"]) == ("http://media.example/on-the-air.mp3", "audio/mpeg")
    assert app.starred() == {hex_id(library.starred)}
    assert app.unread() == found.keys() - {hex_id(library.starred)}
    # It knows states by their endings.
    ending = "state/com.google/read"
    read = {name for name, item in found.items() if any(one.endswith(ending) for one in item["categories"])}
    assert read == {hex_id(library.starred)}


def test_two_pages_are_fetched_at_most(alice: Person, site: Publisher, library: Library, app: FeedFlow) -> None:
    subscribe(alice, site, numbered(620), "Long")
    subscribe(alice, site, numbered(500), "Longer")
    found = app.sync()
    # Starred articles are not among the first 1,000.
    assert len(found) == 1001
    assert hex_id(library.starred) in found
    assert len(app.unread()) == 1000


def test_a_later_sync_asks_for_what_was_stored_since(
    alice: Person, site: Publisher, library: Library, app: FeedFlow
) -> None:
    app.sync()
    since = int(time.time()) + 1
    time.sleep(max(0.0, since + 0.05 - time.time()))
    assert app.sync(since) == {}
    subscribe(alice, site, numbered(2), "Later")
    assert titles(app.sync(since)) == ["Number 1", "Number 2"]


def test_articles_are_marked_and_starred(library: Library, app: FeedFlow) -> None:
    """Marking all of a feed sends the ids of its articles."""
    entry, listened = hex_id(library.entry), hex_id(library.listened)
    unread = app.unread()
    app.post("edit-tag?output=json", ("i", entry), ("i", listened), ("a", READ))
    assert app.unread() == unread - {entry, listened}
    app.post("edit-tag?output=json", ("i", entry), ("r", READ))
    assert app.unread() == unread - {listened}
    app.post("edit-tag?output=json", ("i", entry), ("a", STARRED))
    app.post("edit-tag?output=json", ("i", hex_id(library.starred)), ("r", STARRED))
    assert app.starred() == {entry}


def test_a_refused_edit_token_is_replaced(library: Library, app: FeedFlow) -> None:
    app.edit_token = "of another server"
    app.post("edit-tag?output=json", ("i", hex_id(library.entry)), ("a", READ))
    assert hex_id(library.entry) not in app.unread()


@pytest.mark.parametrize("folder", ["News", "Seas", ""], ids=["known", "new", "none"])
def test_a_feed_is_added(site: Publisher, app: FeedFlow, folder: str) -> None:
    url = site.serve("/new.xml", document(numbered(1), site.url("/new.xml"), "New"))
    added = app.fitting(app.post("subscription/quickadd?output=json", ("quickadd", url)), ADDED)
    chosen = [("a", label(folder))] if folder else []
    app.post("subscription/edit", ("s", added["streamId"]), ("ac", "edit"), *chosen)
    feed = app.feeds()[added["streamId"]]
    assert (feed["title"], feed["categories"][0]["label"]) == ("New", folder or "All")


def test_an_address_without_a_feed_is_not_added(site: Publisher, app: FeedFlow) -> None:
    site.serve("/page.html", "<p>Nothing here.</p>", headers={"Content-Type": "text/html"})
    answer = app.post("subscription/quickadd?output=json", ("quickadd", site.url("/page.html")))
    found = app.fitting(answer, record(numResults=whole))
    assert (found.get("streamId"), len(app.feeds())) == (None, 2)


def test_a_feed_is_renamed_moved_and_removed(library: Library, app: FeedFlow) -> None:
    feed = ("s", f"feed/{library.feed}")
    move = [("r", label("News")), ("t", "Skies"), ("a", label("Podcasts"))]
    app.post("subscription/edit", feed, ("ac", "edit"), *move)
    changed = app.feeds()[f"feed/{library.feed}"]
    assert (changed["title"], changed["categories"][0]["label"]) == ("Skies", "Podcasts")
    app.post("subscription/edit", feed, ("ac", "edit"), ("t", "Clouds"))
    assert app.feeds()[f"feed/{library.feed}"]["title"] == "Clouds"
    app.post("subscription/edit", feed, ("ac", "unsubscribe"))
    assert app.feeds().keys() == {f"feed/{library.podcast}"}


def test_a_folder_is_renamed_and_emptied(library: Library, app: FeedFlow) -> None:
    """To remove a folder it changes nothing of it first, and then takes its feeds out."""
    app.post("rename-tag", ("s", label("News")), ("dest", label("Papers")))
    assert app.folders() == {"Papers", "Podcasts"}
    app.post("edit-tag?output=json", ("s", label("Papers")))
    app.post("subscription/edit", ("s", f"feed/{library.feed}"), ("ac", "edit"), ("r", label("Papers")))
    assert app.folders() == {"All", "Podcasts"}
