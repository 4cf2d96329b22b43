"""Starts Chromium for the attempts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

# The first one is the browser without windows of its own.
_PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser")
_FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


class ChromiumMissing(Exception):
    pass


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield a browser with an empty profile. Raises ChromiumMissing if there is none."""
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        raise ChromiumMissing(f"chromium is not on the PATH (Debian: apt-get install {_PROGRAMS[0]})")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, headless=True, args=list(_FLAGS))
        try:
            yield browser
        finally:
            browser.close()
