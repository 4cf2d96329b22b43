"""The address that a fetched page has or names is its entry's as well, and never harms an entry of another feed."""

from __future__ import annotations

from typing import Any

import pytest

from duplicates.test_api import by_feed, choose, search_all
from duplicates.test_search import FOLDED, READ, TEXT, UNREAD, URL, Reader
from support.entry_fixtures import NOW, ready
from support.people import Person, rss
from support.publisher import Publisher
from tidings.base.times import Instant
from tidings.content.articles import WebPage
from tidings.content.articles.extract import extract_article
from tidings.domain.entries.entries import EntryStatus, ReadyEntry
from tidings.engine.database import Database
from tidings.storage.entries import duplicates as core

PAGE = "https://go.example/3?to=rain"


@pytest.fixture
def reader(database: Database) -> Reader:
    return Reader(database, "fold")


def claiming(title: str = "Rain elsewhere", content: str = "", **more: Any) -> ReadyEntry:
    """An entry whose page says that its address is another one."""
    return ready(title, content, **{"url": PAGE, "page_url": f"{URL}?utm_source=x"} | more)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("", PAGE),
        ("<link rel='canonical' href='/rain'>", "https://go.example/rain"),
        ("<link rel='Canonical nofollow' href='https://news.example/rain'>", "https://news.example/rain"),
        ("<link rel=canonical href=/a><link rel=canonical href=/a>", "https://go.example/a"),
        ("<link rel=canonical href=/a><link rel=canonical href=/b>", PAGE),
        ("<link rel=canonical href='https://news.example/'>", PAGE),
        ("<link rel=canonical href='javascript:alert(1)'>", PAGE),
        ("<link rel=canonical href='ftp://news.example/rain'>", PAGE),
        ("<link rel=canonical>", PAGE),
        ("<link rel=alternate href=/a>", PAGE),
    ],
)
def test_a_page_names_its_address_in_its_head(head: str, expected: str) -> None:
    body = "<body><p>It rained.</p><link rel=canonical href=/body></body>"
    page = WebPage(f"<html><head>{head}</head>{body}</html>".encode(), "utf-8", PAGE)
    assert extract_article(page).page_url == expected


def test_a_later_entry_is_folded_under_the_one_that_its_page_names(reader: Reader) -> None:
    (first,) = reader.arrive(reader.one, ready("Rain", url=URL))
    (second,) = reader.arrive(reader.two, claiming())
    assert reader.statuses(first, second) == [UNREAD, FOLDED]
    reader.choose("off")
    assert reader.statuses(first, second) == [UNREAD, UNREAD]


def test_an_earlier_entry_is_folded_under_the_one_that_its_page_names(reader: Reader) -> None:
    (first,) = reader.arrive(reader.one, claiming())
    (second,) = reader.arrive(reader.two, ready("Rain", url=URL))
    # The one that the page names arrives unread, is announced and represents both.
    assert reader.statuses(first, second) == [UNREAD, UNREAD]
    reader.work()
    assert reader.statuses(first, second) == [FOLDED, UNREAD]
    reader.check_counters()
    reader.choose("mark_read")
    assert reader.statuses(first, second) == [READ, UNREAD]
    reader.choose("off")
    assert reader.statuses(first, second) == [UNREAD, UNREAD]
    reader.check_counters()


def test_what_was_read_or_starred_stays(reader: Reader) -> None:
    more = {"url": f"{PAGE}&2", "page_url": f"{URL}/2"}
    ids = reader.arrive(reader.one, claiming(), claiming("Snow", **more))
    reader.set(ids[0], status=EntryStatus.READ)
    reader.set(ids[1], starred=True)
    ids += reader.arrive(reader.two, ready("Rain", url=URL), ready("Snow", url=f"{URL}/2"))
    reader.work()
    assert reader.statuses(*ids) == [READ, UNREAD, UNREAD, UNREAD]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_page_that_names_another_article_hides_only_its_own_entry(reader: Reader, is_first: bool) -> None:
    """Neither by being the first, nor by its longer text, nor through an entry whose title and text it copied."""
    if is_first:
        (hostile,) = reader.arrive(reader.one, claiming("Copied", TEXT, published_at=NOW))
        (victim,) = reader.arrive(reader.two, ready("Rain", "Rain.", url=URL))
    else:
        (victim,) = reader.arrive(reader.two, ready("Rain", "Rain.", url=URL))
        (hostile,) = reader.arrive(reader.one, claiming("Copied", TEXT, published_at=NOW))
    reader.work()
    assert reader.statuses(victim, hostile) == [UNREAD, FOLDED]
    # This one is the same as what the hostile page copied, and not as what it names.
    (copied,) = reader.arrive(reader.three, ready("Copied", TEXT, published_at=Instant(NOW + 1)))
    reader.work()
    assert reader.statuses(victim, hostile, copied) == [UNREAD, FOLDED, UNREAD]
    with reader.database.reading() as db:
        assert core.originals(db, [reader.user_id], [victim, hostile, copied]) == {hostile: victim}
    reader.check_counters()


