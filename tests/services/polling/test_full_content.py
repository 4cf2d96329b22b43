"""Fetching the pages of a feed's new entries: in what order, and for how long."""

from __future__ import annotations

import asyncio

import pytest

from support.people import rss
from support.publisher import Answer, Hang, Publisher
from tidings.base.times import Instant
from tidings.content.articles import Article
from tidings.content.model import ParsedEntry
from tidings.domain.feeds.feeds import Feed
from tidings.engine.database import Database
from tidings.net.fetch import Fetcher, FetchSettings
from tidings.services.accounts.users import Users
from tidings.services.entries.article_extraction import ArticleExtractor
from tidings.services.entries.fetch_content import ArticleFetcher
from tidings.services.polling.full_content import FullContent
from tidings.services.publisher_requests import PoliteFetcher

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

NOW = Instant(1_800_000_000_000_000)
WORDS = "<article>" + "<p>The rain came late, lasted long, and left by the evening.</p>" * 9 + "</article>"


class HasQuickPages(ArticleFetcher):
    """Has pages called quick before any timeout, and fetches the others."""

    async def find(self, feed: Feed, url: str, *, requested_by: int = 0) -> Article:
        if url.endswith("/quick"):
            return Article("The rain came late", base_url=url)
        return await super().find(feed, url, requested_by=requested_by)


def crawl(
    database: Database,
    site: Publisher,
    *names: str,
    timeout_s: float,
    fetcher_type: type[ArticleFetcher] = ArticleFetcher,
) -> dict[str, Article]:
    """names: of pages, the newest first. What was found, by name."""
    user = Users(database, lambda: NOW).create("alice", "correct horse")
    feed = Feed(1, 1, 1, site.url("/feed.xml"), "Feed", NOW, NOW, crawler=True)
    created = {
        name.encode(): ParsedEntry(hash=name.encode().hex(), url=site.url(f"/{name}")) for name in reversed(names)
    }

    async def look() -> dict[bytes, Article]:
        extraction = ArticleExtractor(max_concurrent=1)
        async with Fetcher(FetchSettings(user_agent="Tidings", allow_private_networks=True)) as fetcher:
            articles = fetcher_type(database, PoliteFetcher(fetcher, database, lambda: NOW), extraction)
            try:
                full_content = FullContent(database, articles, lambda: NOW)
                return await full_content.articles(user, feed, created, timeout_s=timeout_s)
            finally:
                articles.close()

    return {hash_.decode(): article for hash_, article in asyncio.run(look()).items()}


def test_pages_fetched_before_the_timeout_are_kept(database: Database, site: Publisher) -> None:
    site.script("/slow", Hang())

    found = crawl(database, site, "slow", "quick", timeout_s=0.5, fetcher_type=HasQuickPages)

    assert found.keys() == {"quick"}
    assert "The rain came late" in found["quick"].content


def test_pages_of_the_newest_entries_are_fetched_first(database: Database, site: Publisher) -> None:
    names = [f"page{number}" for number in range(12)]
    for name in names:
        site.script(f"/{name}", Answer(WORDS, after_s=0.05))

    crawl(database, site, *names, timeout_s=120)

    requested = [seen.path[1:] for seen in site.requests]
    assert sorted(requested[:4]) == sorted(names[:4])
    assert len(requested) == 12


def test_no_page_is_requested_for_entries_without_a_url(database: Database, site: Publisher) -> None:
    site.serve("/feed.xml", rss(["x"], "x"))

    assert crawl(database, site, timeout_s=1) == {}
    assert site.requests == []


def numbered(number: int, *, next_path: str = "") -> str:
    text = "".join(f"<p>Page {number} tells, in paragraph {n}, of the rain that came late.</p>" for n in range(9))
    return f"<html><body><article>{text}</article><a href='{next_path}'>Next page</a></body></html>"


def test_the_pages_of_an_article_are_joined_up_to_five(database: Database, site: Publisher) -> None:
    site.serve("/rain", numbered(1, next_path="/rain?page=2"))
    for number in range(2, 9):
        site.serve(f"/rain?page={number}", numbered(number, next_path=f"/rain?page={number + 1}"))

    found = crawl(database, site, "rain", timeout_s=120)["rain"]

    assert [number for number in range(1, 9) if f"Page {number} tells" in found.content] == [1, 2, 3, 4, 5]
    assert [seen.path for seen in site.requests] == ["/rain", *(f"/rain?page={number}" for number in range(2, 6))]


def test_pages_end_where_one_fails_or_repeats(database: Database, site: Publisher) -> None:
    site.serve("/rain", numbered(1, next_path="/rain?page=2"))
    site.serve("/rain?page=2", numbered(2, next_path="/rain?page=3"))
    site.serve("/rain?page=3", status=500)
    site.serve("/snow", numbered(1, next_path="/snow?page=2"))
    site.serve("/snow?page=2", numbered(1, next_path="/snow?page=3"))

    found = crawl(database, site, "rain", "snow", timeout_s=120)

    assert "Page 2 tells" in found["rain"].content
    assert found["snow"].content.count("Page 1 tells, in paragraph 0") == 1
    assert "/snow?page=3" not in [seen.path for seen in site.requests]
