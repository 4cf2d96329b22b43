"""Programs that tests use: found on this machine, or installed from Debian's packages."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
# Once in a run. No program has such a name.
_REFRESH = "(index)"
_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin"])


class ProgramMissing(Exception):
    """A program is missing and could not be installed. The message says why."""


@cache
def program(name: str, package: str = "") -> Path:
    """Return where a program is; it is installed first if root runs the tests. Raises ProgramMissing.

    package: of Debian; "" if it has the name of the program.
    """
    require({name: package or name})
    found = _found(name)
    if not found:
        raise ProgramMissing(f"{name} was installed, but is not on the PATH")
    return Path(found)


def require(packages: Mapping[str, str]) -> None:
    """Install what is missing with one command, if root runs the tests. Raises ProgramMissing.

    packages: of Debian, by the names of programs.
    """
    if all(map(_found, packages)):
        return
    with _locked() as record:
        # Another process may have installed it meanwhile, or failed to.
        missing = {name: package for name, package in packages.items() if not _found(name)}
        for name in missing:
            record.raise_known(name)
        if missing:
            _install(missing, record)


def _found(name: str) -> str | None:
    return shutil.which(name, path=_PATH)


class _Record:
    """What this test run has tried, so that other processes need not try again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))

    def raise_known(self, name: str) -> None:
        for found, reason in self._lines():
            if found == name:
                raise ProgramMissing(reason)

    def add_failures(self, names: Iterable[str], reason: str) -> ProgramMissing:
        for name in names:
            self._add(name, reason)
        return ProgramMissing(reason)

    def is_first(self, step: str) -> bool:
        """Return whether nobody has asked this for the step."""
        is_known = any(found == step for found, _ in self._lines())
        self._add(step, "tried")
        return not is_known

    def _lines(self) -> list[tuple[str, str]]:
        lines = (line.split(" ", 2) for line in self._path.read_text().splitlines())
        return [(name, text) for run, name, text in lines if run == self._run]

    def _add(self, name: str, text: str) -> None:
        with self._path.open("a") as file:
            file.write(f"{self._run} {name} {text}\n")


@contextmanager
def _locked() -> Iterator[_Record]:
    """Hold a lock that all test processes of this machine share: only one may install at a time."""
    path = Path(tempfile.gettempdir()) / f"tidings-programs-{os.getuid()}.lock"
    with path.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield _Record(path)


def _install(packages: Mapping[str, str], record: _Record) -> None:
    names = ", ".join(packages)
    wanted = list(dict.fromkeys(packages.values()))
    if os.getuid() != 0 or shutil.which("apt-get") is None:
        raise ProgramMissing(f"{names} is not on the PATH (Debian: apt-get install {' '.join(wanted)})")
    if record.is_first(_REFRESH):
        # An index that could not be refreshed may still be good enough; the installation itself decides.
        _run((*_APT, "update"), packages, record)
    done = _run((*_APT, "install", "--yes", "--no-install-recommends", *wanted), packages, record)
    if done.returncode:
        last = done.stdout.strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise record.add_failures(packages, f"{names} could not be installed: {last[0]}")


def _run(command: Sequence[str], names: Iterable[str], record: _Record) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=300,
            check=False,
        )
    except subprocess.TimeoutExpired:
        reason = f"{', '.join(names)} could not be installed: `{' '.join(command)}` took too long"
        raise record.add_failures(names, reason) from None
