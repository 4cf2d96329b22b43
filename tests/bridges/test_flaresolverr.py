"""Feeds that a browser of the operator fetches, because their sites keep other programs out."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from bridges.bridged import BridgedService, atom
from bridges.solver import AGENT, CANNOT_REACH, CANNOT_SOLVE, Solver, as_text, as_tree
from support.people import rss
from support.publisher import Publisher
from tidings.base.errors import InvalidInput
from tidings.bridges.bridge import BridgeDown
from tidings.bridges.browser_documents import shown_document
from tidings.bridges.flaresolverr import ChallengeUnsolved
from tidings.bridges.store import ServiceTurn
from tidings.bridges.turns import Turns
from tidings.domain.feeds import feed_changes
from tidings.domain.feeds.health import BROWSER_OFFER
from tidings.engine.database import Database
from tidings.net.errors import AddressRefused, BodyTooLarge, ChallengePage, FetchError, HttpError
from tidings.net.fetch import FetchRequest
from tidings.services.clock import system_clock
from tidings.wiring.services import AllServices

pytestmark = pytest.mark.slow

# An address of the documentation would be refused: nothing is sent to this one, the browser is a stand-in.
FEED = "http://93.184.215.14/feed.xml"
PNG = b"\x89PNG\r\n\x1a\nicon"
TURN = ServiceTurn("flaresolverr")
VIA = {"fetch_via_flaresolverr": True}


@pytest.fixture
def solver(site: Publisher) -> Solver:
    return Solver(site)


@pytest.fixture
def service(database: Database, tmp_path: Path, site: Publisher) -> BridgedService:
    return BridgedService(
        database, tmp_path, flaresolverr_url=site.origin, http_client_proxy=site.origin, http_client_max_body_size="1"
    )


# Documents

DECLARED = '<?xml version="1.0" encoding="ISO-8859-1"?>'
DOCUMENT = (
    '<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>A &amp; B</title>'
    "<item>"
    '<title>Ünïcode</title><guid>1</guid><content:encoded><![CDATA[<p>a</p></div><div class="header">x]]>'
    "</content:encoded></item></channel></rss>"
)


@pytest.mark.parametrize(
    ("page", "document"),
    [
        (as_text(DECLARED + DOCUMENT), DOCUMENT),
        (as_tree(DECLARED + DOCUMENT), DOCUMENT),
        (DOCUMENT, DOCUMENT),
        (DECLARED + DOCUMENT, DOCUMENT),
        (as_text('{"title": "J <b>"}'), '{"title": "J <b>"}'),
        (
            as_text("{}").replace("</pre>", '</pre><div class="json-formatter-container"></div>'),
            "{}",
        ),
        ("<html><body><p>A page</p><pre>code</pre></body></html>",) * 2,
        ("<html><head></head><body><pre>one</pre><p>two</p></body></html>",) * 2,
        ('<div id="webkit-xml-viewer-source-xml"><rss>never closed',) * 2,
        ("", ""),
    ],
)
def test_the_document_is_taken_out_of_what_the_browser_shows(page: str, document: str) -> None:
    assert shown_document(page) == document


@pytest.mark.parametrize("shown", [as_text, as_tree, str])
def test_a_feed_is_fetched_by_the_browser(service: BridgedService, solver: Solver, shown: type[str]) -> None:
    solver.show(FEED, shown(DECLARED + rss(["One"], "http://93.184.215.14", title="Ünïcode").partition("?>")[2]))

    feed_id = service.subscribe(FEED, **VIA)
    solver.show(FEED, shown(atom("two")))
    feed = service.refresh(feed_id)

    assert (feed.title, feed.parsing_error_message) == ("Bridged", "")
    assert solver.asked[0] == {"cmd": "request.get", "url": FEED, "maxTimeout": 60000}
    assert solver.urls.count(FEED) == 2


def test_secrets_of_a_feed_are_not_sent(service: BridgedService, solver: Solver, site: Publisher) -> None:
    """FlareSolverr writes what it is asked into its log."""
    solver.show(FEED, atom("one"))

    service.subscribe(FEED.replace("//", "//alice:s3cret@"), cookie="a=s3cret", **VIA)

    assert all(b"s3cret" not in seen.body for seen in site.requests)
    assert "s3cret" not in str([seen.headers for seen in site.requests_for("/v1")])


def test_an_article_takes_the_same_way(service: BridgedService, solver: Solver) -> None:
    page = "http://93.184.215.14/0"
    solver.show(FEED, rss(["One"], "http://93.184.215.14"))
    solver.show(page, f"<html><body><article>{'<p>Behind the challenge, a story.</p>' * 20}</article></body></html>")

    feed_id = service.subscribe(FEED, crawler=True, **VIA)

    assert page in solver.urls
    assert "Behind the challenge" in service.contents(feed_id)


def test_icons_are_fetched_with_what_passed_the_challenge(
    service: BridgedService, solver: Solver, site: Publisher
) -> None:
    """The browser would show them in a page. Through the operator's proxy, since nothing can be reached directly."""
    icon = "http://93.184.215.14/icon.png"
    site.serve(icon, PNG, headers=[("Content-Type", "image/png")])
    solver.show("http://93.184.215.14/", "<html><body>Passed</body></html>")

    async def get(services: AllServices) -> bytes:
        request = FetchRequest(url=icon, accept="image/*", fetch_via_flaresolverr=True, fetch_via_proxy=True)
        response = await services.polling.fetcher.get(request, [service.user.id])
        again = await services.polling.fetcher.get(request, [service.user.id])
        assert again.body == response.body
        return bytes(response.body)

    assert service.run(get) == PNG
    assert solver.urls == ["http://93.184.215.14/"]
    for seen in site.requests_for(icon):
        assert seen.headers["cookie"] == "cf_clearance=passed; theme=dark"
        assert seen.headers["user-agent"] == AGENT


