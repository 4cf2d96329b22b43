"""Reading without a connection: copies that the service worker keeps, and when it deletes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from browser.readers import Reader, reading
from cli.commands import eventually
from support.databases import Databases
from support.people import PASSWORD, Cast, Person
from support.publisher import Publisher
from support.relay import Relay
from support.running import RunningService, running_service
from tidings.content import icons
from tidings.web.assets import Assets

pytestmark = pytest.mark.slow

PICTURE = icons.render_app_icon(192)
# Paths of all responses in caches of the session.
_KEPT = """
async () => {
    const found = [];
    for (const name of await caches.keys()) if (name.split(" ").length > 2)
        for (const request of await (await caches.open(name)).keys()) found.push(new URL(request.url).pathname);
    return found;
}
"""
# After the start of the worker.
_FIRST_COPY_MS = """
() => performance.getEntriesByType("resource").find((one) => one.name.includes("/offline/")).startTime
"""
_ROUTE = "performance.getEntriesByType('navigation')[0].workerMatchedSourceType ?? null"
_STYLE_ROUTE = """
performance.getEntriesByType("resource").find((one) => one.name.endsWith(".css")).workerMatchedSourceType ?? null
"""
# The list is copied the next time.
_FORGET_LIST = """
async (list) => (await caches.open((await caches.keys()).find((name) => name.split(" ").length > 2))).delete(list)
"""


@dataclass
class Traveller:
    """A reader whose network can be cut."""

    reader: Reader
    network: Relay

    @property
    def page(self) -> Page:
        return self.reader.page

    def go(self, path: str) -> Page:
        self.page.goto(self.network.url + path)
        return self.page

    def kept(self) -> list[str]:
        found: list[str] = self.page.evaluate(_KEPT)
        return found

    def wait_for_copies(self, is_enough: Callable[[list[str]], bool]) -> None:
        assert eventually(lambda: is_enough(self.kept()), within_s=60), self.kept()


@pytest.fixture
def traveller(browser: Browser, service: RunningService, alice: Person) -> Iterator[Traveller]:
    with travelling(browser, service, alice) as made:
        yield made


class travelling:  # noqa: N801 - used as a function
    def __init__(self, browser: Browser, service: RunningService, person: Person, width: int = 390) -> None:
        self._network = Relay(service.url)
        self._reading = reading(browser, service, has_worker=True, viewport={"width": width, "height": 800})
        self._person = person

    def __enter__(self) -> Traveller:
        self._network.__enter__()
        reader = self._reading.__enter__()
        reader.loses_connection = True
        reader.set_session(self._person)
        return Traveller(reader, self._network)

    def __exit__(self, *raised: object) -> None:
        try:
            self._reading.__exit__(*raised)  # type: ignore[arg-type]
        finally:
            self._network.cut()


def copies_of(person: Person) -> list[str]:
    return [f"/offline/{entry['id']}" for entry in person.entries()]


def has_all(paths: list[str]) -> Callable[[list[str]], bool]:
    return lambda kept: set(paths) <= set(kept)


@pytest.mark.parametrize("width", [390, 1280])
def test_the_unread_list_and_its_articles_open_without_a_connection(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, width: int
) -> None:
    alice.has_feed(site, ["Rain", "Sun"])
    with travelling(browser, service, alice, width) as traveller:
        page = traveller.go("/unread")
        traveller.wait_for_copies(has_all(["/offline/unread", *copies_of(alice)]))
        assert [entry["status"] for entry in alice.entries()] == ["unread", "unread"]

        traveller.network.cut()
        traveller.go("/")

        expect(page.locator(".kept")).to_contain_text("Offline, saved")
        expect(page.locator(".row")).to_have_count(2)
        page.get_by_role("link", name="Rain").first.click()
        expect(page.locator("#pane h1")).to_have_text("Rain")
        expect(page.locator("#pane .content")).to_have_text("About Rain.")
        expect(page.locator("#pane .kept")).to_be_visible()
        page.wait_for_load_state()
        # The page has its styles and its script.
        assert page.evaluate("getComputedStyle(document.querySelector('.skip')).position") == "fixed"
        page.go_back()
        expect(page.locator(".row.unread")).to_have_count(1)
        page.goto(traveller.network.url + "/feeds")
        expect(page.get_by_role("heading", name="No connection")).to_be_visible()


def test_copies_wait_until_no_page_was_asked_for_in_a_second(
    traveller: Traveller, alice: Person, site: Publisher
) -> None:
    """The next page is often opened while a worker starts. Copies would take the processor from it."""
    alice.has_feed(site, ["Rain", "Sun"])
    traveller.go("/unread")
    traveller.wait_for_copies(has_all(["/offline/unread"]))

    (worker,) = traveller.reader.context.service_workers
    assert worker.evaluate(_FIRST_COPY_MS) >= 1_000


def test_keys_and_gestures_work_without_a_connection(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    """Their scripts are loaded when they are used for the first time, which is now."""
    alice.has_feed(site, ["Rain", "Sun"])
    with travelling(browser, service, alice) as traveller:
        page = traveller.go("/unread")
        traveller.wait_for_copies(has_all(["/offline/unread", *copies_of(alice)]))
        kept = {path.rpartition("/")[2] for path in traveller.kept() if path.endswith(".js")}
        assert kept == {"reading.js", *(name.removeprefix("js/") for name in Assets().parts)}
        traveller.network.cut()
        traveller.go("/unread")

        traveller.reader.press("j")
        expect(page.locator(".row-title a").first).to_be_focused()
        traveller.reader.press("m")
        expect(page.locator(".row.unread")).to_have_count(1)
        page.keyboard.press("Enter")
        expect(page.locator("#pane h1")).to_be_visible()
        # The title of the page is there before its script.
        page.wait_for_load_state()
        traveller.reader.press("f")
        expect(page.locator(".bottom button[name=unstar]")).to_be_visible()


def test_what_was_read_and_starred_without_a_connection_is_sent_later(
    traveller: Traveller, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain", "Sun"])
    page = traveller.go("/unread")
    traveller.wait_for_copies(has_all(copies_of(alice)))
    traveller.network.cut()
    traveller.go("/unread")

    page.get_by_role("link", name="Rain").first.click()
    expect(page.locator("#pane h1")).to_have_text("Rain")
    # The title of the page is there before its script.
    page.wait_for_load_state()
    page.locator(".bottom button[name=star]").click()
    expect(page.locator(".bottom button[name=unstar]")).to_be_visible()
    # It is kept when the browser has not been able to send it.
    traveller.reader.wait_for_text("No connection: your changes are sent when it is back.")
    traveller.go("/unread")
    expect(page.locator(".row.unread")).to_have_count(1)
    expect(page.locator(".row.starred")).to_have_count(1)

    page.locator(".row.unread .row-title a").focus()
    traveller.reader.press("f")
    traveller.reader.wait_for_text("No connection: your changes are sent when it is back.")

    traveller.network.mend()
    page.evaluate("dispatchEvent(new Event('online'))")
    expect(page.locator("#notice")).to_be_empty()
    assert eventually(lambda: [one["title"] for one in alice.entries(starred="true", status="read")] == ["Rain"], 60)
    assert eventually(lambda: len(alice.entries(starred="true")) == 2, 60)
    assert [one["title"] for one in alice.entries(status="unread")] == ["Sun"]


def test_a_page_is_asked_for_once_and_does_not_wait_for_the_worker(
    traveller: Traveller, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain"])
    page = traveller.go("/unread")
    traveller.wait_for_copies(has_all(copies_of(alice)))
    path = f"/unread/{alice.entries()[0]['id']}"
    # The worker has to have the page before it hears of an article.
    page.reload()
    page.evaluate(_FORGET_LIST, f"{traveller.network.url}/offline/unread")

    traveller.go(path)

    # Nothing in browsers without routes.
    assert page.evaluate(_ROUTE) in ("race-network-and-fetch-handler", None)
    # The worker has heard of it, too, when it has asked for its list.
    traveller.wait_for_copies(has_all(["/offline/unread"]))
    assert traveller.network.requests.count(f"GET {path}") == 1


def test_styles_of_a_page_do_not_wait_for_the_worker_and_those_of_copies_are_kept(
    traveller: Traveller, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain"])
    page = traveller.go("/unread")
    traveller.wait_for_copies(has_all(copies_of(alice)))
    page.reload()
    # Nothing in browsers without routes.
    assert page.evaluate(_STYLE_ROUTE) in ("network", None)

    traveller.network.cut()
    page.context.new_cdp_session(page).send("Network.clearBrowserCache")

    # A copy, and the page in place of what is not kept.
    for path, text in (("/unread", "Offline, saved"), ("/feeds", "No connection")):
        traveller.go(path)
        expect(page.locator("main")).to_contain_text(text)
        page.wait_for_load_state()
        assert page.evaluate("document.styleSheets[0].cssRules.length")


def test_copies_wait_for_pages_that_readers_wait_for(traveller: Traveller, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    page = traveller.go("/unread")
    traveller.wait_for_copies(has_all(copies_of(alice)))
    (worker,) = traveller.reader.context.service_workers
    path = f"/unread/{alice.entries()[0]['id']}"
    # The worker has to have the page before it hears of an article. In its clock no time passes.
    page.reload()
    worker.evaluate("performance.now = () => 1")
    page.evaluate(_FORGET_LIST, f"{traveller.network.url}/offline/unread")
    traveller.network.requests.clear()

    traveller.go(path)
    page.evaluate("navigator.serviceWorker.ready.then(({active}) => active.postMessage(''))")
    traveller.go("/starred")

    assert not [one for one in traveller.network.requests if "/offline/" in one]
    worker.evaluate("delete performance.now")
    traveller.wait_for_copies(has_all(["/offline/unread"]))


def test_an_article_that_was_opened_stays_readable_from_any_list(
    traveller: Traveller, alice: Person, site: Publisher
) -> None:
    feed = alice.has_feed(site, ["Rain"])
    entry = alice.entries()[0]["id"]
    page = traveller.go("/unread")
    traveller.wait_for_copies(has_all(["/offline/unread"]))
    page.reload()
    traveller.go(f"/feeds/{feed['id']}/entries/{entry}")
    traveller.wait_for_copies(has_all([f"/offline/{entry}"]))
    traveller.network.cut()

    for path in (f"/feeds/{feed['id']}/entries/{entry}", f"/history/{entry}", f"/search/{entry}?query=rain"):
        traveller.go(path)
        expect(page.locator("#pane h1")).to_have_text("Rain")


def test_starred_entries_and_lists_that_were_opened_are_there_without_a_connection(
    traveller: Traveller, alice: Person, site: Publisher
) -> None:
    feed = alice.has_feed(site, ["Rain", "Sun"])
    alice.put(f"/v1/entries/{alice.entries(search='Sun')[0]['id']}/bookmark", status=204)
    alice.put("/v1/entries", {"entry_ids": [one["id"] for one in alice.entries()], "status": "read"}, status=204)
    page = traveller.go("/unread")
    traveller.wait_for_copies(has_all(["/offline/starred"]))
    # The worker has to have the page before it hears of a list.
    page.reload()
    traveller.go(f"/feeds/{feed['id']}")
    traveller.wait_for_copies(has_all([f"/offline/feeds/{feed['id']}", *copies_of(alice)[:1]]))
    traveller.network.cut()

    traveller.go("/starred")
    expect(page.locator(".kept")).to_contain_text("Offline, saved")
    expect(page.locator(".row-title")).to_have_text(["Sun"])
    page.get_by_role("link", name="Sun").first.click()
    expect(page.locator("#pane h1")).to_have_text("Sun")
    # Those that are read, too: nobody can ask for them now.
    traveller.go(f"/feeds/{feed['id']}")
    expect(page.locator(".row")).to_have_count(2)


def test_a_feed_that_was_not_opened_shows_what_the_unread_list_has_of_it(
    traveller: Traveller, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain", "Sun"])
    other = alice.has_feed(site, ["Snow"])
    page = traveller.go("/unread")
    traveller.wait_for_copies(has_all(["/offline/unread", *copies_of(alice)]))
    traveller.network.cut()

    traveller.go(f"/feeds/{other['id']}")

    expect(page.locator(".row-title")).to_have_text(["Snow"])
    expect(page.locator(f"#sidebar [aria-current=page][href='/feeds/{other['id']}']")).to_have_count(1)
    page.get_by_role("link", name="Snow").first.click()
    expect(page.locator("#pane h1")).to_have_text("Snow")


def test_only_the_lists_that_were_opened_last_are_kept(traveller: Traveller, alice: Person, site: Publisher) -> None:
    feeds = [alice.has_feed(site, [f"Entry {number}"])["id"] for number in range(22)]
    page = traveller.go("/unread")
    traveller.wait_for_copies(has_all(["/offline/unread"]))
    page.reload()
    for feed in feeds:
        page.evaluate("path => fetch(path, { headers: { 'Tidings-Part': '1' } })", f"/feeds/{feed}")
        traveller.wait_for_copies(has_all([f"/offline/feeds/{feed}"]))
    page.evaluate(_FORGET_LIST, f"{traveller.network.url}/offline/unread")
    traveller.go("/starred")

    traveller.wait_for_copies(
        lambda kept: (
            [one for one in kept if one.startswith("/offline/feeds/")]
            == [f"/offline/feeds/{feed}" for feed in feeds[2:]]
        )
    )


def test_pictures_are_kept_with_their_article_within_a_limit(
    browser: Browser, databases: Databases, site: Publisher, tmp_path_factory: pytest.TempPathFactory
) -> None:
    small = site.serve("/small.png", PICTURE)
    large = site.serve("/large.png", PICTURE)
    # The browser would choose the other file, which is not kept.
    content = escape(f'<p>Drops</p><img src="{small}" srcset="{large} 1000w" sizes="100vw" alt="Drops">')
    item = f"<item><title>Rain</title><guid>1</guid><description>{content}</description></item>"
    site.serve("/pictures.xml", f'<rss version="2.0"><channel><title>Pictures</title>{item}</channel></rss>')
    folder = tmp_path_factory.mktemp("pictures")
    with databases.migrated() as url, running_service(url, folder, media_proxy_mode="http-only") as service:
        person = Cast(service).person("dora")
        person.post("/v1/feeds", {"feed_url": site.url("/pictures.xml")})
        with travelling(browser, service, person) as traveller:
            page = traveller.go("/unread")
            traveller.wait_for_copies(lambda kept: any(one.startswith("/proxy/") for one in kept))
            traveller.network.cut()

            traveller.go("/unread")
            page.get_by_role("link", name="Rain").first.click()
            picture = page.locator(".content img")
            expect(picture).to_be_visible()
            page.wait_for_function("() => document.querySelector('.content img').complete")
            assert picture.evaluate("one => one.naturalWidth") == 192


def test_nothing_stays_after_signing_out(traveller: Traveller, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    page = traveller.go("/unread")
    traveller.wait_for_copies(has_all(copies_of(alice)))

    page.locator(".bottom").get_by_role("button", name="More").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in")

    traveller.wait_for_copies(lambda kept: kept == [])
    traveller.network.cut()
    traveller.go("/unread")
    expect(page.get_by_role("heading", name="No connection")).to_be_visible()
    assert "Rain" not in page.content()


def test_nothing_stays_when_the_session_has_ended_elsewhere(
    traveller: Traveller, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain"])
    traveller.go("/unread")
    traveller.wait_for_copies(has_all(copies_of(alice)))

    traveller.reader.context.clear_cookies()
    traveller.go("/unread")

    assert urlsplit(traveller.page.url).path == "/sign-in"
    traveller.wait_for_copies(lambda kept: kept == [])


def test_another_account_sees_nothing_of_the_one_before(
    traveller: Traveller, alice: Person, bob: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain"])
    bob.has_feed(site, ["Sun"])
    page = traveller.go("/unread")
    traveller.wait_for_copies(has_all(copies_of(alice)))

    traveller.reader.set_session(bob)
    traveller.go("/unread")

    traveller.wait_for_copies(lambda kept: has_all(copies_of(bob))(kept) and copies_of(alice)[0] not in kept)
    traveller.network.cut()
    traveller.go("/unread")
    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator(".row")).to_contain_text("Sun")
    traveller.go(f"/unread/{alice.entries()[0]['id']}")
    expect(page.get_by_role("heading", name="No connection")).to_be_visible()


def test_nothing_is_kept_on_a_shared_device_or_when_it_is_switched_off(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain"])
    with travelling(browser, service, alice) as traveller:
        page = traveller.go("/view")
        traveller.wait_for_copies(has_all(copies_of(alice)))
        page.locator("[name=offline][value=none]").locator("..").click()
        page.get_by_role("button", name="Apply").click()
        traveller.reader.wait_for_text("Saved for this device.")
        traveller.wait_for_copies(lambda kept: kept == [])

        traveller.reader.context.clear_cookies()
        traveller.go("/sign-in")
        page.get_by_label("Username").fill(alice.user.username)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_label("This is a shared device").check()
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url("**/unread")
        cookies = {one["name"]: one["expires"] for one in traveller.reader.context.cookies()}
        assert cookies["tidings_session"] == -1
        # The worker has asked for the list, and was refused.
        page.evaluate("navigator.serviceWorker.ready.then(({active}) => active.postMessage(''))")
        with page.expect_response("**/counts"):
            page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
        assert traveller.kept() == []


def test_articles_beyond_the_limit_are_dropped(traveller: Traveller, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, [f"Entry {number}" for number in range(130)])
    traveller.go("/unread")

    def count(kept: list[str]) -> int:
        return sum(one.rpartition("/")[2].isdecimal() for one in kept if one.startswith("/offline/"))

    traveller.wait_for_copies(lambda kept: count(kept) == 100)
    # What is opened comes in, and something else goes when the list is copied the next time.
    last = alice.entries(limit=1, direction="asc")[0]["id"]
    traveller.go(f"/history/{last}")
    traveller.wait_for_copies(has_all([f"/offline/{last}"]))
    traveller.page.evaluate(_FORGET_LIST, f"{traveller.network.url}/offline/unread")
    traveller.go("/starred")
    traveller.wait_for_copies(
        lambda kept: count(kept) == 100 and has_all(["/offline/unread", f"/offline/{last}"])(kept)
    )


@pytest.mark.parametrize("has_worker", [True, False])
def test_a_full_disk_does_no_harm(traveller: Traveller, alice: Person, site: Publisher, *, has_worker: bool) -> None:
    alice.has_feed(site, ["Rain"])
    # Without scripts, which would register the worker.
    page = traveller.go("/robots.txt")
    if has_worker:
        traveller.go("/unread")
        traveller.wait_for_copies(has_all(copies_of(alice)))
        page.evaluate("caches.keys().then((names) => Promise.all(names.map((name) => caches.delete(name))))")
    quota = {"origin": traveller.network.url, "quotaSize": 1}
    page.context.new_cdp_session(page).send("Storage.overrideQuotaForOrigin", quota)
    page.wait_for_function("() => navigator.storage.estimate().then(({ quota }) => quota <= 1)")

    traveller.go("/starred")
    traveller.go("/unread")
    page.get_by_role("link", name="Rain").first.click()

    expect(page.locator("#pane h1")).to_have_text("Rain")
    assert eventually(lambda: alice.entries()[0]["status"] == "read", within_s=60)
    assert traveller.kept() == []


def test_a_copy_opened_by_its_own_address_leads_to_the_page(
    traveller: Traveller, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain"])
    entry = alice.entries()[0]["id"]

    assert urlsplit(traveller.go(f"/offline/{entry}").url).path == f"/unread/{entry}"
    assert urlsplit(traveller.go("/offline/unread").url).path == "/unread"
