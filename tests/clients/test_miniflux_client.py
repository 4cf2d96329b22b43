"""The `miniflux` client from PyPI: each of its methods, against a running service.

It raises unless the status is exactly the one it expects, so a call that returns is half of the proof.
"""

from __future__ import annotations

import ast
import base64
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import miniflux
import pytest

from clients.library import NEWS, Library, document, picture, saves_somewhere
from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow

OPML = """<?xml version="1.0"?><opml version="2.0"><body><outline text="Papers">
<outline type="rss" text="The Daily" xmlUrl="http://papers.example/daily.xml" htmlUrl="http://papers.example/"/>
</outline></body></opml>"""

UNKNOWN = 2**31 - 1


@pytest.fixture
def client(alice: Person) -> Iterator[miniflux.Client]:
    """Alice's."""
    with miniflux.Client(alice.service.url, alice.user.username, alice.password) as opened:
        yield opened


@pytest.fixture
def admin(charlie: Person) -> Iterator[miniflux.Client]:
    """Charlie's, who administers."""
    with miniflux.Client(charlie.service.url, api_key=charlie.token) as opened:
        yield opened


def test_every_public_method_is_called_here() -> None:
    methods = {name for name, _ in inspect.getmembers(miniflux.Client, callable) if not name.startswith("_")}
    calls = [node for node in ast.walk(ast.parse(Path(__file__).read_text())) if isinstance(node, ast.Call)]
    called = {
        call.func.attr
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.value.id in ("client", "admin")
    }
    assert methods - called == set()


# Who calls


def test_signing_in_with_a_password(alice: Person) -> None:
    client = miniflux.Client(f"{alice.service.url}/", alice.user.username, alice.password)
    try:
        me = client.me()
    finally:
        client.close()
    assert (me["id"], me["username"], me["is_admin"]) == (alice.id, alice.user.username, False)
    assert me["last_login_at"]


def test_signing_in_with_a_key(alice: Person) -> None:
    with miniflux.Client(alice.service.url, api_key=alice.token) as client:
        assert client.me()["id"] == alice.id


def test_a_wrong_password_raises_access_unauthorized(alice: Person) -> None:
    client = miniflux.Client(alice.service.url, alice.user.username, "wrong")
    with client, pytest.raises(miniflux.AccessUnauthorized) as raised:
        client.me()
    assert "password" in raised.value.get_error_reason()


def test_each_failure_has_its_class_and_a_reason(client: miniflux.Client) -> None:
    with pytest.raises(miniflux.BadRequest) as raised:
        client.create_category("")
    assert "title" in raised.value.get_error_reason()
    with pytest.raises(miniflux.AccessForbidden) as raised:
        client.get_users()
    assert "administrator" in raised.value.get_error_reason()
    with pytest.raises(miniflux.ResourceNotFound) as raised:
        client.get_feed(UNKNOWN)
    assert str(UNKNOWN) in raised.value.get_error_reason()


def test_version(client: miniflux.Client) -> None:
    built = client.get_version()
    assert set(built) >= {"version", "commit", "build_date", "go_version", "compiler", "arch", "os"}
    assert all(isinstance(value, str) and value for value in built.values())


def test_users(admin: miniflux.Client, alice: Person) -> None:
    created = admin.create_user(f"new-{alice.user.username}", "a long password", is_admin=True)
    assert created["is_admin"] is True
    assert created["username"] in {user["username"] for user in admin.get_users()}

    changed = admin.update_user(created["id"], theme="dark_serif", entries_per_page=50, is_admin=False)
    assert (changed["theme"], changed["entries_per_page"], changed["is_admin"]) == ("dark_serif", 50, False)
    assert admin.get_user_by_id(created["id"]) == changed
    assert admin.get_user_by_username(created["username"]) == changed

    admin.delete_user(created["id"])
    with pytest.raises(miniflux.ResourceNotFound):
        admin.get_user_by_id(created["id"])


def test_one_s_own_settings(client: miniflux.Client, alice: Person) -> None:
    assert client.update_user(alice.id, timezone="Europe/Paris")["timezone"] == "Europe/Paris"


def test_api_keys(client: miniflux.Client, alice: Person) -> None:
    created = client.create_api_key("Telephone")
    assert created["token"] in {key["token"] for key in client.get_api_keys()}
    with miniflux.Client(alice.service.url, api_key=created["token"]) as phone:
        assert phone.me()["id"] == alice.id
    client.delete_api_key(created["id"])
    assert "Telephone" not in {key["description"] for key in client.get_api_keys()}


# Categories


