from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from browser.chromium import ChromiumMissing, chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for the tests of a file. Skips them, with the reason, where Chromium cannot be installed."""
    try:
        with chromium() as started:
            yield started
    except ChromiumMissing as missing:
        pytest.skip(str(missing))
