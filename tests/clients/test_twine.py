"""Twine (Android, iOS): its models refuse a member that is null or missing, and with it the whole list."""

from __future__ import annotations

import re

import pytest

from clients.apps import App, Ask, by, fetch, play
from clients.library import Library
from clients.shapes import entry_page, flag, list_of, misfits, nullable, record, small, text, whole
from support.people import Person
from support.running import RunningService
from support.visitors import Visitor

pytestmark = pytest.mark.slow

CATEGORY = record(id=small, title=text)
FEED = record(id=small, title=text, site_url=text, feed_url=text, category=CATEGORY, icon=record(external_icon_id=text))
ENCLOSURE = record(url=text, mime_type=text)
ENTRY = record(
    id=small,
    feed_id=small,
    status=text,
    title=text,
    url=text,
    author=nullable(text),
    content=text,
    published_at=text,
    starred=flag,
    comments_url=nullable(text),
    enclosures=list_of(ENCLOSURE, 0),
)
SYNC = [
    Ask("GET", "/v1/me", record(id=small, username=text)),
    Ask("GET", "/v1/categories", list_of(CATEGORY)),
    Ask("GET", "/v1/feeds", list_of(FEED)),
    Ask("GET", "/v1/feeds/{feed}", FEED),
    Ask("GET", "/v1/entries", entry_page(ENTRY), query=(("limit", "100"), ("order", "id"), ("direction", "desc"))),
    Ask("GET", "/v1/entries/{entry}/fetch-content", record(content=text, reading_time=whole)),
    Ask("PUT", "/v1/entries", body={"entry_ids": ["{entry}"], "status": "read"}),
    Ask("PUT", "/v1/entries", body={"entry_ids": ["{entry}"], "starred": True}),
    Ask("PUT", "/v1/feeds/{feed}", FEED, status=201, body={"title": "Skies", "category_id": "{category}"}),
    Ask("POST", "/v1/categories", CATEGORY, status=201, body={"title": "Sports"}),
]


def connected(service: RunningService, person: Person, slug: str) -> App:
    """The app with a key that was made for it on "Connect an app"."""
    reader = Visitor(service, person)
    reader.sign_in()
    page = reader.post(f"/settings/apps/{slug}").body.decode()
    match = re.search(r'id="new-secret">([a-z0-9-]+)<', page)
    assert match
    return App(credentials=by(X_Auth_Token=match[1]))


def test_a_session_of_the_app_works_with_feeds_without_an_icon(
    alice: Person, library: Library, service: RunningService
) -> None:
    play(connected(service, alice, "twine"), alice, library, SYNC)


@pytest.mark.parametrize("slug", ["flux-news", "miniflux"])
def test_a_key_of_another_app_gets_null(alice: Person, library: Library, service: RunningService, slug: str) -> None:
    feeds = fetch(connected(service, alice, slug), alice, "/v1/feeds")
    assert {feed["icon"] for feed in feeds} == {None}
    assert misfits(feeds, list_of(FEED)) != []
