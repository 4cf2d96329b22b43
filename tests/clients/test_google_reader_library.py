"""google-reader from PyPI, the library of Miniflux's author for the Google Reader API: every public method.

It needs Python 3.12. Its model of an enclosure has no `href`, which newsboat and RSS Guard read and FreshRSS sends: it
cannot read items with enclosures of any server that sends it.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from typing import Any

import pytest

from clients.library import document, numbered
from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow

if sys.hexversion < 0x30C0000:
    pytest.skip("google-reader needs Python 3.12 or newer", allow_module_level=True)
# Not skipped where it is missing: CI runs these tests on a newer Python.
google_reader = importlib.import_module("google_reader")

READING_LIST, READ = "user/-/state/com.google/reading-list", "user/-/state/com.google/read"
STARRED = "user/-/state/com.google/starred"
TITLES = ["Rain", "Sun", "Wind"]
TESTED = {
    "delete_tag", "disable_tag", "edit_subscription", "edit_tags", "get_stream_items_contents", "get_stream_items_ids",
    "get_token", "get_user_info", "list_subscriptions", "list_tags", "login", "mark_all_as_read",
    "quick_add_subscription", "rename_tag",
}  # fmt: skip


class Session:
    """A client that has signed in. Methods are those of the library, with what each of them needs first."""

    def __init__(self, person: Person, mount: str, password: str) -> None:
        self._client = google_reader.Client(person.service.url + mount)
        self._auth = self._client.login(person.user.username, password)
        self._token = self._client.get_token(self._auth)

    def read(self, method: str, *given: Any, **more: Any) -> Any:
        return getattr(self._client, method)(self._auth, *given, **more)

    def change(self, method: str, *given: Any, **more: Any) -> Any:
        return getattr(self._client, method)(self._auth, self._token, *given, **more)


@pytest.fixture(params=["", "/api/greader.php"], ids=["root", "freshrss"])
def session(request: pytest.FixtureRequest, alice: Person, site: Publisher) -> Session:
    """With a feed of three entries in a folder called Weather."""
    alice.has_feed(site, TITLES, category_id=alice.has_category("Weather")["id"])
    password = alice.post("/v1/api-passwords", {"name": "google-reader"})["password"]
    return Session(alice, request.param, password)


def ids(session: Session, stream: str = READING_LIST, **more: Any) -> list[str]:
    return [ref.id for ref in session.read("get_stream_items_ids", stream, **more).item_refs]


def states(person: Person) -> dict[str, tuple[str, bool]]:
    return {one["title"]: (one["status"], one["starred"]) for one in person.entries()}


def test_every_method_is_tested() -> None:
    methods: list[tuple[str, Callable[..., Any]]] = inspect.getmembers(google_reader.Client, inspect.isfunction)

    assert {name for name, _ in methods if not name.startswith("_")} == TESTED


def test_a_wrong_password_and_a_wrong_token_are_noticed(alice: Person) -> None:
    client = google_reader.Client(alice.service.url)

    with pytest.raises(google_reader.AuthenticationError):
        client.login(alice.user.username, "wrong")
    with pytest.raises(google_reader.AuthenticationError):
        client.get_user_info(google_reader.AuthToken("GoogleLogin", "alice/0"))


def test_lists_and_bodies_are_those_of_the_native_api(session: Session, alice: Person) -> None:
    assert session.read("get_user_info").user_name == alice.user.username
    (feed,) = alice.get("/v1/feeds")
    (subscription,) = session.read("list_subscriptions")
    assert (subscription.id, subscription.title, subscription.url) == (
        f"feed/{feed['id']}",
        feed["title"],
        feed["feed_url"],
    )
    assert [folder.label for folder in subscription.categories] == ["Weather"]
    folders = [tag.id for tag in session.read("list_tags") if tag.type == "folder"]
    assert folders == ["user/-/label/All", "user/-/label/Weather"]

    first = session.read("get_stream_items_ids", READING_LIST, limit=2, exclude_target=READ)
    rest = session.read("get_stream_items_ids", READING_LIST, limit=2, continuation=first.continuation)
    assert rest.continuation == ""
    found = [ref.id for ref in (*first.item_refs, *rest.item_refs)]
    items = session.change("get_stream_items_contents", found).items
    assert {item.title: item.summary.content for item in items} == {
        one["title"]: one["content"] for one in alice.entries()
    }
    assert {item.origin.stream_id for item in items} == {f"feed/{feed['id']}"}
    assert ids(session, direction="asc") == sorted(found, key=int)


def test_marks_arrive(session: Session, alice: Person) -> None:
    by_title = {one["title"]: str(one["id"]) for one in alice.entries()}

    assert session.change("edit_tags", [by_title["Rain"], by_title["Sun"]], add_tags=[READ])
    assert session.change("edit_tags", [by_title["Rain"]], add_tags=[STARRED])
    assert session.change("edit_tags", [by_title["Sun"]], remove_tags=[READ])

    assert states(alice) == {"Rain": ("read", True), "Sun": ("unread", False), "Wind": ("unread", False)}
    assert ids(session, STARRED) == [by_title["Rain"]]
    assert ids(session, include_target=READ) == [by_title["Rain"]]
    assert session.change("mark_all_as_read", READING_LIST)
    assert {status for status, _ in states(alice).values()} == {"read"}


def test_subscriptions_are_made_moved_and_ended(session: Session, alice: Person, site: Publisher) -> None:
    site.serve("/tides.xml", document(numbered(1), site.url("/tides.xml"), "High water"))

    added = session.change("quick_add_subscription", site.url("/tides.xml"))
    assert added.num_results == 1
    label = google_reader.get_label_id("Sea")
    assert session.change("edit_subscription", added.stream_id, "edit", add_label_id=label, title="Tides")
    assert session.change("rename_tag", label, "Ocean")
    feeds = {one["title"]: one["category"]["title"] for one in alice.get("/v1/feeds")}
    assert feeds["Tides"] == "Ocean"

    assert session.change("disable_tag", google_reader.get_label_id("Ocean"))
    assert session.change("delete_tag", google_reader.get_label_id("Weather"))
    assert [one["title"] for one in alice.get("/v1/categories")] == ["All"]
    assert session.change("edit_subscription", added.stream_id, "unsubscribe")
    assert len(alice.get("/v1/feeds")) == 1