def test_an_entry_that_represents_others_is_not_folded_for_its_page(reader: Reader) -> None:
    ids = reader.arrive(reader.one, claiming())
    ids += reader.arrive(reader.three, ready("Rain elsewhere", url=PAGE))
    ids += reader.arrive(reader.two, ready("Rain", url=URL))
    reader.work()
    assert reader.statuses(*ids) == [UNREAD, FOLDED, UNREAD]


def test_what_is_no_article_of_its_own_is_not_named(reader: Reader) -> None:
    ids = reader.arrive(
        reader.one,
        ready("Rain", url=URL),
        ready("A comment", url=f"{URL}/2#comment-7"),
        ready("Day 1", url=f"{URL}/days"),
        ready("Day 2", url=f"{URL}/days"),
    )
    ids += reader.arrive(
        reader.two,
        # A wall that asks for consent, or a wrong template, in front of several articles.
        claiming("Wind", url="https://other.example/wind"),
        claiming("Hail", url="https://other.example/hail"),
        claiming("A comment", url="https://other.example/rain/page-2#comment-7", page_url=f"{URL}/2"),
        claiming("Snow", url="https://other.example/snow", page_url=f"{URL}/2"),
        claiming("Days", url="https://other.example/days", page_url=f"{URL}/days"),
    )
    reader.work()
    assert reader.statuses(*ids) == [UNREAD] * len(ids)


def test_an_excepted_feed_is_not_folded_for_its_pages(reader: Reader) -> None:
    reader.except_feed(reader.one)
    ids = [*reader.arrive(reader.one, claiming()), *reader.arrive(reader.two, ready("Rain", url=URL))]
    reader.work()
    assert reader.statuses(*ids) == [UNREAD, UNREAD]


@pytest.mark.slow
def test_redirects_and_canonical_links_are_followed_where_pages_are_fetched(alice: Person, site: Publisher) -> None:
    choose(alice, "fold")
    titles = ("Rain", "Snow")
    site.serve("/news.xml", rss(titles, site.url("/articles"), title="News"))
    body = f"<body><article><h1>Weather</h1><p>{'It rained until the evening. ' * 20}</p></article></body>"
    head = f'<head><link rel="canonical" href="{site.url("/articles/1")}?utm_source=x"></head>'
    site.redirect("/go/0", to=site.url("/articles/0"))
    site.serve("/articles/0", f"<html>{body}</html>")
    site.serve("/go/1", f"<html>{head}{body}</html>")
    site.serve("/links.xml", rss(("Rained", "Snowed"), site.url("/go"), title="Links"))

    news = alice.post("/v1/feeds", {"feed_url": site.url("/news.xml")})["feed_id"]
    links = alice.post("/v1/feeds", {"feed_url": site.url("/links.xml"), "crawler": True})["feed_id"]
    search_all(alice)
    assert set(by_feed(alice)) == {(news, title) for title in titles}
    assert set(by_feed(alice, query="is:duplicate")) == {(links, "Rained"), (links, "Snowed")}


@pytest.mark.slow
def test_an_article_that_was_fetched_later_counts_when_its_address_arrives(alice: Person, site: Publisher) -> None:
    choose(alice, "fold")
    body = f"<body><article><h1>Weather</h1><p>{'It rained until the evening. ' * 20}</p></article></body>"
    site.redirect("/go/0", to=site.url("/articles/0"))
    site.serve("/articles/0", f"<html>{body}</html>")
    site.serve("/links.xml", rss(("Rained",), site.url("/go"), title="Links"))
    site.serve("/news.xml", rss(("Rain",), site.url("/articles"), title="News"))
    links = alice.post("/v1/feeds", {"feed_url": site.url("/links.xml")})["feed_id"]
    (entry,) = alice.entries()
    alice.get(f"/v1/entries/{entry['id']}/fetch-content", update_content="true")
    news = alice.post("/v1/feeds", {"feed_url": site.url("/news.xml")})["feed_id"]
    search_all(alice)
    assert (set(by_feed(alice)), set(by_feed(alice, query="is:duplicate"))) == ({(news, "Rain")}, {(links, "Rained")})
