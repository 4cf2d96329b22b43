"""Bridges that users set up for themselves come before the server's, and serve nobody else."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridges.bridged import NO_FEED, SITE, BridgedService, answer_findfeed, atom
from bridges.solver import AGENT, CANNOT_SOLVE, Solver
from support.people import Person, rss
from support.publisher import Publisher
from support.visitors import Visitor
from tidings.base.errors import InvalidInput, NotFound
from tidings.bridges.bridge import BridgeDown
from tidings.bridges.flaresolverr import ChallengeUnsolved
from tidings.bridges.store import OwnTurn, ServiceTurn
from tidings.bridges.turns import Turns
from tidings.domain.feeds.health import BROWSER_OFFER
from tidings.domain.feeds.own_bridges import OwnBridges
from tidings.engine.database import Database
from tidings.net.errors import AddressRefused, ChallengePage
from tidings.net.fetch import FetchRequest
from tidings.services.clock import system_clock
from tidings.wiring.services import AllServices

pytestmark = pytest.mark.slow

ROUTE = "rsshub://github/issue/DIYgod/RSSHub"
PATH = "/github/issue/DIYgod/RSSHub"
PICTURES = {"bridge": "PicturesBridge", "user": "alice", "format": "Atom"}
BRIDGED = "/?action=display&bridge=PicturesBridge&user=alice&format=Atom"
FEED = "http://93.184.215.14/feed.xml"
VIA = {"fetch_via_flaresolverr": True}
PAGE = "/settings/bridges"
API = "/v1/bridges"
NOTHING = {"rssbridge_url": "", "rsshub_url": "", "flaresolverr_url": ""}


@pytest.fixture
def own() -> Iterator[Publisher]:
    """The user's own bridge."""
    with Publisher() as publisher:
        yield publisher


@pytest.fixture
def bridged(database: Database, tmp_path: Path, site: Publisher) -> BridgedService:
    """`site` is each of the server's bridges, and the operator's proxy. Bridges of users may be on this machine."""
    address = site.origin.replace("//", "//pat:s3cret@")
    return BridgedService(
        database,
        tmp_path,
        rssbridge_url=address,
        rsshub_url=address,
        flaresolverr_url=site.origin,
        http_client_proxy=site.origin,
        fetcher_allow_private_networks="1",
    )


def with_password(bridge: Publisher) -> str:
    return bridge.origin.replace("//", "//al:own-s3cret@")


# RSSHub


def test_the_own_rsshub_comes_before_the_servers_until_it_is_cleared(
    bridged: BridgedService, site: Publisher, own: Publisher
) -> None:
    site.serve(PATH, atom("one"), etag='"1"')
    own.serve(PATH, atom("two"), etag='"1"')
    feed_id = bridged.subscribe(ROUTE)

    bridged.set_up(rsshub_url=with_password(own))
    assert bridged.refresh(feed_id).parsing_error_message == ""
    own.serve(PATH + "?limit=1", atom("three"))
    bridged.subscribe(ROUTE + "?limit=1")
    assert [seen.path for seen in own.requests] == [PATH, PATH + "?limit=1"]
    # What the server's bridge said of the document holds for no other bridge.
    assert "if-none-match" not in own.requests[0].headers
    assert own.last.headers["authorization"] == "Basic YWw6b3duLXMzY3JldA=="
    assert [seen.path for seen in site.requests] == [PATH]

    bridged.set_up(rsshub_url="")
    assert bridged.refresh(feed_id).feed_url == ROUTE
    assert [seen.path for seen in site.requests] == [PATH, PATH]
    assert len(own.requests) == 2


def test_strangers_share_no_fetch_that_went_through_an_own_bridge(
    bridged: BridgedService, site: Publisher, own: Publisher
) -> None:
    bob = bridged.as_user("bob")
    site.serve(PATH, atom("public"))
    own.serve(PATH, atom("private"))
    of_alice, of_bob = bridged.subscribe(ROUTE), bob.subscribe(ROUTE)
    assert bridged.source_of(of_alice) == bob.source_of(of_bob)

    bridged.set_up(rsshub_url=own.origin)
    assert bridged.source_of(of_alice) != bob.source_of(of_bob)
    later = bob.as_user("carol")
    later.set_up(rsshub_url=own.origin)
    of_carol = later.subscribe(ROUTE)
    assert len({bridged.source_of(of_alice), bob.source_of(of_bob), later.source_of(of_carol)}) == 3
    bridged.refresh(of_alice)
    bob.refresh(of_bob)
    assert bob.titles(of_bob) == ["public"]
    assert sorted(bridged.titles(of_alice)) == ["private", "public"]

    bridged.set_up(rsshub_url="")
    assert bridged.source_of(of_alice) == bob.source_of(of_bob)


