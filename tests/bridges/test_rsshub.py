"""Feeds at rsshub://… are routes of the configured RSSHub."""

from __future__ import annotations

from pathlib import Path

import pytest

from bridges.bridged import BridgedService, atom
from support.publisher import Publisher
from tidings.base.errors import InvalidInput
from tidings.domain.feeds import feed_changes
from tidings.domain.polling.shared_sources import host_with_port
from tidings.engine.database import Database
from tidings.net.errors import AddressRefused, HttpError

pytestmark = pytest.mark.slow

ROUTE = "rsshub://github/issue/DIYgod/RSSHub"
PATH = "/github/issue/DIYgod/RSSHub"


@pytest.fixture
def service(database: Database, tmp_path: Path, site: Publisher) -> BridgedService:
    return BridgedService(database, tmp_path, rsshub_url=site.origin.replace("//", "//pat:s3cret@"))


def test_a_route_is_subscribed_to_and_checked(service: BridgedService, site: Publisher) -> None:
    site.serve(PATH, atom("one"), etag='"1"')

    feed_id = service.subscribe(ROUTE)
    site.serve(PATH, atom("two", "one"))
    feed = service.refresh(feed_id)

    assert (feed.feed_url, feed.title, feed.parsing_error_message) == (ROUTE, "Bridged", "")
    first, second = site.requests
    assert {first.headers["authorization"], second.headers["authorization"]} == {"Basic cGF0OnMzY3JldA=="}
    assert second.headers["if-none-match"] == '"1"'


@pytest.mark.one_engine
def test_the_options_of_a_feed_are_not_sent_to_rsshub(service: BridgedService, site: Publisher) -> None:
    site.serve(PATH, atom("one"))

    service.subscribe(ROUTE, cookie="a=1", username="alice", password="hers", user_agent="Mine/1", fetch_via_proxy=True)

    seen = site.last
    assert seen.headers["authorization"] == "Basic cGF0OnMzY3JldA=="
    assert "cookie" not in seen.headers
    assert "Mine" not in seen.headers["user-agent"]


@pytest.mark.one_engine
def test_discovery_finds_the_route_itself(service: BridgedService, site: Publisher) -> None:
    site.serve(PATH, atom("one"))

    assert [url for _, url in service.discover(f" RSSHUB{ROUTE[6:]}?limit=5 ")] == [f"{ROUTE}?limit=5"]
    assert site.last.path == f"{PATH}?limit=5"


def test_a_list_of_feeds_may_have_routes(service: BridgedService, site: Publisher) -> None:
    site.serve(PATH, atom("one"))

    assert service.import_opml(ROUTE).new == 1
    [feed_id] = service.feed_ids()

    assert service.refresh(feed_id).parsing_error_message == ""


@pytest.mark.one_engine
def test_another_instance_is_followed(
    database: Database, tmp_path: Path, service: BridgedService, site: Publisher
) -> None:
    site.serve(PATH, atom("one"))
    feed_id = service.subscribe(ROUTE)
    with Publisher() as other:
        other.serve(f"/hub{PATH}", atom("two"))
        moved = service.with_settings(rsshub_url=f"{other.origin}/hub")

        assert moved.refresh(feed_id).feed_url == ROUTE

        assert len(other.requests) == 1


@pytest.mark.one_engine
def test_other_addresses_of_a_private_instance_are_refused(service: BridgedService, site: Publisher) -> None:
    """Otherwise icons and articles of feeds could lead there, too."""
    with pytest.raises(AddressRefused, match="rsshub://, followed by the route"):
        service.subscribe(site.url(PATH))

    assert site.requests == []


@pytest.mark.one_engine
def test_a_public_instance_is_a_host_as_any_other(database: Database, tmp_path: Path, site: Publisher) -> None:
    service = BridgedService(database, tmp_path, rsshub_url=site.origin, fetcher_allow_private_networks="1")
    url = site.serve(PATH, atom("one"))

    assert service.feed(service.subscribe(url)).feed_url == url


def test_a_permanent_redirect_does_not_replace_the_route(service: BridgedService, site: Publisher) -> None:
    site.serve(PATH, atom("one"))
    feed_id = service.subscribe(ROUTE)
    site.redirect(PATH, to=site.url("/elsewhere"), status=301)

    feed = service.refresh(feed_id)

    # The other address is as private as this one, and no route that was asked for.
    assert "private" in feed.parsing_error_message
    assert feed.feed_url == ROUTE


@pytest.mark.one_engine
def test_without_the_setting_the_error_names_it(database: Database, tmp_path: Path) -> None:
    service = BridgedService(database, tmp_path)

    for work in (service.subscribe, service.discover):
        with pytest.raises(InvalidInput, match="TIDINGS_RSSHUB_URL"):
            work(ROUTE)
    assert service.import_opml(ROUTE).new == 1
    [feed_id] = service.feed_ids()
    assert "TIDINGS_RSSHUB_URL" in service.refresh(feed_id).parsing_error_message


@pytest.mark.one_engine
def test_an_rsshub_that_is_down_is_named(database: Database, tmp_path: Path, site: Publisher) -> None:
    service = BridgedService(database, tmp_path, rsshub_url=site.origin)
    site.serve(PATH, atom("one"))
    feed_id = service.subscribe(ROUTE)
    site.serve(PATH, "No", status=503)
    assert service.refresh(feed_id).parsing_error_message.startswith("RSSHub answers with status 503")
    site.stop()
    assert service.refresh(feed_id).parsing_error_message.startswith("RSSHub, which this server uses for this, does")
    with pytest.raises(HttpError, match="RSSHub answers with status 404"), Publisher() as other:
        service.with_settings(rsshub_url=other.origin).subscribe("rsshub://unknown")


@pytest.mark.one_engine
@pytest.mark.parametrize(
    "route",
    [
        "wordpress/127.0.0.1/http",
        "wordpress/localhost%3A8080",
        "wordpress/%5B%3A%3A1%5D",
        "wordpress/2130706433",
        "wordpress/%2531%2532%2537.0.0.1",
        "ghost/http%253A%252F%252F10.0.0.1",
        "lemmy/news@169.254.169.254",
        "github/issue?filter_title=x&proxy=http://192.168.1.1",
        "rsshub/transform/html/https%3A%2F%2Fexample.org/a=b",
        "RSSHub/%74ransform/html/https%3A%2F%2Fexample.org",
        "github/%2e%2e/rsshub/transform",
    ],
)
def test_rsshub_is_no_door_to_private_networks(service: BridgedService, site: Publisher, route: str) -> None:
    with pytest.raises((AddressRefused, InvalidInput)):
        service.subscribe(f"rsshub://{route}")
    service.import_opml(f"rsshub://{route.replace('&', '&amp;')}", site.url(f"/{route.replace('&', '&amp;')}"))
    for feed_id in service.feed_ids():
        assert service.refresh(feed_id).parsing_error_message
    assert service.feed_ids()
    assert site.requests == []


@pytest.mark.parametrize(
    "url",
    ["rsshub://", "rsshub:///github", "rsshub://a@b/c", "rsshub://[::1]/x", "rsshub://a b", "rsshub://a#b", "rsshub:a"],
)
def test_addresses_that_are_no_routes_are_refused(url: str) -> None:
    with pytest.raises(InvalidInput):
        feed_changes.validate({"feed_url": url})


def test_all_routes_share_a_limit_of_requests() -> None:
    assert host_with_port(ROUTE) == host_with_port("rsshub://hackernews/best") == "rsshub"
