"""The feed of a podcast by its address at Podcast Index."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path

import msgspec
import pytest

from support.people import rss
from support.polling_fixtures import PollingFixture
from support.publisher import Publisher, ReceivedRequest
from support.recorded_site import RecordedSite
from tidings.base.errors import NotFound
from tidings.base.times import SECOND
from tidings.engine.database import Database
from tidings.net.errors import FetchError
from tidings.sites.podcast_index import PodcastIndex

pytestmark = pytest.mark.one_engine

PAGE = "https://podcastindex.org/podcast/920666"
API = "/podcasts/byfeedid"


class PodcastIndexFixture:
    def __init__(self, polling: PollingFixture, site: Publisher) -> None:
        self.polling = polling
        self.site = site
        self.user = polling.user("alice")
        fetcher = polling.services.polling.fetcher
        index = PodcastIndex(
            fetcher, polling.services.clock, key="key", secret="very-secret", api_url=site.url("").rstrip("/")
        )
        # All services have the same listeners.
        polling.services.feeds.subscriptions._listeners.page_feeds[:] = [index.feeds]
        fetcher.detours[:] = [RecordedSite(site, "podcastindex.org")]
        site.serve("/podcast/920666", "<html><title>Podcastindex.org</title></html>")

    def answer(self, feed: object) -> None:
        body = {"status": "true", "query": {"id": "920666"}, "feed": feed, "description": "Found matching feed"}
        self.site.serve(API, msgspec.json.encode(body), headers={"Content-Type": "application/json"})

    def found(self, url: str = PAGE) -> list[tuple[str, str]]:
        async def find() -> list[tuple[str, str]]:
            try:
                found = await self.polling.services.feeds.discovery.find(self.user.id, {"url": url, "cookie": "a=b"})
                return [(feed.url, feed.title) for feed in found]
            finally:
                await self.polling.services.disconnect()

        return asyncio.run(find())


@pytest.fixture
def index(database: Database, database_url: str, tmp_path: Path, site: Publisher) -> PodcastIndexFixture:
    return PodcastIndexFixture(PollingFixture(database, database_url, tmp_path), site)


def is_signed(seen: ReceivedRequest) -> bool:
    moment = seen.headers["x-auth-date"]
    expected = hashlib.sha1(f"keyvery-secret{moment}".encode(), usedforsecurity=False).hexdigest()
    return (seen.headers["x-auth-key"], seen.headers["authorization"]) == ("key", expected)


def test_the_feed_of_a_podcast_is_found(index: PodcastIndexFixture) -> None:
    feed = index.site.serve("/rain.xml", rss(["One"], "https://rain.example", title="Rain today"))
    index.answer({"id": 920666, "title": "Rain", "url": feed, "link": "https://rain.example"})

    assert index.found() == [(feed, "Rain")]

    (asked,) = index.site.requests_for(API)
    assert asked.path == f"{API}?id=920666"
    assert is_signed(asked)
    assert abs(int(asked.headers["x-auth-date"]) - index.polling.services.clock() // SECOND) < 600
    assert "cookie" not in asked.headers
    # The publisher gets nothing of what was for the index.
    assert not {"x-auth-key", "authorization"} & set(index.site.requests_for("/rain.xml")[0].headers)


@pytest.mark.parametrize("feed", [[], {}, {"url": ""}, {"url": "javascript:1"}, {"url": 3}, None])
def test_without_an_answer_the_page_itself_is_looked_at(index: PodcastIndexFixture, feed: object) -> None:
    index.answer(feed)

    with pytest.raises(NotFound):
        index.found()
    assert index.site.requests_for("/podcast/920666")


def test_a_link_to_the_feed_on_the_page_is_found_when_the_index_does_not_know_it(index: PodcastIndexFixture) -> None:
    index.answer([])
    index.site.serve("/podcast/920666", '<a href="/podcast/920666/rain.rss">RSS</a>')
    index.site.serve("/podcast/920666/rain.rss", rss(["One"], "https://rain.example", title="Rain"))

    assert index.found() == [("https://podcastindex.org/podcast/920666/rain.rss", "Rain")]


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [(401, "", "Podcast Index does not accept the key"), (200, "[]", "Podcast Index sent an answer")],
)
def test_errors_name_the_index(index: PodcastIndexFixture, status: int, body: str, expected: str) -> None:
    index.site.serve(API, body, status=status)

    with pytest.raises(FetchError, match=expected) as raised:
        index.found()
    assert "very-secret" not in str(raised.value)


def test_other_pages_are_not_asked_for(index: PodcastIndexFixture) -> None:
    index.site.serve("/stats", "<html></html>")

    with pytest.raises(NotFound):
        index.found("https://podcastindex.org/stats")
    assert not index.site.requests_for(API)
