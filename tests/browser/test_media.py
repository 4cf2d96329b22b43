"""Pictures of articles in Chromium, through the media proxy."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import pytest
from playwright.sync_api import Browser, expect

from browser.readers import TIMEOUT_MS, reading
from support.databases import Databases
from support.people import Cast, Person
from support.publisher import Publisher
from support.running import RunningService, running_service
from tidings.domain.icons import app_icon

expect.set_options(timeout=TIMEOUT_MS)

PNG = app_icon.render_app_icon(192)


@pytest.fixture(scope="module")
def proxying(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder = tmp_path_factory.mktemp("proxying")
    with databases.migrated() as url, running_service(url, folder, media_proxy_mode="all") as running:
        yield running


def subscribe(person: Person, site: Publisher, content: str) -> int:
    """Returns the id of an entry with the content."""
    item = f"<item><title>Rain</title><guid>1</guid><description>{escape(content)}</description></item>"
    site.serve("/pictures.xml", f'<rss version="2.0"><channel><title>Pictures</title>{item}</channel></rss>')
    person.post("/v1/feeds", {"feed_url": site.url("/pictures.xml")})
    return int(person.entries()[0]["id"])


@pytest.mark.parametrize("width", [1280, 390])
def test_an_article_is_read_without_a_request_to_its_publisher(
    browser: Browser, proxying: RunningService, site: Publisher, width: int
) -> None:
    person = Cast(proxying).person("dora")
    good, broken = site.serve("/rain.png", PNG), site.serve("/page.png", "<html>Sign in</html>")
    content = f'<p>Before</p><img src="{good}" alt="Drops"><p><img src="{broken}" width="1200" height="800"> after</p>'
    entry = subscribe(person, site, content)
    site.forget_requests()

    # Requests to other hosts are complaints, which end the test.
    with reading(browser, proxying, viewport={"width": width, "height": 800}) as made:
        made.set_session(person)
        page = made.go(f"/entries/{entry}")
        pictures = page.locator(".content img")
        expect(pictures).to_have_count(2)
        page.wait_for_function("() => [...document.querySelectorAll('.content img')].every(one => one.complete)")
        assert pictures.first.evaluate("one => one.naturalWidth") == 192
        # A small placeholder in the place of the other, also when the page comes back.
        for _ in range(2):
            expect(pictures.last).to_have_class("missing")
            box = pictures.last.bounding_box()
            assert box
            assert (box["width"], box["height"]) == (160, 100)
            page.reload()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        made.complaints = [one for one in made.complaints if "404" not in one]
        page.goto(str(page.locator(".zoom").last.evaluate("link => link.href")))
        expect(page.get_by_role("link", name="Open at the publisher")).to_have_attribute("href", broken)
        made.complaints = [one for one in made.complaints if "404" not in one]

    assert {seen.headers["user-agent"] for seen in site.requests} == {site.requests[0].headers["user-agent"]}
    assert "Mozilla" not in site.requests[0].headers["user-agent"]


@pytest.mark.parametrize("width", [1280, 390])
def test_pictures_are_enlarged_and_broken_ones_leave_no_hole(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, width: int
) -> None:
    good, broken = site.serve("/rain.png", PNG), site.serve("/page.png", "<html>")
    content = (
        f'<p><img src="{good}" alt="Drops"></p><p><img src="{broken}" alt="A cloud" width="900" height="600"></p>'
        f'<p><img src="{broken}?2"></p><p>Sun <a href="https://example.org/"><img src="{broken}?3"> and moon</a></p>'
    )
    entry = subscribe(alice, site, content)

    with reading(browser, service, viewport={"width": width, "height": 800}) as made:
        made.set_session(alice)
        page = made.go(f"/entries/{entry}")
        expect(page.locator(".content img")).to_have_count(1)
        expect(page.get_by_role("link", name="A cloud", exact=True)).to_have_attribute("href", broken)
        expect(page.get_by_role("link", name="Picture", exact=True)).to_have_attribute("href", f"{broken}?2")
        expect(page.get_by_role("link", name="and moon")).to_have_count(1)

        for is_key in (True, False):
            page.get_by_role("link", name="Drops").click()
            expect(page.get_by_role("dialog", name="Drops")).to_be_visible()
            if is_key:
                page.keyboard.press("Escape")
            else:
                page.locator("dialog.picture").click()
            expect(page.locator("dialog.picture")).to_have_count(0)
            assert page.url.endswith(f"/entries/{entry}")
        made.complaints = [one for one in made.complaints if not one.startswith(("asked for", "console:"))]
