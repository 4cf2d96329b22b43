from __future__ import annotations

import zlib
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from browser import readers
from browser.chromium import ChromiumMissing, chromium
from browser.readers import SCREENS, Reader, reading
from support.people import Person
from support.running import RunningService


@pytest.fixture(scope="package", autouse=True)
def _worker_with_long(pytestconfig: pytest.Config) -> None:
    """Let pages of all tests find the service worker with --long."""
    readers.defaults["has_worker"] = bool(pytestconfig.getoption("--long"))


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One Chromium for the files that a process runs one after the other. Skips tests where it cannot be installed."""
    try:
        with chromium() as started:
            yield started
    except ChromiumMissing as missing:
        pytest.skip(str(missing))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test on one screen, half of the tests on each; with --long on both."""
    if "screen_name" in metafunc.fixturenames:
        names = list(SCREENS)
        chosen = names[zlib.crc32(metafunc.function.__name__.encode()) % len(names)]
        metafunc.parametrize("screen_name", names if metafunc.config.getoption("--long") else [chosen])


@pytest.fixture
def reader(browser: Browser, service: RunningService, alice: Person, screen_name: str) -> Iterator[Reader]:
    """Alice on a wide screen, or on a phone."""
    with reading(browser, service, **SCREENS[screen_name]) as created:
        created.set_session(alice)
        yield created