def test_an_own_rsshub_makes_routes_usable_for_its_user_alone(
    database: Database, tmp_path: Path, own: Publisher
) -> None:
    bridged = BridgedService(database, tmp_path, fetcher_allow_private_networks="1")
    bob = bridged.as_user("bob")
    own.serve(PATH, atom("one"))
    bridged.set_up(rsshub_url=own.origin)

    assert [url for _, url in bridged.discover(ROUTE)] == [ROUTE]
    feed_id = bridged.subscribe(ROUTE)
    assert bridged.refresh(feed_id).parsing_error_message == ""

    for work in (bob.subscribe, bob.discover):
        with pytest.raises(InvalidInput, match=r"Set up your own .* TIDINGS_RSSHUB_URL"):
            work(ROUTE)
    # A list of feeds brings routes that cannot be fetched yet; they are, once there is an RSSHub.
    bob.import_opml(ROUTE)
    [imported] = bob.feed_ids()
    bob.set_up(rsshub_url=own.origin)
    assert bob.refresh(imported).parsing_error_message == ""


def test_a_list_of_feeds_goes_to_sources_of_its_own(bridged: BridgedService, site: Publisher, own: Publisher) -> None:
    bob = bridged.as_user("bob")
    site.serve(PATH, atom("one"))
    own.serve(PATH, atom("two"))
    bridged.set_up(rsshub_url=own.origin)

    bridged.import_opml(ROUTE, FEED)
    bob.import_opml(ROUTE, FEED)

    by_url = {bridged.feed(one).feed_url: bridged.source_of(one) for one in bridged.feed_ids()}
    of_bob = {bob.feed(one).feed_url: bob.source_of(one) for one in bob.feed_ids()}
    assert by_url[ROUTE] != of_bob[ROUTE]
    assert by_url[FEED] == of_bob[FEED]


def test_an_own_rsshub_that_is_down_is_named(
    bridged: BridgedService, own: Publisher, caplog: pytest.LogCaptureFixture
) -> None:
    own.serve(PATH, atom("one"))
    bridged.set_up(rsshub_url=with_password(own))
    feed_id = bridged.subscribe(ROUTE)
    own.serve(PATH, "No", status=503)
    assert bridged.refresh(feed_id).parsing_error_message.startswith("RSSHub answers with status 503")
    own.stop()

    with caplog.at_level(logging.DEBUG):
        message = bridged.refresh(feed_id).parsing_error_message

    assert message.startswith("RSSHub, which you have set up, does not answer")
    assert "s3cret" not in message + caplog.text


# RSS-Bridge


def test_discovery_asks_the_own_rss_bridge(bridged: BridgedService, site: Publisher, own: Publisher) -> None:
    site.serve(f"{SITE}/alice", NO_FEED)
    answer_findfeed(own, PICTURES)
    bridged.set_up(rssbridge_url=f"{with_password(own)}/")

    [(title, url)] = bridged.discover(f"{SITE}/alice")
    own.serve(BRIDGED, atom("one"))
    feed_id = bridged.subscribe(url)

    assert title == "Picture site (RSS-Bridge)"
    assert url.startswith(own.origin + BRIDGED + "#tidings=")
    asked = [seen for seen in own.requests if seen.path.startswith("/?action=")]
    assert {seen.headers.get("authorization") for seen in asked} == {"Basic YWw6b3duLXMzY3JldA=="}
    assert bridged.refresh(feed_id).parsing_error_message == ""
    assert site.requests_for("/") == []


def test_what_an_own_rss_bridge_offers_is_of_no_use_to_strangers(
    bridged: BridgedService, site: Publisher, own: Publisher
) -> None:
    site.serve(f"{SITE}/alice", NO_FEED)
    answer_findfeed(own, PICTURES)
    bridged.set_up(rssbridge_url=with_password(own))
    [(_, url)] = bridged.discover(f"{SITE}/alice")
    own.serve(BRIDGED, atom("one"))
    of_alice = bridged.subscribe(url)
    own.forget_requests()

    # As any other address: without the password of the bridge, even for a user with the same one.
    bob, carol = bridged.as_user("bob"), bridged.as_user("carol")
    carol.set_up(rssbridge_url=with_password(own))
    others = [bob.source_of(bob.subscribe(url)), carol.source_of(carol.subscribe(url))]

    assert all("authorization" not in seen.headers for seen in own.requests)
    assert len({bridged.source_of(of_alice), *others}) == 3


def test_an_own_rss_bridge_that_is_down_is_named(bridged: BridgedService, site: Publisher) -> None:
    bridged.set_up(rssbridge_url="http://al:own-s3cret@127.0.0.1:9")
    site.serve(f"{SITE}/alice", NO_FEED)

    with pytest.raises(NotFound, match=r"No feed was found.* RSS-Bridge, which you have set up, does not") as caught:
        bridged.discover(f"{SITE}/alice")

    assert "s3cret" not in caught.value.message


