"""Starts Chromium for the attempts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

_FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


class ChromiumMissing(Exception):
    pass


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield a browser with an empty profile. Raises ChromiumMissing if there is none."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        raise ChromiumMissing("chromium is not on the PATH (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, headless=True, args=list(_FLAGS))
        try:
            yield browser
        finally:
            browser.close()
