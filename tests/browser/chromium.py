"""Chromium as Debian ships it: found on this machine, or installed from its packages where that takes no asking."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, sync_playwright

FLAGS: Final = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
# Without a network this fails within half a minute instead of trying for ten.
_APT: Final = ("apt-get", "-qq", "-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=15")
_INSTALL: Final = (
    (*_APT, "update"),
    (*_APT, "-o", "DPkg::Lock::Timeout=120", "install", "--yes", "--no-install-recommends", "chromium"),
)
_LONGEST_S: Final = 600


class ChromiumMissing(Exception):
    pass


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser with nothing from earlier days. ChromiumMissing says how to get one."""
    executable = program()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, headless=True, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@cache
def program() -> Path:
    """Where it is; installed first where we may."""
    found = _on_path()
    if found is None:
        with _alone():
            # Somebody else may have been faster.
            found = _on_path() or _installed()
    return found


def _on_path() -> Path | None:
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    return Path(found) if found else None


@contextmanager
def _alone() -> Iterator[None]:
    """One process at a time, of all that run tests on this machine."""
    with (Path(tempfile.gettempdir()) / f"tidings-chromium-{os.getuid()}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _installed() -> Path:
    if os.getuid() != 0 or shutil.which("apt-get") is None:
        raise ChromiumMissing("chromium is not on the PATH (Debian: apt-get install chromium)")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    said = ""
    for command in _INSTALL:
        try:
            done = subprocess.run(
                command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                timeout=_LONGEST_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise ChromiumMissing(f"chromium could not be installed: `{' '.join(command)}` took too long") from None
        # An index that could not be refreshed may still be good enough; the installation itself decides.
        said = f"{done.stdout}\n{done.stderr}".strip().rpartition("\n")[2]
    found = _on_path()
    if found is None:
        raise ChromiumMissing(f"chromium could not be installed: {said or 'apt-get did not say why'}")
    return found