def test_categories(client: miniflux.Client) -> None:
    created = client.create_category("Letters")
    changed = client.update_category(created["id"], "Post")
    assert changed == created | {"title": "Post"}
    assert changed in client.get_categories()
    client.delete_category(created["id"])
    assert changed not in client.get_categories()


def test_feeds_and_entries_of_a_category(client: miniflux.Client, library: Library) -> None:
    assert [feed["id"] for feed in client.get_category_feeds(library.category)] == [library.feed]
    listed = client.get_category_entries(library.category, order="published_at", direction="desc")
    assert (listed["total"], listed["entries"][0]["id"]) == (3, library.entry)
    assert client.get_category_entry(library.category, library.entry) == listed["entries"][0]

    client.mark_category_entries_as_read(library.category)
    assert client.get_category_entries(library.category, status="unread")["total"] == 0
    assert client.refresh_category(library.category) is True


# Feeds


def test_a_feed_from_subscription_to_removal(client: miniflux.Client, alice: Person, site: Publisher) -> None:
    site.serve("/feed.xml", document(NEWS, site.url("/feed.xml"), "The Weather"))
    (found,) = client.discover(site.url("/feed.xml"), user_agent="A browser")
    assert (found["url"], found["type"]) == (site.url("/feed.xml"), "rss")

    feed_id = client.create_feed(found["url"], crawler=False)
    assert client.get_feed(feed_id)["title"] == "The Weather"

    category = client.create_category("News")
    changed = client.update_feed(feed_id, title="Rain and sun", category_id=category["id"], disabled=False)
    assert (changed["title"], changed["category"]["id"]) == ("Rain and sun", category["id"])
    assert client.get_feeds() == [changed]

    fresh = document([*NEWS[:1], *NEWS[1:]], site.url("/feed.xml"), "The Weather").replace("Rain", "Snow")
    site.serve("/feed.xml", fresh)
    assert client.refresh_feed(feed_id) is True
    assert client.get_feed_entries(feed_id, search="Snow")["total"] == 1
    assert client.refresh_all_feeds() is True

    client.delete_feed(feed_id)
    assert client.get_feeds() == []


def test_discovery(client: miniflux.Client, site: Publisher) -> None:
    link = '<link rel="alternate" type="application/atom+xml" title="All" href="/all.atom">'
    site.serve("/", f"<!DOCTYPE html><html><head><title>Home</title>{link}</head><body>Hello</body></html>")
    assert client.discover(site.url("/")) == [{"url": site.url("/all.atom"), "title": "All", "type": "atom"}]


def test_an_unreachable_feed_and_a_page_without_feeds_raise_different_errors(
    client: miniflux.Client, site: Publisher
) -> None:
    with pytest.raises(miniflux.ServerError) as raised:
        client.create_feed(site.url("/nothing-here.xml"))
    assert "404" in raised.value.get_error_reason()
    site.serve("/page.html", "<!DOCTYPE html><html><body>No feed at all</body></html>")
    with pytest.raises(miniflux.BadRequest):
        client.create_feed(site.url("/page.html"))


def test_icons(client: miniflux.Client, site: Publisher) -> None:
    site.serve("/favicon.ico", picture(), headers={"Content-Type": "image/png"})
    site.serve("/feed.xml", document(NEWS, site.url("/feed.xml"), "The Weather"))
    feed_id = client.create_feed(site.url("/feed.xml"))

    icon = client.get_feed_icon(feed_id)
    assert icon["mime_type"] == "image/png"
    kind, _, data = icon["data"].partition(";base64,")
    assert (kind, base64.b64decode(data)[:4]) == ("image/png", b"\x89PNG")
    assert client.get_icon(icon["id"]) == icon
    assert client.get_icon_by_feed_id(feed_id) == icon
    assert client.get_feed(feed_id)["icon"]["icon_id"] == icon["id"]


def test_a_feed_without_an_icon(client: miniflux.Client, library: Library) -> None:
    assert client.get_feed(library.podcast)["icon"] is None
    with pytest.raises(miniflux.ResourceNotFound):
        client.get_feed_icon(library.podcast)


def test_counters_and_marking_a_feed_read(client: miniflux.Client, library: Library) -> None:
    before = client.get_feed_counters()
    assert before == {"reads": {str(library.feed): 1}, "unreads": {str(library.feed): 2, str(library.podcast): 1}}
    client.mark_feed_entries_as_read(library.feed)
    assert client.get_feed_counters()["unreads"] == {str(library.podcast): 1}