# FlareSolverr


def test_the_own_browser_fetches_feeds_articles_and_icons(
    bridged: BridgedService, site: Publisher, own: Publisher
) -> None:
    of_server, of_user = Solver(site), Solver(own)
    page, icon = f"{SITE}/0", f"{SITE}/icon.png"
    site.serve(icon, b"\x89PNG\r\n\x1a\nicon", headers=[("Content-Type", "image/png")])
    of_user.show(f"{SITE}/", "<html><body>Passed</body></html>")
    of_user.show(FEED, rss(["One"], SITE))
    of_user.show(page, f"<html><body><article>{'<p>Behind the challenge, a story.</p>' * 20}</article></body></html>")
    bridged.set_up(flaresolverr_url=own.origin)

    feed_id = bridged.subscribe(FEED, crawler=True, **VIA)

    async def get_icon(services: AllServices) -> None:
        request = FetchRequest(
            url=icon,
            accept="image/*",
            fetch_via_proxy=True,
            fetch_via_flaresolverr=True,
            bridges_of=bridged.user.id,
        )
        await services.polling.fetcher.get(request, [bridged.user.id])

    bridged.run(get_icon)
    assert "Behind the challenge" in bridged.contents(feed_id)
    assert bridged.refresh(feed_id).parsing_error_message == ""
    assert {FEED, page, f"{SITE}/"} <= {*of_user.urls}
    assert site.requests_for(icon)[-1].headers["user-agent"] == AGENT
    assert of_server.asked == []


def test_feeds_follow_the_own_browser(bridged: BridgedService, site: Publisher, own: Publisher) -> None:
    of_server, of_user = Solver(site), Solver(own)
    of_server.show(FEED, atom("one"))
    of_user.show(FEED, atom("two"))
    bob = bridged.as_user("bob")
    of_alice, of_bob = bridged.subscribe(FEED, **VIA), bob.subscribe(FEED, **VIA)
    assert bridged.source_of(of_alice) == bob.source_of(of_bob)
    bridged.set_up(flaresolverr_url=own.origin)
    asked = len(of_server.asked)

    bridged.refresh(of_alice)

    assert (of_user.urls, len(of_server.asked)) == ([FEED], asked)
    assert bridged.source_of(of_alice) != bob.source_of(of_bob)
    bridged.update(of_alice, fetch_via_flaresolverr=False)
    bob.update(of_bob, fetch_via_flaresolverr=False)
    assert bridged.source_of(of_alice) == bob.source_of(of_bob)


def test_failures_of_the_own_browser_are_named(bridged: BridgedService, own: Publisher) -> None:
    Solver(own).fail(FEED, CANNOT_SOLVE)
    bridged.set_up(flaresolverr_url=own.origin)
    with pytest.raises(ChallengeUnsolved, match="FlareSolverr could not solve"):
        bridged.subscribe(FEED, **VIA)

    own.stop()
    with pytest.raises(BridgeDown, match="FlareSolverr, which you have set up, does not answer"):
        bridged.subscribe(FEED, **VIA)


def test_each_own_browser_has_turns_of_its_own(database: Database, bridged: BridgedService) -> None:
    bob = bridged.as_user("bob")
    bridged.set_up(flaresolverr_url="http://solver.example")
    bob.set_up(flaresolverr_url="http://solver.example")

    def turns(stored: OwnTurn | ServiceTurn, patience_s: float = 60) -> Turns:
        return Turns(database, system_clock, stored, length_s=600, patience_s=patience_s)

    async def run() -> None:
        async with turns(OwnTurn(bridged.user.id)).turn():
            async with turns(OwnTurn(bob.user.id)).turn(), turns(ServiceTurn("flaresolverr")).turn():
                pass
            with pytest.raises(TimeoutError):
                async with turns(OwnTurn(bridged.user.id), patience_s=0.2).turn():
                    raise AssertionError
        async with turns(OwnTurn(bridged.user.id)).turn():
            pass

    asyncio.run(run())


def test_the_way_is_offered_to_those_who_have_a_browser(
    database: Database, tmp_path: Path, site: Publisher, own: Publisher
) -> None:
    bridged = BridgedService(database, tmp_path, http_client_proxy=site.origin, fetcher_allow_private_networks="1")
    bob = bridged.as_user("bob")
    site.serve(FEED, "Are you human?", status=403, headers=[("cf-mitigated", "challenge")])
    bridged.set_up(flaresolverr_url=own.origin)

    with pytest.raises(ChallengePage) as offered:
        bridged.subscribe(FEED, fetch_via_proxy=True)
    with pytest.raises(ChallengePage) as alone:
        bob.subscribe(FEED, fetch_via_proxy=True)

    assert offered.value.text.english().endswith(BROWSER_OFFER.english())
    assert "FlareSolverr" not in alone.value.message


