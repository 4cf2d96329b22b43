"""Lists as feeds: by a secret link, until it is taken back."""

from __future__ import annotations

import re

import feedparser
import pytest

from support.people import Person
from support.publisher import Publisher
from support.running import RunningService
from support.visitors import Visitor


@pytest.fixture
def token(reader: Visitor, service: RunningService) -> str:
    reader.post("/list-links")
    assert reader.person
    return str(service.services.entries.feed_links.token(reader.person.id))


def titles(body: bytes) -> list[str]:
    parsed = feedparser.parse(body)
    assert not parsed.bozo
    return [entry.title for entry in parsed.entries]


def test_a_list_can_be_read_as_a_feed_without_a_session(
    visitor: Visitor, alice: Person, site: Publisher, token: str
) -> None:
    feed = alice.has_feed(site, ["Rain", "Sun & moon"])
    rain, sun = alice.entries(order="published_at", direction="desc")
    alice.put("/v1/entries", {"entry_ids": [rain["id"]], "starred": True})
    alice.put("/v1/entries", {"entry_ids": [sun["id"]], "status": "read"})

    assert titles(visitor.get(f"/lists/{token}/unread").body) == ["Rain"]
    assert titles(visitor.get(f"/lists/{token}/starred").body) == ["Rain"]
    assert titles(visitor.get(f"/lists/{token}/feeds/{feed['id']}").body) == ["Rain", "Sun & moon"]
    assert titles(visitor.get(f"/lists/{token}/categories/{feed['category']['id']}").body) == ["Rain", "Sun & moon"]


def test_a_view_is_an_atom_feed_a_json_feed_and_an_opml_file(
    visitor: Visitor, alice: Person, bob: Person, site: Publisher, token: str
) -> None:
    feed = alice.has_feed(site, ["Rain & hail", "Sun"])
    alice.has_feed(site, ["Snow"])
    view = alice.post("/v1/views", {"name": "Wet", "query": "rain"})["id"]
    theirs = bob.post("/v1/views", {"name": "Wet", "query": "rain"})["id"]

    atom = visitor.get(f"/lists/{token}/views/{view}")
    as_json = visitor.get(f"/lists/{token}/views/{view}?format=json")
    as_opml = visitor.get(f"/lists/{token}/views/{view}/opml")

    assert titles(atom.body) == ["Rain & hail"]
    assert as_json.headers["content-type"] == "application/feed+json"
    assert [item["title"] for item in as_json.json()["items"]] == ["Rain & hail"]
    assert as_json.json()["title"].endswith(": Wet")
    assert re.findall(r'xmlUrl="([^"]*)"', as_opml.body.decode()) == [feed["feed_url"]]
    for path in (f"views/{theirs}", f"views/{theirs}/opml", "views/999999", "views/x/opml"):
        assert visitor.get(f"/lists/{token}/{path}").status == 404
    assert visitor.get(f"/lists/nobody/views/{view}/opml").status == 404


def test_a_view_by_its_last_changes_begins_with_what_was_changed_last(
    visitor: Visitor, alice: Person, site: Publisher, token: str
) -> None:
    """Whichever end its own list begins with."""
    alice.has_feed(site, ["New", "Old"])
    for title in ("New", "Old"):
        (entry,) = alice.entries(query=f"title:{title}")
        alice.put("/v1/entries", {"entry_ids": [entry["id"]], "starred": True})
    order = {"order": "changed_at", "direction": "asc"}
    view = alice.post("/v1/views", {"name": "Stars", "query": "is:starred", **order})["id"]

    assert titles(visitor.get(f"/lists/{token}/views/{view}").body) == ["Old", "New"]


def test_an_unchanged_list_is_304(visitor: Visitor, token: str) -> None:
    answer = visitor.get(f"/lists/{token}/unread")

    second = visitor.get(f"/lists/{token}/unread", headers={"If-None-Match": answer.headers["etag"]})

    assert answer.headers["content-type"].startswith("application/atom+xml")
    assert "noindex" in answer.headers["x-robots-tag"]
    assert second.status == 304


def test_a_link_shows_no_entries_of_other_users(visitor: Visitor, bob: Person, site: Publisher, token: str) -> None:
    theirs = bob.has_feed(site, ["Rain"])

    for path in (f"feeds/{theirs['id']}", f"categories/{theirs['category']['id']}", "feeds/999999", "feeds/x"):
        assert visitor.get(f"/lists/{token}/{path}").status == 404
    assert titles(visitor.get(f"/lists/{token}/unread").body) == []


def test_a_renewed_or_revoked_link_is_404(visitor: Visitor, reader: Visitor, token: str) -> None:
    assert token in reader.page("/list-links")
    assert "the earlier ones no longer work" in reader.follow(reader.post("/list-links"))
    assert visitor.get(f"/lists/{token}/unread").status == 404

    reader.post("/list-links/revoke")
    page = reader.page("/list-links")

    assert "/lists/" not in page.replace('action="/list-links"', "")
    assert visitor.get("/lists/nobody/unread").status == 404
    # There are no earlier addresses now.
    assert "no longer work" not in reader.follow(reader.post("/list-links"))
