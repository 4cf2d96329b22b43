"""Every page as axe sees it, in a furnished house: with every rule, and then in the dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, Page

from demo.house import House, house
from demo.screenshots import sign_in
from support.databases import SqliteDatabases
from tidings.web import ROUTES
from tidings.web.routes import Route

# What these rules ask for is law in many places (WCAG 2.2 AA), or good practice that costs nothing.
_RULES: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# What is well is not described, and our style sheets are not asked for again.
_QUICK: Final = {"resultTypes": ["violations"], "preload": False}
_RUN: Final = """
options => axe.run(document, options).then(found => found.violations.flatMap(one =>
    one.nodes.map(node => [`${one.id} (${one.impact}): ${node.target.join(" ")}`, node.html.slice(0, 160),
        ...node.any.map(check => check.message)].join(" "))))
"""
# Addresses that are no pages: files, and what leads on to a page.
_NO_PAGES: Final = re.compile(r"/icons/|/export|/live|/body$|\.\w+$")


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("house")
    with SqliteDatabases(folder).migrated() as url, house(url, folder) as made:
        yield made


@pytest.fixture(scope="module")
def pages(furnished: House) -> dict[str, str]:
    """Every page that can be asked for, by its route; addresses with the ids of things that are there."""
    found = {route.path: address(route, furnished) for route in ROUTES if route.method == "GET"}
    return {path: url for path, url in found.items() if url}


def address(route: Route, of: House) -> str:
    """ "" for what a furnished house does not have."""
    entry = of.entry("The pencil and the tide machine")
    starred, read = of.entry("Margins, measured"), of.owner.entries(status="read", limit=1)[0]["id"]
    feed = of.owner.get(f"/v1/entries/{entry}")["feed"]
    known = {
        "entry_id": {"/starred": starred, "/history": read}.get(route.path.rpartition("/")[0], entry),
        "feed_id": feed["id"],
        "category_id": feed["category"]["id"],
        "user_id": of.owner.id,
        "integration": "webhook",
    }
    names = re.findall(r"\{(\w+)\}", route.path)
    if _NO_PAGES.search(route.path) or not set(names) <= set(known):
        return ""
    return re.sub(r"\{(\w+)\}", lambda found: str(known[found[1]]), route.path)


def findings(page: Page) -> list[str]:
    page.evaluate(AXE_SCRIPT)
    found: list[str] = page.evaluate(_RUN, _QUICK | {"runOnly": _RULES})
    # Other themes have the same rules and other colours, which test_contrast.py compares; here, what stands on what.
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    dark: list[str] = page.evaluate(_RUN, _QUICK | {"runOnly": ["color-contrast"]})
    return found + [f"dark: {one}" for one in dark]


def signed_in(browser: Browser, of: House, **settings: Any) -> BrowserContext:
    context = browser.new_context(reduced_motion="reduce", **settings)
    context.set_default_timeout(60_000)
    sign_in(context.new_page(), of)
    return context


def look(context: BrowserContext, of: House, pages: dict[str, str]) -> dict[str, list[str]]:
    page = context.pages[0]
    found = {}
    for path, url in pages.items():
        answer = page.goto(of.service.url + url)
        assert answer is not None
        assert answer.status == 200, f"{url}: {answer.status}\n{of.service.log[-2000:]}"
        if answer.headers["content-type"].startswith("text/html"):
            found[path] = findings(page)
    return {path: told for path, told in found.items() if told}


def test_axe_finds_nothing_on_any_page(browser: Browser, furnished: House, pages: dict[str, str]) -> None:
    assert len(pages) > 20
    context = signed_in(browser, furnished)
    assert look(context, furnished, pages) == {}
    context.close()


def test_axe_finds_nothing_on_a_phone(browser: Browser, furnished: House, pages: dict[str, str]) -> None:
    """Where other things are shown than on a wide screen."""
    some = {path: url for path, url in pages.items() if path in ("/unread", "/unread/{entry_id}", "/feeds", "/search")}
    context = signed_in(browser, furnished, viewport={"width": 390, "height": 844})
    assert look(context, furnished, some) == {}
    context.close()


def test_axe_finds_nothing_where_nobody_is_signed_in(browser: Browser, furnished: House) -> None:
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    for path in ("/sign-in", "/about", "/nowhere"):
        page.goto(furnished.service.url + path)
        assert findings(page) == []
    context.close()
