"""Discovery asks RSS-Bridge for pages without a feed; what it offers is fetched from it, and nothing else."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from bridges.bridged import NO_FEED, SITE, BridgedService, answer_findfeed, atom
from support.publisher import Publisher
from tidings.base.errors import NotFound
from tidings.base.messages import msg
from tidings.bridges.bridge import Bridge, BridgeDown
from tidings.engine.database import Database
from tidings.net.errors import AddressRefused, FetchError, HttpError

pytestmark = pytest.mark.slow

PICTURES = {"bridge": "PicturesBridge", "user": "alice", "format": "Atom"}
BRIDGED = "/?action=display&bridge=PicturesBridge&user=alice&format=Atom"


@pytest.fixture
def service(database: Database, tmp_path: Path, site: Publisher) -> BridgedService:
    """`site` is the bridge, with a password, and the operator's proxy."""
    address = site.origin.replace("//", "//pat:s3cret@")
    return BridgedService(database, tmp_path, rssbridge_url=address, http_client_proxy=site.origin)


def offered(service: BridgedService, site: Publisher) -> str:
    """Return the address that the bridge offers for the page."""
    site.serve(f"{SITE}/alice", NO_FEED)
    answer_findfeed(site, PICTURES)
    [(_, url)] = service.discover(f"{SITE}/alice")
    return url


@pytest.mark.one_engine
def test_a_page_without_feed_gets_what_the_bridge_makes_of_it(service: BridgedService, site: Publisher) -> None:
    site.serve(f"{SITE}/alice?tab=1", NO_FEED)
    answer_findfeed(site, PICTURES)

    [(title, url)] = service.discover(f"{SITE}/alice?tab=1")

    assert title == "Picture site (RSS-Bridge)"
    assert url.startswith(site.origin + BRIDGED + "#")
    asked = site.requests_for("/")[-1]
    assert asked.path == "/?action=findfeed&format=Atom&url=http%3A%2F%2F93.184.215.14%2Falice%3Ftab%3D1"
    assert asked.headers["authorization"] == "Basic cGF0OnMzY3JldA=="


def test_a_feed_of_the_bridge_is_subscribed_to_and_checked(service: BridgedService, site: Publisher) -> None:
    url = offered(service, site)
    site.serve(BRIDGED, atom("one"), etag='"1"')

    feed_id = service.subscribe(url)
    site.serve(BRIDGED, atom("two", "one"))
    feed = service.refresh(feed_id)

    assert (feed.feed_url, feed.title, feed.parsing_error_message) == (url, "Bridged", "")
    first, second = site.requests_for(BRIDGED)
    assert {first.headers["authorization"], second.headers["authorization"]} == {"Basic cGF0OnMzY3JldA=="}
    assert second.headers["if-none-match"] == '"1"'


@pytest.mark.one_engine
def test_a_page_with_a_feed_is_not_told_to_the_bridge(service: BridgedService, site: Publisher) -> None:
    site.serve(f"{SITE}/feed", atom("one"))

    assert [url for _, url in service.discover(f"{SITE}/feed")] == [f"{SITE}/feed"]
    assert site.requests_for("/") == []


@pytest.mark.one_engine
def test_a_page_that_is_closed_to_feed_readers_may_be_open_to_the_bridge(
    service: BridgedService, site: Publisher
) -> None:
    site.serve(f"{SITE}/alice", "Are you human?", status=403, headers=[("cf-mitigated", "challenge")])
    answer_findfeed(site, PICTURES)

    assert [title for title, _ in service.discover(f"{SITE}/alice")] == ["Picture site (RSS-Bridge)"]

    answer_findfeed(site)
    with pytest.raises(HttpError, match="checks that visitors are human"):
        service.discover(f"{SITE}/alice")


@pytest.mark.one_engine
def test_a_bridge_that_knows_nothing_changes_nothing(service: BridgedService, site: Publisher) -> None:
    site.serve(f"{SITE}/alice", NO_FEED)
    answer_findfeed(site)

    with pytest.raises(NotFound) as caught:
        service.discover(f"{SITE}/alice")

    assert "RSS-Bridge" not in caught.value.message


@pytest.mark.one_engine
def test_a_bridge_that_is_down_is_named(database: Database, tmp_path: Path, site: Publisher) -> None:
    service = BridgedService(
        database, tmp_path, rssbridge_url="http://pat:s3cret@127.0.0.1:9", http_client_proxy=site.origin
    )
    site.serve(f"{SITE}/alice", NO_FEED)

    with pytest.raises(NotFound, match=r"No feed was found.* RSS-Bridge, which .* does not answer") as caught:
        service.discover(f"{SITE}/alice")

    assert "s3cret" not in caught.value.message