# The guard


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1/", "http://[::1]/", "http://localhost/x", "http://10.0.0.1/", "http://169.254.169.254/latest"],
)
def test_private_addresses_are_not_sent_to_the_browser(service: BridgedService, solver: Solver, url: str) -> None:
    with pytest.raises(AddressRefused):
        service.subscribe(url, **VIA)

    assert solver.asked == []


def test_what_the_browser_was_led_to_is_guarded(service: BridgedService, solver: Solver) -> None:
    solver.show(FEED, as_text(atom("secret")), final_url="http://192.168.0.1/secret")

    with pytest.raises(AddressRefused):
        service.subscribe(FEED, **VIA)


# Failures


@pytest.mark.parametrize(
    ("message", "kind", "text"),
    [
        (CANNOT_SOLVE, ChallengeUnsolved, r"FlareSolverr could not solve the challenge of 93\.184\.215\.14"),
        (CANNOT_REACH, FetchError, "FlareSolverr cannot reach"),
        ("Error: <b>anything</b>", FetchError, "FlareSolverr could not fetch .* log"),
    ],
)
def test_failures_name_flaresolverr(
    service: BridgedService, solver: Solver, message: str, kind: type[FetchError], text: str
) -> None:
    solver.fail(FEED, message)

    with pytest.raises(kind, match=text):
        service.subscribe(FEED, **VIA)


def test_a_flaresolverr_that_is_down_is_named(database: Database, tmp_path: Path) -> None:
    service = BridgedService(database, tmp_path, flaresolverr_url="http://pat:s3cret@127.0.0.1:9")

    with pytest.raises(BridgeDown, match=r"FlareSolverr, .* does not answer") as caught:
        service.subscribe(FEED, **VIA)

    assert "s3cret" not in caught.value.message


def test_an_answer_that_is_none_is_named_as_flaresolverrs(service: BridgedService, site: Publisher) -> None:
    site.serve("/v1", "<html>")

    with pytest.raises(FetchError, match="FlareSolverr does not answer as FlareSolverr does"):
        service.subscribe(FEED, **VIA)


