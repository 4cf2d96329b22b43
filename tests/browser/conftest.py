from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from browser.chromium import ChromiumMissing, chromium
from browser.readers import SCREENS, Reader, reading
from support.people import Person
from support.running import RunningService


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for the tests of a file. Skips them, with the reason, where Chromium cannot be installed."""
    try:
        with chromium() as started:
            yield started
    except ChromiumMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture(params=SCREENS)
def reader(
    browser: Browser, service: RunningService, alice: Person, request: pytest.FixtureRequest
) -> Iterator[Reader]:
    """Alice on a wide screen, and on a phone."""
    with reading(browser, service, **SCREENS[request.param]) as created:
        created.set_session(alice)
        yield created
