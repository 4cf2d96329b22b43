"""Feeds of Reddit through its API, with the operator's client."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import msgspec
import pytest

from support.polling_fixtures import PollingFixture
from support.publisher import Answer, Publisher
from tidings.content.formats import parse_feed
from tidings.engine.database import Database
from tidings.net.errors import HttpError
from tidings.net.fetch import FetchRequest
from tidings.services.polling.store import CheckResult
from tidings.sites.reddit import Reddit, listing_path
from tidings.sites.reddit_posts import item_of

FEED = "https://www.reddit.com/r/rain/.rss"
JSON = {"Content-Type": "application/json; charset=UTF-8"}
SECRET = "very-secret"
TOKEN = {"access_token": "token-1", "token_type": "bearer", "expires_in": 86400, "scope": "*"}


def post(number: int, title: str, **more: Any) -> dict[str, Any]:
    """Return a post as the API lists it."""
    permalink = f"/r/rain/comments/{number}/x/"
    data = {
        "subreddit": "rain", "name": f"t3_{number}", "id": str(number), "title": title, "author": "drop",
        "permalink": permalink, "url": f"https://www.reddit.com{permalink}", "is_self": True, "domain": "self.rain",
        "selftext_html": "<p>It rains.</p>", "created_utc": 1_790_000_000.0 + number, "over_18": False,
        "link_flair_text": None,
    }  # fmt: skip
    return {"kind": "t3", "data": data | more}


def listing(*things: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"kind": "Listing", "data": {"after": None, "children": list(things)}})


class RedditFixture:
    def __init__(self, polling: PollingFixture, site: Publisher, secret: str = SECRET) -> None:
        self.polling = polling
        self.site = site
        site.serve("/token", msgspec.json.encode(TOKEN), headers=JSON)
        self.fetcher = polling.services.polling.fetcher
        self.reader = Reddit(
            polling.services.clock,
            client_id="client",
            secret=secret,
            timeout_s=20,
            api_url=site.url("").rstrip("/"),
            tokens_url=site.url("/token"),
        )
        self.fetcher.detours[:] = [self.reader]
        # All services have the same listeners.
        polling.services.feeds.subscriptions._listeners.page_feeds[:] = [self.reader.feeds]

    def lists(self, path: str, *things: dict[str, Any]) -> None:
        self.site.serve(path, listing(*things), headers=JSON)

    def subscribe(self, name: str, url: str = FEED) -> int:
        return self.polling.subscribe(self.polling.user(name), url)

    def poll(self) -> dict[int, CheckResult]:
        return self.polling.poll()


@pytest.fixture
def reddit(database: Database, database_url: str, tmp_path: Path, site: Publisher) -> RedditFixture:
    return RedditFixture(PollingFixture(database, database_url, tmp_path), site)


def test_feeds_are_read_through_the_api_with_one_token(reddit: RedditFixture) -> None:
    reddit.lists("/r/rain/hot", post(1, "First"), post(2, "Second"))
    reddit.lists("/r/snow/new", post(3, "Third"))
    rain, snow = reddit.subscribe("alice"), reddit.subscribe("bob", "https://old.reddit.com/r/snow/new/.rss?limit=5")

    results = reddit.poll()

    assert [results[one].error for one in (rain, snow)] == [None, None]
    assert reddit.polling.titles(rain) == ["First", "Second"]
    assert reddit.polling.titles(snow) == ["Third"]
    asked = {seen.path: seen.headers["authorization"] for seen in reddit.site.requests if seen.method == "GET"}
    assert asked == {"/r/rain/hot?raw_json=1": "Bearer token-1", "/r/snow/new?limit=5&raw_json=1": "Bearer token-1"}
    (token,) = reddit.site.requests_for("/token")
    assert token.headers["authorization"] == "Basic " + base64.b64encode(f"client:{SECRET}".encode()).decode()
    assert parse_qs(token.body.decode()) == {"grant_type": ["client_credentials"]}


@pytest.mark.one_engine
def test_an_installed_app_needs_no_secret(
    database: Database, database_url: str, tmp_path: Path, site: Publisher
) -> None:
    reddit = RedditFixture(PollingFixture(database, database_url, tmp_path), site, secret="")
    reddit.lists("/r/rain/hot", post(1, "First"))
    feed_id = reddit.subscribe("alice")

    assert reddit.poll()[feed_id].error is None

    assert "installed_client" in site.requests_for("/token")[0].body.decode()


@pytest.mark.one_engine
def test_a_refused_token_is_replaced_once(reddit: RedditFixture) -> None:
    fresh = msgspec.json.encode(TOKEN | {"access_token": "token-2"})
    reddit.site.script("/token", Answer(msgspec.json.encode(TOKEN), headers=JSON), Answer(fresh, headers=JSON))
    reddit.site.script("/r/rain/hot", Answer(status=401), Answer(listing(post(1, "First")), headers=JSON))
    feed_id = reddit.subscribe("alice")

    assert reddit.poll()[feed_id].error is None

    asked = [seen.headers["authorization"] for seen in reddit.site.requests_for("/r/rain/hot")]
    assert asked == ["Bearer token-1", "Bearer token-2"]


@pytest.mark.one_engine
def test_a_token_that_stays_refused_is_an_error_after_two_requests(reddit: RedditFixture) -> None:
    reddit.site.serve("/r/rain/hot", "", status=401)
    feed_id = reddit.subscribe("alice")

    error = reddit.poll()[feed_id].error

    assert isinstance(error, HttpError)
    assert (error.status, len(reddit.site.requests_for("/r/rain/hot"))) == (401, 2)


@pytest.mark.one_engine
def test_a_token_is_replaced_before_it_ends(reddit: RedditFixture) -> None:
    reddit.site.serve("/token", msgspec.json.encode(TOKEN | {"expires_in": 30}), headers=JSON)
    reddit.lists("/r/rain/hot", post(1, "First"))
    reddit.subscribe("alice")

    reddit.poll()
    reddit.polling.due_again()
    reddit.poll()

    assert len(reddit.site.requests_for("/token")) == 2


@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer("", status=401), "does not accept the client"),
        (Answer('{"error": "unsupported_grant_type"}', headers=JSON), "unsupported_grant_type"),
        (Answer("<html>", headers=JSON), "Reddit sent an answer that Tidings does not understand"),
    ],
)
def test_a_refused_client_is_an_error_that_names_reddit_and_no_secret(
    reddit: RedditFixture, answer: Answer, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    reddit.site.script("/token", answer)
    feed_id = reddit.subscribe("alice")

    error = reddit.poll()[feed_id].error

    assert error is not None
    assert expected in error.message
    logged = "".join(capsys.readouterr())
    assert SECRET not in logged + error.message
    assert base64.b64encode(f"client:{SECRET}".encode()).decode() not in logged


@pytest.mark.one_engine
def test_secrets_of_the_operator_do_not_pass_through_what_a_user_has_set(reddit: RedditFixture) -> None:
    reddit.lists("/r/rain/hot", post(1, "First"))
    reddit.polling.subscribe(reddit.polling.user("alice"), FEED, user_agent="Mine", allow_self_signed_certificates=True)

    reddit.poll()

    assert {seen.headers["user-agent"] for seen in reddit.site.requests} != {"Mine"}
    reader = reddit.reader
    assert reader.takes(FetchRequest(url=FEED))
    assert not reader.takes(FetchRequest(url=FEED, cookie="session=1"))
    assert not reader.takes(FetchRequest(url=FEED, proxy_url="http://proxy.example:1"))
    assert not reader.takes(FetchRequest(url=FEED, password="x"))


@pytest.mark.one_engine
def test_a_limit_of_the_api_pauses_the_feeds_of_reddit(reddit: RedditFixture) -> None:
    reddit.site.serve("/r/rain/hot", "", status=429, headers={"Retry-After": "600"})
    reddit.subscribe("alice")
    reddit.poll()
    later = reddit.subscribe("bob", "https://www.reddit.com/r/snow/.rss")

    assert later not in reddit.poll()
    assert not reddit.site.requests_for("/r/snow/hot")


@pytest.mark.one_engine
def test_pages_offer_their_feeds_without_being_opened(reddit: RedditFixture) -> None:
    reddit.lists("/r/rain/hot", post(1, "First"))
    user = reddit.polling.user("alice")

    async def find() -> list[str]:
        services = reddit.polling.services
        try:
            found = await services.feeds.discovery.find(user.id, {"url": "https://www.reddit.com/r/rain/"})
            return [feed.url for feed in found]
        finally:
            await services.disconnect()

    assert asyncio.run(find()) == [FEED]
    assert {seen.path for seen in reddit.site.requests} == {"/token", "/r/rain/hot?raw_json=1"}


@pytest.mark.one_engine
def test_entries_are_those_of_the_published_feed(reddit: RedditFixture) -> None:
    """A feed that was read before the operator has a client, and after that, has each entry once."""
    published = (
        '<feed xmlns="http://www.w3.org/2005/Atom"><title>rain</title><entry><id>t3_1</id><title>First</title>'
        '<link href="https://www.reddit.com/r/rain/comments/1/x/"/><updated>2026-11-01T10:00:00Z</updated></entry></feed>'
    )
    reddit.lists("/r/rain/hot", post(1, "First"))

    async def read() -> bytes:
        try:
            return (await reddit.fetcher.get(FetchRequest(url=FEED), [1])).body
        finally:
            await reddit.polling.services.disconnect()

    ours, theirs = parse_feed(asyncio.run(read()), url=FEED), parse_feed(published.encode(), url=FEED)
    assert [(one.hash, one.url) for one in ours.entries] == [(one.hash, one.url) for one in theirs.entries]


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://www.reddit.com/.rss", "/hot?raw_json=1"),
        ("https://www.reddit.com/r/rain.rss", "/r/rain/hot?raw_json=1"),
        ("https://www.reddit.com/r/rain/top/.rss?t=week", "/r/rain/top?t=week&raw_json=1"),
        ("https://www.reddit.com/user/drop/.rss", "/user/drop/overview?raw_json=1"),
        ("https://www.reddit.com/u/drop/submitted/.rss", "/user/drop/submitted?raw_json=1"),
        ("https://www.reddit.com/user/drop/m/weather/new/.rss", "/user/drop/m/weather/new?raw_json=1"),
        ("https://www.reddit.com/r/rain/comments/1/x/.rss", "/r/rain/comments/1?raw_json=1"),
        ("https://www.reddit.com/domain/rain.example/.rss", "/domain/rain.example/hot?raw_json=1"),
        (
            "https://www.reddit.com/r/rain/search.rss?q=a+b&restrict_sr=on",
            "/r/rain/search?q=a+b&restrict_sr=on&raw_json=1",
        ),
        ("https://www.reddit.com/.rss?feed=abc&user=drop", None),
        ("https://www.reddit.com/user/drop/saved.rss", None),
        ("https://www.reddit.com/settings", None),
        ("https://notreddit.com/r/rain/.rss", None),
        ("https://www.reddit.com.example/r/rain/.rss", None),
        ("https://[/r/rain", None),
    ],
)
def test_addresses_are_listings_of_the_api(url: str, path: str | None) -> None:
    assert listing_path(url) == path


def test_posts_have_their_text_pictures_and_links() -> None:
    outside = {"is_self": False, "selftext_html": None, "domain": "rain.example"}
    link = item_of(post(1, "A link", url="https://rain.example/a", **outside))
    picture = item_of(post(2, "A picture", url="https://i.redd.it/a.jpeg", **outside))
    gallery = item_of(
        post(
            3,
            "Two",
            url="https://www.reddit.com/gallery/3",
            **outside,
            gallery_data={"items": [{"media_id": "b", "caption": "B"}, {"media_id": "a"}, {"media_id": "gone"}]},
            media_metadata={"a": {"s": {"u": "https://i.example/a.jpg"}}, "b": {"s": {"u": "https://i.example/b.jpg"}}},
        )
    )
    film = item_of(
        post(
            4,
            "A film",
            url="https://v.redd.it/a",
            media={"reddit_video": {"fallback_url": "https://v.example/a?b&c"}},
            **outside,
        )
    )
    text = item_of(post(5, "A text", over_18=True, link_flair_text="Weather"))

    assert link
    assert picture
    assert gallery
    assert film
    assert text
    assert '<a href="https://rain.example/a">rain.example</a>' in link["content_html"]
    assert '<img src="https://i.redd.it/a.jpeg"' in picture["content_html"]
    assert gallery["content_html"].index("b.jpg") < gallery["content_html"].index("a.jpg")
    assert '<video controls src="https://v.example/a?b&amp;c"' in film["content_html"]
    assert text["content_html"].startswith("<p>It rains.</p>")
    assert (text["tags"], text["authors"]) == (["rain", "Weather", "nsfw"], [{"name": "/u/drop"}])


def test_comments_are_named_by_their_author_and_post() -> None:
    comment = {
        "name": "t1_9",
        "author": "drop",
        "link_title": "First",
        "body_html": "<p>Yes.</p>",
        "permalink": "/r/a/9/",
    }

    item = item_of({"kind": "t1", "data": comment})

    assert item
    assert (item["id"], item["title"], item["content_html"]) == ("t1_9", "/u/drop on First", "<p>Yes.</p>")


@pytest.mark.parametrize("thing", [{}, {"kind": "more", "data": {}}, {"kind": "t3"}, {"kind": "t3", "data": []}])
def test_what_is_neither_post_nor_comment_is_left_out(thing: dict[str, Any]) -> None:
    assert item_of(thing) is None


def test_a_post_with_values_of_the_wrong_type_costs_only_these() -> None:
    item = item_of(
        {"kind": "t3", "data": {"name": "t3_1", "title": "First", "created_utc": "x", "media": [], "preview": 3}}
    )

    assert item
    assert (item["id"], item["title"], item["date_published"]) == ("t3_1", "First", "")
