"""What hostile publishers send, all the way from their feed to the page of an entry: nothing of theirs runs there.

Every payload is in the text, in titles, names and tags. Two things stand in its way: the cleaning when it was stored,
and the policy of the page. `test_hostile.py` tries the first of them alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Dialog, Page, Route

from browser.readers import Reader, reading, wait_until
from browser.test_hostile import HARMFUL, known_player
from scoring import hostile
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow

_BATCH = 60


def bodies() -> Iterator[str]:
    yield "<hr>".join(HARMFUL.values())
    payloads = hostile.payloads() if hostile.PAYLOADS.exists() else []
    for start in range(0, len(payloads), _BATCH):
        yield "<hr>".join(payloads[start : start + _BATCH])


def feed(url: str) -> bytes:
    """With a payload wherever there is text; what XML cannot hold is left out."""
    hook = escape("<img src=x onerror='window.x = 1'>\"'><script>window.x = 1</script>{{ 7 * 7 }}")
    items = "".join(
        f"<item><title>{number} {hook}</title><link>{url}/{number}</link><guid>{number}</guid><author>{hook}</author>"
        f"<category>{hook}</category><description>{escape(body)}</description>"
        f'<enclosure url="javascript:window.x=1//{number}.mp3" type="audio/mpeg" length="1"/>'
        f'<enclosure url="{url}/{number}&quot;onerror=&quot;window.x=1.mp3" type="audio/mpeg" length="1"/></item>'
        for number, body in enumerate(bodies())
    )
    text = f"<rss version='2.0'><channel><title>{hook}</title><link>javascript:window.x=1</link>{items}</channel></rss>"
    kept = "".join(char for char in text if char in "\t\n\r" or (char >= " " and not "\ud800" <= char <= "\udfff"))
    return kept.encode()


@pytest.fixture
def reader(browser: Browser, service: RunningService, alice: Person) -> Iterator[Reader]:
    with reading(browser, service, has_worker=True, viewport={"width": 1280, "height": 800}) as created:
        created.set_session(alice)
        # What the pages themselves are refused by their policy is told on the console: it was in the way, as it should.
        yield created
        # What the page has yet to ask for would be refused while it is being closed.
        created.page.goto("about:blank")
        created.complaints = [one for one in created.complaints if not one.startswith(("console:", "asked for"))]


def watch(reader: Reader, found: list[str]) -> None:
    page, own = reader.page, reader.service.url
    page.on("dialog", lambda dialog: _dismiss(dialog, found))
    reader.context.on("page", lambda popup: found.append(f"opened {popup.url}"))
    debugger = reader.context.new_cdp_session(page)
    debugger.on("Debugger.scriptParsed", lambda script: _note(script, own, found))
    debugger.send("Debugger.enable")
    reader.context.route(lambda url: not url.startswith(own), lambda route: _refuse(route, page, found))


def _dismiss(dialog: Dialog, found: list[str]) -> None:
    found.append(f"dialog {dialog.message}")
    dialog.dismiss()


def _note(script: dict[str, Any], own: str, found: list[str]) -> None:
    is_ours = script["url"].startswith(f"{own}/static/")
    if script.get("executionContextAuxData", {}).get("isDefault", True) and not is_ours:
        found.append(f"script of {script['length']} characters in {script['url'][:120] or 'an address'}")


def _refuse(route: Route, page: Page, found: list[str]) -> None:
    """Pictures, sounds and known players are what an article may bring; none of them is at hand here."""
    request = route.request
    is_player = request.is_navigation_request() and request.frame != page.main_frame and known_player(request.url)
    if request.resource_type not in ("image", "media") and not is_player:
        found.append(f"{request.resource_type} request to {request.url[:120]}")
    route.abort()


def interact(page: Page) -> None:
    """As a user reads: the mouse over it, the wheel, the keyboard."""
    for step in range(4):
        page.mouse.move(500 + step * 120, 200 + step * 100)
        page.mouse.wheel(0, 3000)
    for _ in range(25):
        page.keyboard.press("Tab")
    page.wait_for_timeout(300)


def test_no_script_of_a_publisher_runs_in_an_article(reader: Reader, alice: Person, site: Publisher) -> None:
    site.serve("/feed.xml", feed(site.url("")))
    alice.post("/v1/feeds", {"feed_url": site.url("/feed.xml")})
    entries = alice.entries()
    assert len(entries) == len(list(bodies()))
    found: list[str] = []
    watch(reader, found)

    for path in ("/unread", *(f"/unread/{entry['id']}" for entry in entries), "/search?query=window"):
        page = reader.go(path)
        interact(page)
        assert found == [], path
        assert urlsplit(page.url).path == path.partition("?")[0]
        assert "{{ 7 * 7 }}" in page.content() or "search" in path


def test_a_script_of_the_user_is_noticed(reader: Reader, alice: Person) -> None:
    """The one that a user may have written."""
    alice.put(f"/v1/users/{alice.id}", {"custom_js": "window.x = 1"}, status=201)
    found: list[str] = []
    watch(reader, found)
    reader.go("/unread")

    def is_noticed() -> bool:
        interact(reader.page)
        return bool(found)

    wait_until(reader.page, is_noticed)
