"""Finds Debian's Chromium on this machine, or installs it from Debian's packages when the tests run as root."""

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
    # A tenth less processor time: pages of the same site share a process, which need not start for each test.
    "--renderer-process-limit=1", "--num-raster-threads=1",
)  # fmt: skip
# The first one is the browser without windows of its own, which takes a third less processor time.
_PROGRAMS: Final = ("chromium-headless-shell", "chromium", "chromium-browser")
# Without a network, apt fails within half a minute instead of ten.
_APT: Final = ("apt-get", "-qq", "-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=15")
_INSTALL: Final = (
    (*_APT, "update"),
    (*_APT, "-o", "DPkg::Lock::Timeout=120", "install", "--yes", "--no-install-recommends", _PROGRAMS[0]),
)
_TIMEOUT_S: Final = 600


class ChromiumMissing(Exception):
    pass


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a browser with an empty profile. Raises ChromiumMissing, which says how to install one."""
    executable = program()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, headless=True, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@cache
def program() -> Path:
    """Return the path of Chromium, which is installed first if that is possible."""
    found = _on_path()
    if found is None:
        with _locked():
            # Another process may have installed it meanwhile.
            found = _on_path() or _installed()
    return found


def _on_path() -> Path | None:
    found = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    return Path(found) if found else None


@contextmanager
def _locked() -> Iterator[None]:
    """Hold a lock that all test processes of this machine share."""
    with (Path(tempfile.gettempdir()) / f"tidings-chromium-{os.getuid()}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _installed() -> Path:
    if os.getuid() != 0 or shutil.which("apt-get") is None:
        raise ChromiumMissing(f"chromium is not on the PATH (Debian: apt-get install {_PROGRAMS[0]})")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    output = ""
    for command in _INSTALL:
        try:
            done = subprocess.run(
                command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                timeout=_TIMEOUT_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise ChromiumMissing(f"chromium could not be installed: `{' '.join(command)}` took too long") from None
        # The update may fail and the installation still succeed with the old index.
        output = f"{done.stdout}\n{done.stderr}".strip().rpartition("\n")[2]
    found = _on_path()
    if found is None:
        raise ChromiumMissing(f"chromium could not be installed: {output or 'apt-get did not say why'}")
    return found
