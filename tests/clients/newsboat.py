"""newsboat, the reader for terminals: found on this machine or installed from Debian's packages, and set up."""

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

from clients.terminal import Terminal, terminal
from support.people import Person

# Without a network this fails within half a minute instead of trying for ten.
_APT = (
    "apt-get",
    "-qq",
    "-o",
    "Acquire::Retries=1",
    "-o",
    "Acquire::http::Timeout=15",
    "-o",
    "DPkg::Lock::Timeout=120",
)
_INSTALL = ((*_APT, "update"), (*_APT, "install", "--yes", "--no-install-recommends", "newsboat"))

# Keys of ours for moving about: those it has by default are not on every keyboard.
HOME, DOWN = "g", "j"


class NewsboatMissing(Exception):
    pass


@cache
def program() -> Path:
    """Where newsboat is; installed first where that can be done without asking. NewsboatMissing says why it is not."""
    found = shutil.which("newsboat")
    if found:
        return Path(found)
    with _alone() as failures:
        # Another process may have installed it, or failed to.
        found = shutil.which("newsboat")
        if not found:
            failures.raise_known()
            _install(failures)
            found = shutil.which("newsboat")
    if not found:
        raise NewsboatMissing("newsboat was installed, but is not on the PATH")
    return Path(found)


def knows(setting: str) -> bool:
    """Whether this newsboat has heard of a setting. It refuses to start with one that it has not."""
    return setting.encode() in program().read_bytes()


@contextmanager
def newsboat(person: Person, folder: Path, *settings: str) -> Iterator[Terminal]:
    """Newsboat, just started, with an empty cache."""
    home = Path(tempfile.mkdtemp(prefix="newsboat-", dir=folder))
    config = home / "config"
    config.write_text(
        "\n".join(
            [
                'urls-source "miniflux"',
                f'miniflux-url "{person.service.url}"',
                f'miniflux-login "{person.user.username}"',
                f'miniflux-password "{person.password}"',
                f"bind-key {HOME} home",
                f"bind-key {DOWN} down",
                "confirm-exit no",
                "show-read-feeds yes",
                "show-read-articles yes",
                *(["confirm-mark-feed-read no"] if knows("confirm-mark-feed-read") else []),
                *settings,
                "",
            ]
        )
    )
    command: list[str | Path] = [
        program(),
        "-C",
        config,
        "-u",
        home / "urls",
        "-c",
        home / "cache.db",
        "-d",
        home / "log",
        "-l",
        "6",
    ]
    with terminal(command, {"HOME": str(home)}, home) as screen:
        yield screen


class _Failures:
    """What went wrong in this test run, told to the workers that come later."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))

    def raise_known(self) -> None:
        run, _, reason = self._path.read_text().partition(" ")
        if run == self._run:
            raise NewsboatMissing(reason)

    def add(self, reason: str) -> NewsboatMissing:
        self._path.write_text(f"{self._run} {reason}")
        return NewsboatMissing(reason)


@contextmanager
def _alone() -> Iterator[_Failures]:
    """One process at a time, of all that run tests on this machine."""
    path = Path(tempfile.gettempdir()) / f"tidings-newsboat-{os.getuid()}.lock"
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield _Failures(path)


def _install(failures: _Failures) -> None:
    if os.getuid() != 0 or shutil.which("apt-get") is None:
        raise NewsboatMissing("newsboat is not on the PATH (Debian: apt-get install newsboat)")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    for command in _INSTALL:
        try:
            done = subprocess.run(
                command,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=300,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise failures.add(f"newsboat could not be installed: `{' '.join(command)}` took too long") from None
        # An index that could not be refreshed may still be good enough; the installation itself decides.
        if done.returncode and "install" in command:
            last = done.stdout.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
            raise failures.add(f"newsboat could not be installed: {last[0]}")
