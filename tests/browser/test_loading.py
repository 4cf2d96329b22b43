"""How much a page loads."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser

from browser.readers import reading
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow

MAX_REQUESTS = 6


@pytest.mark.parametrize("path", ["/unread", "/feeds", "/settings"])
def test_the_first_page_needs_at_most_six_requests(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, path: str
) -> None:
    """Document, style, script, drawings, icon and manifest. The service worker is registered when the page is there."""
    alice.has_feed(site, ["Rain"])
    with reading(browser, service) as created:
        created.set_session(alice)
        requests: list[str] = []
        created.page.on("request", lambda request: requests.append(urlsplit(request.url).path))
        created.go(path).wait_for_load_state("networkidle")

    assert len(requests) <= MAX_REQUESTS, requests
    assert sum(one.endswith(".js") for one in requests) == 1