@pytest.mark.one_engine
@pytest.mark.parametrize("answer", ["<html>", "{}", '[{"title": 1}]', "\xff"])
def test_an_answer_that_is_none_is_named_as_the_bridges(service: BridgedService, site: Publisher, answer: str) -> None:
    site.serve(f"{SITE}/alice", NO_FEED)
    site.serve("/", answer.encode("latin-1"))

    with pytest.raises(NotFound, match="RSS-Bridge does not answer as RSS-Bridge does"):
        service.discover(f"{SITE}/alice")


@pytest.mark.one_engine
def test_what_is_not_a_feed_of_the_bridge_is_not_offered(service: BridgedService, site: Publisher) -> None:
    site.serve(f"{SITE}/alice", NO_FEED)
    answer_findfeed(site, {**PICTURES, "action": "list"}, {"user": "alice"}, {**PICTURES, "user": "a" * 2000})

    with pytest.raises(NotFound):
        service.discover(f"{SITE}/alice")


def test_a_check_names_the_bridge_when_it_fails(
    service: BridgedService, site: Publisher, caplog: pytest.LogCaptureFixture
) -> None:
    url = offered(service, site)
    site.serve(BRIDGED, atom("one"))
    feed_id = service.subscribe(url)

    site.serve(BRIDGED, "Broken", status=500)
    assert service.refresh(feed_id).parsing_error_message.startswith("RSS-Bridge answers with status 500")

    site.stop()
    with caplog.at_level(logging.DEBUG):
        feed = service.refresh(feed_id)
    assert "RSS-Bridge, which this server uses for this, does not answer" in feed.parsing_error_message
    assert "s3cret" not in feed.parsing_error_message + caplog.text


def test_only_what_the_bridge_has_offered_is_asked_of_a_private_one(service: BridgedService, site: Publisher) -> None:
    url = offered(service, site)
    address, _, signature = url.partition("#")
    site.forget_requests()
    for wrong in (
        address,
        f"{address}#tidings=",
        f"{address}#{signature[:-1]}",
        url.replace("user=alice", "user=bob"),
        url.replace("/?", "/x/?"),
        url.replace("/?", "/index.php?"),
        site.url("/?action=list"),
        site.url("/"),
        url.replace("127.0.0.1", "127.0.0.2"),
    ):
        with pytest.raises(AddressRefused):
            service.subscribe(wrong)
    with pytest.raises(AddressRefused, match="enter the address of the page"):
        service.subscribe(address)

    assert site.requests == []


@pytest.mark.one_engine
@pytest.mark.parametrize(
    "value",
    [
        "127.0.0.1",
        "http%3A%2F%2F169.254.169.254%2Flatest",
        "http%253A%252F%252F10.0.0.1",
        "%5B%3A%3A1%5D",
        "2130706433",
        "localhost",
        "http://0x7f.1/",
    ],
)
def test_the_bridge_is_no_door_to_private_networks(service: BridgedService, site: Publisher, value: str) -> None:
    """Some of its bridges fetch the address that their page names."""
    site.serve(f"{SITE}/alice", NO_FEED)
    answer_findfeed(site, {"bridge": "FilterBridge", "url": value})
    [(_, url)] = service.discover(f"{SITE}/alice")
    site.forget_requests()

    with pytest.raises(AddressRefused):
        service.subscribe(url)

    assert site.requests == []


@pytest.mark.one_engine
def test_the_bridge_is_not_told_pages_that_name_private_hosts(service: BridgedService, site: Publisher) -> None:
    page = f"{SITE}/alice?next=http%3A%2F%2F127.0.0.1%2F"
    site.serve(page, NO_FEED)
    answer_findfeed(site, PICTURES)

    with pytest.raises(NotFound):
        service.discover(page)

    assert site.requests_for("/") == []


@pytest.mark.one_engine
def test_redirects_of_the_bridge_are_guarded(service: BridgedService, site: Publisher) -> None:
    url = offered(service, site)
    secret = site.serve("/secret", atom("secret"))
    site.redirect(BRIDGED, to=secret)

    with pytest.raises(AddressRefused):
        service.subscribe(url)

    assert site.requests_for("/secret") == []


@pytest.mark.one_engine
def test_a_bridge_in_a_folder_is_asked_there(database: Database, tmp_path: Path, site: Publisher) -> None:
    address = f"{site.origin}/rss/bridge/"
    service = BridgedService(database, tmp_path, rssbridge_url=address, http_client_proxy=site.origin)
    site.serve(f"{SITE}/alice", NO_FEED)
    answer_findfeed(site, PICTURES, path="/rss/bridge/")
    [(_, url)] = service.discover(f"{SITE}/alice")
    path = f"/rss/bridge{BRIDGED}"
    site.serve(path, atom("one"))

    service.subscribe(url)

    assert url.startswith(site.origin + path)
    with pytest.raises(FetchError):
        service.subscribe(url.replace("/rss/bridge/", "/"))


def test_errors_of_a_bridge_are_temporary() -> None:
    assert BridgeDown(Bridge("RSS-Bridge", "http://bridge"), msg("It is off."), url="").is_temporary
