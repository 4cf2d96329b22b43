"""Programs that tests use: found on this machine, or installed from Debian's packages."""

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
_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])


class ProgramMissing(Exception):
    """A program is missing and could not be installed. The message says why."""


@cache
def program(name: str, package: str = "") -> Path:
    """Return where a program is; it is installed first if root runs the tests. Raises ProgramMissing.

    package: of Debian; "" if it has the name of the program.
    """
    found = shutil.which(name, path=_PATH)
    if found:
        return Path(found)
    with _locked() as failures:
        # Another process may have installed it meanwhile, or failed to.
        found = shutil.which(name, path=_PATH)
        if not found:
            failures.raise_known(name)
            _install(name, package or name, failures)
            found = shutil.which(name, path=_PATH)
    if not found:
        raise ProgramMissing(f"{name} was installed, but is not on the PATH")
    return Path(found)


class _Failures:
    """Records failed installations of this test run, so that other processes need not try again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))

    def raise_known(self, name: str) -> None:
        for line in self._path.read_text().splitlines():
            run, failed, reason = line.split(" ", 2)
            if (run, failed) == (self._run, name):
                raise ProgramMissing(reason)

    def add(self, name: str, reason: str) -> ProgramMissing:
        with self._path.open("a") as file:
            file.write(f"{self._run} {name} {reason}\n")
        return ProgramMissing(reason)


@contextmanager
def _locked() -> Iterator[_Failures]:
    """Hold a lock that all test processes of this machine share: only one may install at a time."""
    path = Path(tempfile.gettempdir()) / f"tidings-programs-{os.getuid()}.lock"
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield _Failures(path)


def _install(name: str, package: str, failures: _Failures) -> None:
    if os.getuid() != 0 or shutil.which("apt-get") is None:
        raise ProgramMissing(f"{name} is not on the PATH (Debian: apt-get install {package})")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    for command in ((*_APT, "update"), (*_APT, "install", "--yes", "--no-install-recommends", package)):
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
            raise failures.add(name, f"{name} could not be installed: `{' '.join(command)}` took too long") from None
        # An index that could not be refreshed may still be good enough; the installation itself decides.
        if done.returncode and "install" in command:
            last = done.stdout.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
            raise failures.add(name, f"{name} could not be installed: {last[0]}")
