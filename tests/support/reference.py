"""The reference server, Miniflux, beside ours: for tests of what the two exchange."""

from __future__ import annotations

import fcntl
import json
import os
import re
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from support.ports import free_port

# As in benchmarks/polling.py: a command that installs Miniflux, and starts and stops it.
COMMAND = Path(os.environ.get("TIDINGS_PEER", Path(__file__).parents[3] / "shared" / "tools" / "peer"))
_DATABASE = "tidings_tests"


class ReferenceMissing(Exception):
    """The reference server is not installed, and why."""


class ReferenceServer(Struct, frozen=True):
    url: str
    token: str

    def call(self, method: str, path: str, body: bytes | None = None) -> Any:
        """Return decoded JSON, or bytes if the response is no JSON. Raises HTTPError for an error status."""
        request = urllib.request.Request(self.url + path, body, {"X-Auth-Token": self.token}, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            content: bytes = answer.read()
            return json.loads(content) if answer.headers.get_content_type() == "application/json" else content


@contextmanager
def reference_server() -> Iterator[ReferenceServer]:
    """Yield a running server without feeds. One at a time on this machine. Raises ReferenceMissing."""
    if not COMMAND.exists():
        raise ReferenceMissing(f"{COMMAND.name} is not there: TIDINGS_PEER names the command that starts Miniflux")
    home = Path(tempfile.gettempdir()) / f"tidings-tests-reference-{os.getuid()}"
    home.mkdir(exist_ok=True)
    settings = {"PEER_HOME": str(home), "PEER_DB": _DATABASE, "PEER_PORT": str(free_port())}
    with (home / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            # Not its output: the server inherits the pipe, and never closes it.
            _run(settings, "start", log=home / "start.log")
            found = dict(re.findall(r"(\w+)=(\S+)", (home / "start.log").read_text()))
            _run(settings, "psql", "-c", "truncate feeds cascade", log=home / "psql.log")
            yield ReferenceServer(found["URL"], found["TOKEN"])
        finally:
            _run(settings, "stop", log=home / "stop.log")


def _run(settings: dict[str, str], *arguments: str, log: Path) -> None:
    with log.open("w") as output:
        done = subprocess.run(
            [COMMAND, *arguments],
            env={**os.environ, **settings},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=300,
            check=False,
        )
    if done.returncode:
        last = log.read_text().strip().splitlines()[-1:] or [f"exit code {done.returncode}"]
        raise ReferenceMissing(f"`{COMMAND.name} {arguments[0]}` failed: {last[0]}")