# The guard


def test_an_own_bridge_in_a_private_network_is_refused(
    bridged: BridgedService, site: Publisher, own: Publisher
) -> None:
    """Even if its address was set when that was allowed, or its name leads there."""
    site.serve(f"{SITE}/alice", NO_FEED)
    own.serve(PATH, atom("one"))
    bridged.set_up(**dict.fromkeys(NOTHING, with_password(own)))
    strict = bridged.with_settings(http_client_proxy=site.origin)

    with pytest.raises(AddressRefused, match="RSSHub, which you have set up, cannot be used"):
        strict.subscribe(ROUTE)
    with pytest.raises(AddressRefused, match="FlareSolverr, which you have set up, cannot be used"):
        strict.subscribe(FEED, **VIA)
    with pytest.raises(NotFound, match="RSS-Bridge, which you have set up, cannot be used"):
        strict.discover(f"{SITE}/alice")

    assert own.requests == []


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:1200", "http://localhost", "https://a:b@[::1]/", "http://10.1.2.3/x"]
)
def test_a_private_address_cannot_be_set(database: Database, tmp_path: Path, address: str) -> None:
    bridged = BridgedService(database, tmp_path)
    for name in NOTHING:
        with pytest.raises(InvalidInput, match="private or local network") as caught:
            bridged.set_up(**{name: address})
        assert caught.value.field == name


def test_an_own_bridge_is_no_door_to_private_networks(database: Database, tmp_path: Path) -> None:
    """It may stand where this server does."""
    bridged = BridgedService(database, tmp_path)
    bridged.set_up(rsshub_url="http://93.184.215.14", flaresolverr_url="http://93.184.215.14")

    for url, options in (("rsshub://wordpress/127.0.0.1", {}), ("http://10.0.0.1/", VIA)):
        with pytest.raises(AddressRefused, match="private or local network"):
            bridged.subscribe(url, **options)
    with pytest.raises(InvalidInput, match="rsshub/transform"):
        bridged.subscribe("rsshub://rsshub/transform/html/x")


# Setting them


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("bridge.example.org", "begins with http"),
        ("ftp://bridge.example.org", "begins with http"),
        ("rsshub://bridge.example.org", "begins with http"),
        ("http://", "begins with http"),
        ("http://bridge.example.org/?key=1", "without a query"),
        ("http://bridge.example.org/#x", "without a query"),
        ("http://bridge.example.org/" + "a" * 500, "500 bytes"),
        ("http://bri dge.example.org", "begins with http"),
        ("http://exa_mple..org", ""),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(alice: Person, address: str, problem: str) -> None:
    for name in NOTHING:
        refused = alice.call("PUT", API, {name: address})
        assert refused.status == 400
        assert name in refused.body.decode()
        assert problem in refused.body.decode()
    assert alice.get(API) == {**NOTHING, "of_server": []}


def test_the_api_sets_what_is_sent(alice: Person, bob: Person) -> None:
    hub, bridge = "https://al:own-s3cret@hub.example.org:1200/sub", "http://93.184.215.14"

    alice.put(API, {"rsshub_url": f" {hub}/ "}, status=201)
    answer = alice.put(API, {"rssbridge_url": bridge.replace("http", "HTTP")}, status=201)

    assert answer == {**NOTHING, "rsshub_url": hub, "rssbridge_url": bridge, "of_server": []}
    assert alice.get(API) == answer
    assert bob.get(API) == {**NOTHING, "of_server": []}
    alice.put(API, {"rsshub_url": None, "rssbridge_url": ""}, status=201)
    assert alice.get(API) == {**NOTHING, "rsshub_url": hub, "of_server": []}


def test_the_page_sets_addresses_and_shows_errors(alice: Person, reader: Visitor) -> None:
    reader.get(PAGE)
    reader.post(PAGE, rsshub_url="https://hub.example.org", rssbridge_url="", flaresolverr_url="")
    assert alice.get(API)["rsshub_url"] == "https://hub.example.org"

    page = reader.page(PAGE)
    assert 'value="https://hub.example.org"' in page
    refused = reader.post(PAGE, rsshub_url="hub", rssbridge_url="", flaresolverr_url="")
    assert refused.status == 400
    assert 'id="error-rsshub_url"' in refused.body.decode()
    assert 'value="hub"' in refused.body.decode()

    reader.post(PAGE, rsshub_url="", rssbridge_url="", flaresolverr_url="")
    assert alice.get(API) == {**NOTHING, "of_server": []}


def test_addresses_are_in_no_text_of_their_value() -> None:
    assert "s3cret" not in repr(OwnBridges(rsshub_url="http://a:s3cret@hub.example"))