def test_opml(client: miniflux.Client, library: Library) -> None:
    assert "message" in client.import_feeds(OPML)
    (daily,) = [feed for feed in client.get_feeds() if feed["title"] == "The Daily"]
    assert (daily["category"]["title"], daily["site_url"]) == ("Papers", "http://papers.example/")

    # The documents have the second in which they were made.
    exported, again = (re.sub("<dateCreated>[^<]+", "", made) for made in (client.export(), client.export_feeds()))
    assert exported == again
    for title in ("The Weather", "The Talks", "The Daily"):
        assert title in exported


# Entries


def test_lists_of_entries(client: miniflux.Client, library: Library) -> None:
    assert client.get_entries(status=["read", "unread"])["total"] == 4
    assert client.get_entries(status="read", starred=True)["entries"][0]["id"] == library.starred
    assert client.get_entries(starred=False)["total"] == 3
    page = client.get_entries(order="id", direction="desc", limit=1, offset=1, after_entry_id=1)
    assert len(page["entries"]) == 1

    listed = client.get_feed_entries(library.feed, status="unread", order="published_at", direction="desc")
    assert [entry["title"] for entry in listed["entries"]] == ["Rain tomorrow", "Wind yesterday"]


def test_an_entry_can_be_requested_by_three_paths(client: miniflux.Client, library: Library) -> None:
    entry = client.get_entry(library.entry)
    assert (entry["title"], entry["author"], entry["tags"]) == ("Rain tomorrow", "Dr. Cloud", ["weather"])
    assert entry["feed"]["category"]["title"] == "News"
    assert client.get_feed_entry(library.feed, library.entry) == entry
    assert client.get_category_entry(library.category, library.entry) == entry


def test_status_of_entries(client: miniflux.Client, library: Library) -> None:
    assert client.update_entries([library.entry, library.listened], "read") is True
    assert client.get_entries(status="unread")["total"] == 1
    assert client.update_entries([library.entry], "unread") is True
    assert client.get_entry(library.entry)["status"] == "unread"


def test_marking_everything_read(client: miniflux.Client, library: Library) -> None:
    client.mark_user_entries_as_read(library.user)
    assert client.get_entries(status="unread")["total"] == 0


def test_toggling_a_star(client: miniflux.Client, library: Library) -> None:
    assert client.toggle_bookmark(library.entry) is True
    assert client.get_entry(library.entry)["starred"] is True
    assert client.toggle_bookmark(library.entry) is True
    assert client.get_entry(library.entry)["starred"] is False


def test_editing_an_entry(client: miniflux.Client, library: Library) -> None:
    changed = client.update_entry(library.entry, title="Rain at last", content="<p>It rains.</p>")
    assert (changed["title"], changed["content"]) == ("Rain at last", "<p>It rains.</p>")
    assert client.get_entry(library.entry) == changed


def test_importing_an_entry(client: miniflux.Client, library: Library) -> None:
    given = {"title": "Hail", "status": "unread", "starred": True, "tags": ["ice"], "published_at": 1_600_000_000}
    created = client.import_entry(library.feed, "http://weather.example/hail", **given)
    entry = client.get_entry(created["id"])
    assert (entry["title"], entry["status"], entry["starred"]) == ("Hail", "unread", True)
    assert entry["published_at"] == "2020-09-13T12:26:40Z"
    # The same once more is 200 instead of 201.
    assert client.import_entry(library.feed, "http://weather.example/hail") == created


def test_fetching_the_full_content(client: miniflux.Client, library: Library) -> None:
    before = client.get_entry(library.entry)
    fetched = client.fetch_entry_content(library.entry)
    assert fetched["content"].count("It rained all day") == 20
    assert client.get_entry(library.entry) == before


def test_saving_an_entry(client: miniflux.Client, alice: Person, library: Library) -> None:
    assert client.get_integrations_status() is False
    with pytest.raises(miniflux.BadRequest):
        client.save_entry(library.entry)

    saves_somewhere(alice)
    assert client.get_integrations_status() is True
    assert client.save_entry(library.entry) is True


def test_playback_position(client: miniflux.Client, library: Library) -> None:
    assert client.update_enclosure(library.enclosure, media_progression=90) is True
    enclosure = client.get_enclosure(library.enclosure)
    assert (enclosure["media_progression"], enclosure["entry_id"]) == (90, library.listened)
    assert (enclosure["mime_type"], enclosure["size"]) == ("audio/mpeg", 1234567)


def test_flushing_the_history(client: miniflux.Client, library: Library) -> None:
    client.update_entries([library.entry], "read")
    assert client.flush_history() is True
    # The starred one stays, read or not.
    assert library.starred in {entry["id"] for entry in client.get_entries()["entries"]}
    with pytest.raises(miniflux.ResourceNotFound):
        client.get_entry(library.entry)
