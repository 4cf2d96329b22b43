"""Every page as axe sees it, wide and on a phone, light and dark. None is wider than its window."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize

from browser.page_checks import findings, sticking_out
from demo.demo_service import DemoService, demo_service
from demo.screenshots import invitation, sign_in
from support.databases import Databases, PostgresDatabases
from support.people import rss
from tidings.http.endpoints import Endpoint
from tidings.storage.entries import labels
from tidings.wiring.routes import PAGE_ROUTES

pytestmark = pytest.mark.slow

# URLs that are no pages: files, feeds, and what leads on to a page.
_NO_PAGES: Final = re.compile(r"/events$|/icons/|/export|/live|/lists/|/body$|/options$|\.\w+$")
_API: Final = "/docs/api"
_CODE: Final = "Four thousand lines, replaced by a table"
_EPISODE: Final = "Episode 84: The woman who repairs pianos"
_PHONE: Final[ViewportSize] = {"width": 390, "height": 844}
_WIDE: Final[ViewportSize] = {"width": 1280, "height": 800}
# One page of so many, where not all are looked at; others than axe sees are measured.
_SHARE: Final = 12
_SHARE_OF_WIDTHS: Final = 3
_LONG: Final = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 3
# All that does not break by itself, as publishers send it.
_WIDE_CONTENT: Final = f"""
<p>{_LONG} <a href="https://example.org/{"path/" * 60}">https://example.org/{"path/" * 60}</a> <code>{_LONG}</code></p>
<pre>{"a line service code that goes on and on " * 12}</pre><table><tr>{"<td>a cell</td>" * 40}</tr></table>
<p dir="rtl">نص عربي</p><ul dir="rtl"><li>واحد</li></ul><blockquote><ol><li><pre>{_LONG}</pre></li></ol></blockquote>
<img src="https://127.0.0.1/wide.png" width="4000" height="300"><dl><dt>{_LONG}</dt><dd>{_LONG}</dd></dl>
<iframe src="https://www.youtube.com/embed/x" width="1200" height="700"></iframe>
"""
# Leaves one operation and one type of each shape in the reference of the API, which repeats a few shapes hundreds of
# times: an operation goes when longer ones have all of its parts, each at the same place.
_LEAVE_EACH_SHAPE: Final = """
() => {
    const seen = new Set();
    const place = (one, top) => (one === top ? "" : place(one.parentElement, top) + " ") + one.tagName + one.className;
    const articles = [...document.querySelectorAll("article")];
    articles.sort((one, other) => other.textContent.length - one.textContent.length);
    for (const article of articles) {
        const places = [...article.querySelectorAll("*")].map(one => place(one, article));
        if (places.every(one => seen.has(one))) article.remove();
        places.forEach(one => seen.add(one));
    }
    return [articles.length, document.querySelectorAll("article").length];
}
"""
# The narrowest window of each layout; the first is what WCAG 2.2 (1.4.10) asks for: 1,280 px, magnified four times.
_WIDTHS: Final = (320, 700, 1100)


@pytest.fixture(scope="module")
def demo(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoService]:
    """On SQLite; with --long on both engines."""
    folder = tmp_path_factory.mktemp("demo")
    with databases.migrated() as url, demo_service(url, folder) as created:
        _add_unusual_content(created)
        yield created


def _add_unusual_content(service: DemoService) -> None:
    """An entry that keeps to no bounds."""
    entry = service.entry("The pencil and the tide machine")
    wide_entry = {
        "url": service.publisher.url("/unruly"),
        "title": f"{_LONG} {_LONG}",
        "content": _WIDE_CONTENT,
        "author": _LONG,
    }
    feed = service.owner.get(f"/v1/entries/{entry}")["feed"]["id"]
    service.owner.post(
        f"/v1/feeds/{feed}/entries/import", wide_entry | {"tags": [_LONG, *map(str, range(60))]}, status=201
    )


@pytest.fixture(scope="module")
def pages(demo: DemoService) -> dict[str, str]:
    """Every page that can be asked for, by its route; URLs with the ids of things that are there."""
    known = ids_of(demo)
    found = {route.path: address(route, known) for route in PAGE_ROUTES if route.method == "GET"}
    return {path: url for path, url in found.items() if url}


def ids_of(service: DemoService) -> dict[str, object]:
    """What may stand in a path, by its name there; for some, by the path above it."""
    entry = service.entry("The pencil and the tide machine")
    feed = service.owner.get(f"/v1/entries/{entry}")["feed"]
    files = {
        one["mime_type"]: one["id"] for one in service.owner.get(f"/v1/entries/{service.entry(_EPISODE)}")["enclosures"]
    }
    with service.service.services.reading() as db:
        label = labels.list_all(db, service.owner.id)[0]
    return {
        "entry_id": entry,
        "/starred": service.entry("Margins, measured"),
        "/history": service.owner.entries(status="read", limit=1)[0]["id"],
        "enclosure_id": files["application/json+chapters"],
        "/transcript": files["text/vtt"],
        "feed_id": feed["id"],
        "label_id": label.id,
        "rule_id": service.owner.get("/v1/rules")[0]["id"],
        "view_id": service.owner.get("/v1/views")[0]["id"],
        "webhook_id": a_webhook(service, feed),
        "category_id": feed["category"]["id"],
        "user_id": service.owner.id,
        "integration": "webhook",
        "app": "reeder",
        "delivery_id": service.owner.get("/v1/webhooks/deliveries")["deliveries"][0]["id"],
        "code": service.service.services.entries.public_links.create(service.owner.id, entry),
        "token": invitation(service),
        "/sign-in/link": service.service.services.sign_in.links.make_sign_in(service.owner.user.username),
    }


def a_webhook(service: DemoService, feed: Mapping[str, Any]) -> int:
    """Add one that is limited to a feed and a category with long names."""
    places = {"feed_ids": [feed["id"]], "category_ids": [feed["category"]["id"]]}
    return int(
        service.owner.post("/v1/webhooks", {"name": _LONG[:100], "url": f"https://hooks.example/{_LONG}", **places})[
            "id"
        ]
    )


def address(route: Endpoint, known: Mapping[str, object]) -> str:
    """ "" for what the demo does not have."""
    names = re.findall(r"\{(\w+)\}", route.path)
    if _NO_PAGES.search(route.path) or not set(names) <= set(known):
        return ""
    special = {
        "entry_id": known.get(route.path.rpartition("/")[0], known["entry_id"]),
        "token": known.get(route.path.rpartition("/")[0], known["token"]),
        "enclosure_id": known["/transcript" if "transcript" in route.path else "enclosure_id"],
    }
    return re.sub(r"\{(\w+)\}", lambda match: str({**known, **special}[match[1]]), route.path)


def signed_in(browser: Browser, service: DemoService, **settings: Any) -> BrowserContext:
    context = browser.new_context(reduced_motion="reduce", **settings)
    context.set_default_timeout(60_000)
    sign_in(context.new_page(), service)
    return context


def collect_findings(
    context: BrowserContext,
    service: DemoService,
    pages: dict[str, str],
    *,
    is_whole: bool,
    clicks: Mapping[str, Callable[[Page, DemoService], None]] | None = None,
) -> dict[str, list[str]]:
    """Return what axe finds, by page.

    is_whole: whether pages are looked at in the dark, too, and the reference of the API with all operations. clicks:
    what leads to pages without an address; None for all of it.
    """
    page = context.pages[0]
    found = {}
    for path, url in pages.items():
        answer = page.goto(service.service.url + url)
        assert answer is not None
        assert answer.status == 200, f"{url}: {answer.status}\n{service.service.log[-2000:]}"
        if answer.headers["content-type"].startswith("text/html"):
            if url == _API and not is_whole:
                _leave_each_shape(page)
            found[path] = findings(page, in_the_dark=is_whole)
    for name, show in (_AFTER_A_CLICK if clicks is None else clicks).items():
        show(page, service)
        found[name] = findings(page, in_the_dark=is_whole)
    return {path: one for path, one in found.items() if one}


def _leave_each_shape(page: Page) -> None:
    before, after = page.evaluate(_LEAVE_EACH_SHAPE)
    assert 3 < after < before / 3


def _find_feeds(page: Page, service: DemoService) -> None:
    feeds = "".join(
        f'<link rel="alternate" type="application/rss+xml" title="{name}" href="{service.publisher.url(path)}">'
        for name, path in (("Articles", "/small-web/feed.xml"), ("Comments", "/comments.xml"))
    )
    service.publisher.serve("/comments.xml", rss(["A comment"], service.publisher.url("/comments.xml")))
    page.goto(f"{service.service.url}/feeds/add")
    page.fill("main [name=url]", service.publisher.serve("/two-feeds", f"<!doctype html><title>Two</title>{feeds}"))
    _submit(page, "Find feeds")


def _find_nothing(page: Page, service: DemoService) -> None:
    page.goto(f"{service.service.url}/feeds/add")
    page.fill("main [name=url]", service.publisher.url("/not-there"))
    _submit(page, "Find feeds")


def _preview_rules(page: Page, service: DemoService) -> None:
    page.goto(f"{service.service.url}/feeds/{service.feed('Night Sky Weekly')}/edit")
    for summary in page.locator("form.groups summary").all():
        summary.click()
    page.fill("#block-value-1", "saturn")
    _submit(page, "Try the rules")


def _refuse_a_password(page: Page, service: DemoService) -> None:
    page.goto(f"{service.service.url}/settings/security")
    page.fill("[name=password]", "short")
    _submit(page, "Change password")


def _refuse_a_query(page: Page, service: DemoService) -> None:
    page.goto(f"{service.service.url}/search?query=rain+is:new+(snow")
    page.get_by_text("expected one of").wait_for()


def _create_a_key(page: Page, service: DemoService) -> None:
    page.goto(f"{service.service.url}/settings/api-keys")
    page.fill("[name=description]", f"Phone {time.monotonic_ns()}")
    _submit(page, "Create key")


def _confirm_deleting_a_feed(page: Page, service: DemoService) -> None:
    page.goto(f"{service.service.url}/feeds/{service.feed('Night Sky Weekly')}/edit")
    _submit(page, "Delete …")


def _open_a_menu(page: Page, service: DemoService) -> None:
    page.goto(f"{service.service.url}/unread/{service.entry(_EPISODE)}")
    page.locator(".tools [popovertarget]").last.click()
    page.locator(".popup:popover-open").wait_for()


def _submit(page: Page, name: str) -> None:
    with page.expect_navigation():
        page.get_by_role("button", name=name).click()


# What has no address of its own.
_AFTER_A_CLICK: Final[dict[str, Callable[[Page, DemoService], None]]] = {
    "feeds of a site": _find_feeds,
    "a site without feeds": _find_nothing,
    "a preview of rules": _preview_rules,
    "a refused password": _refuse_a_password,
    "a query that cannot be read": _refuse_a_query,
    "a new key": _create_a_key,
    "deleting a feed": _confirm_deleting_a_feed,
    "the menu of an entry": _open_a_menu,
}


@pytest.mark.parametrize("screen", [pytest.param(_WIDE, marks=pytest.mark.long), _PHONE], ids=["wide", "phone"])
def test_axe_finds_nothing_on_any_page(
    browser: Browser, demo: DemoService, pages: dict[str, str], screen: ViewportSize, pytestconfig: pytest.Config
) -> None:
    """A twelfth of the pages, in the light, and each shape of the reference; with --long all, in the dark, too."""
    everything = pytestconfig.getoption("--long")
    others = {"an article of code": f"/unread/{demo.entry(_CODE)}", "results": "/search?query=a+page"}
    assert len(pages) > 60
    if not everything:
        pages = dict(list(pages.items())[::_SHARE])
    context = signed_in(browser, demo, viewport=screen)
    assert collect_findings(context, demo, pages | others | {"the API": _API}, is_whole=everything) == {}
    context.close()


def test_axe_finds_nothing_on_pages_with_much_data_on_postgresql(
    browser: Browser, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """A few pages on a phone, in the light; with --long all are looked at on both engines."""
    option = request.config.getoption
    if any(map(option, ("--long", "--without-postgresql", "--fast"))):
        pytest.skip("the other tests have it, or PostgreSQL is left out")
    server = PostgresDatabases(request.getfixturevalue("postgres_url"))
    with server.migrated() as url, demo_service(url, tmp_path) as demo:
        pages = ("/unread", f"/unread/{demo.entry(_EPISODE)}", "/search?query=a+page", "/feeds", "/statistics")
        context = signed_in(browser, demo, viewport=_PHONE)
        assert collect_findings(context, demo, dict(zip(pages, pages, strict=True)), is_whole=False, clicks={}) == {}
        context.close()
    server.close()


def test_no_page_is_wider_than_the_screen(
    browser: Browser, demo: DemoService, pages: dict[str, str], pytestconfig: pytest.Config
) -> None:
    """A phone, a tablet, or magnified; whatever a publisher sends. A third of the pages; with --long all of them."""
    if not pytestconfig.getoption("--long"):
        pages = dict(list(pages.items())[1::_SHARE_OF_WIDTHS])
    context = signed_in(browser, demo, viewport={"width": _WIDTHS[0], "height": 700})
    page = context.pages[0]
    wide_entry = demo.owner.entries(search=_LONG, limit=1)[0]["id"]
    found = {}
    for url in [*pages.values(), f"/unread/{wide_entry}", "/unread", "/nowhere", "/search?query=nothing+like+it"]:
        answer = page.goto(demo.service.url + url, wait_until="domcontentloaded")
        assert answer is not None
        assert answer.status == (404 if url == "/nowhere" else 200), url
        if not answer.headers["content-type"].startswith("text/html"):
            continue
        for width in _WIDTHS:
            page.set_viewport_size({"width": width, "height": 700})
            found[url, width] = sticking_out(page)
    context.close()
    assert {where: wait_for_text for where, wait_for_text in found.items() if wait_for_text} == {}


def test_only_the_article_is_printed(browser: Browser, demo: DemoService) -> None:
    context = signed_in(browser, demo, viewport={"width": 1280, "height": 800}, color_scheme="dark")
    page = context.pages[0]
    page.goto(f"{demo.service.url}/unread/{demo.entry('The pencil and the tide machine')}")
    page.emulate_media(media="print")

    for unwanted in ("#sidebar", "#column", ".tools", ".neighbours"):
        assert not page.locator(unwanted).first.is_visible(), unwanted
    assert page.locator(".content").is_visible()
    colours = "getComputedStyle(document.documentElement).backgroundColor"
    assert page.evaluate(colours) == "rgb(255, 255, 255)"
    context.close()


@pytest.mark.parametrize("screen", [pytest.param(_WIDE, marks=pytest.mark.long), _PHONE], ids=["wide", "phone"])
def test_axe_finds_nothing_on_pages_without_a_session(
    browser: Browser, demo: DemoService, pages: dict[str, str], screen: ViewportSize, pytestconfig: pytest.Config
) -> None:
    """All of them, on a phone, in the light; with --long wide and in the dark, too."""
    everything = pytestconfig.getoption("--long")
    context = browser.new_context(reduced_motion="reduce", viewport=screen)
    page = context.new_page()
    known = [pages[path] for path in ("/share/{code}", "/invitation/{token}", "/sign-in/link/{token}")]
    for path in ("/sign-in", "/sign-in/passkey", "/oauth2/oidc/redirect", "/about", "/nowhere", "/offline", *known):
        page.goto(demo.service.url + path)
        assert findings(page, in_the_dark=everything) == []
    context.close()