def test_a_document_has_the_usual_limits(service: BridgedService, solver: Solver) -> None:
    solver.show(FEED, "x" * (2**20 + 1))
    with pytest.raises(BodyTooLarge):
        service.subscribe(FEED, **VIA)
    solver.show(FEED, "Gone", status=404)
    with pytest.raises(HttpError, match="404"):
        service.subscribe(FEED, **VIA)
    solver.show(FEED, " ")
    with pytest.raises(InvalidInput, match="empty"):
        service.subscribe(FEED, **VIA)


def test_an_answer_that_is_far_too_large_is_not_read(service: BridgedService, site: Publisher) -> None:
    site.serve("/v1", b"{" + b" " * (7 * 2**20))

    with pytest.raises(BodyTooLarge):
        service.subscribe(FEED, **VIA)


# The choice


def test_without_the_setting_such_a_feed_is_fetched_directly(
    database: Database, tmp_path: Path, site: Publisher
) -> None:
    service = BridgedService(database, tmp_path, fetcher_allow_private_networks="1")
    url = site.serve("/feed.xml", atom("one"))

    assert service.feed(service.subscribe(url, **VIA)).fetch_via_flaresolverr


def test_a_feed_is_fetched_in_one_way(service: BridgedService, solver: Solver) -> None:
    solver.show(FEED, atom("one"))
    with pytest.raises(InvalidInput, match="not both"):
        feed_changes.validate({"fetch_via_proxy": True, **VIA})
    feed_id = service.subscribe(FEED, **VIA)
    with pytest.raises(InvalidInput, match="not both"):
        service.update(feed_id, fetch_via_proxy=True)

    service.update(feed_id, fetch_via_proxy=True, fetch_via_flaresolverr=False)

    assert service.feed(feed_id).fetch_via_proxy


def test_the_error_of_a_challenge_offers_the_way(
    database: Database, tmp_path: Path, site: Publisher, service: BridgedService
) -> None:
    url = "http://site.example/feed"
    site.serve(url, "Are you human?", status=403, headers=[("cf-mitigated", "challenge")])

    with pytest.raises(ChallengePage, match="fetched through FlareSolverr") as offering:
        service.subscribe(url, fetch_via_proxy=True)
    assert offering.value.text.english().endswith(BROWSER_OFFER.english())
    other = service.with_settings(http_client_proxy=site.origin)
    with pytest.raises(ChallengePage) as caught:
        other.subscribe(url, fetch_via_proxy=True)
    assert "FlareSolverr" not in caught.value.message


# One at a time


def test_the_browser_is_asked_for_one_page_at_a_time(
    database: Database, service: BridgedService, site: Publisher
) -> None:
    """Two processes, each with several requests."""
    lock, counts = threading.Lock(), {"now": 0, "most": 0, "all": 0}

    async def work(turns: Turns) -> None:
        async with turns.turn():
            with lock:
                counts["now"] += 1
                counts["all"] += 1
                counts["most"] = max(counts["most"], counts["now"])
            await asyncio.sleep(0.01)
            with lock:
                counts["now"] -= 1

    def process() -> None:
        async def run() -> None:
            turns = Turns(database, system_clock, TURN, length_s=600, patience_s=600)
            await asyncio.gather(*(work(turns) for _ in range(4)))

        asyncio.run(run())

    threads = [threading.Thread(target=process) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (counts["all"], counts["most"]) == (8, 1)


def test_the_turn_of_a_process_that_died_ends(database: Database) -> None:
    async def run() -> None:
        dead = Turns(database, system_clock, TURN, length_s=0.01, patience_s=600)
        assert await asyncio.to_thread(dead._take, "dead")
        async with Turns(database, system_clock, TURN, length_s=600, patience_s=600).turn():
            pass

    asyncio.run(run())


def test_waiting_for_a_turn_ends(database: Database) -> None:
    async def run() -> None:
        turns = Turns(database, system_clock, TURN, length_s=600, patience_s=600)
        async with turns.turn():
            with pytest.raises(TimeoutError):
                async with Turns(database, system_clock, TURN, length_s=600, patience_s=0.01).turn():
                    raise AssertionError
        async with turns.turn():
            pass

    asyncio.run(run())
