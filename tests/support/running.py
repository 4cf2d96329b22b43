"""Runs the service as processes, as an operator starts it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from support import forked_command
from support.forked_command import ForkedCommand
from support.ports import free_port
from tidings.engine.database import Database
from tidings.settings import load
from tidings.wiring.services import AllServices, build_services


@dataclass
class RunningService:
    """A started command. url: where it listens. log: its stdout and stderr."""

    url: str
    environment: Mapping[str, str]
    log_path: Path
    process: subprocess.Popen[bytes] | ForkedCommand
    database_url: str = ""

    @property
    def log(self) -> str:
        return self.log_path.read_text()

    @cached_property
    def services(self) -> AllServices:
        """The services of this process, on the same database."""
        settings = load(dict(self.environment), None)
        return build_services(Database(settings.database_url), settings)

    def wait_until_ready(self, within_s: float = 180) -> None:
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            assert self.process.poll() is None, f"the service ended:\n{self.log}"
            try:
                with urllib.request.urlopen(f"{self.url}/healthcheck", timeout=5) as answer:
                    if answer.read() == b"OK":
                        return
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
        raise AssertionError(f"the service was not ready within {within_s} s:\n{self.log}")

    def stop(self, how: signal.Signals = signal.SIGTERM, within_s: float = 180) -> int:
        """Stop the service. Returns the exit code. Raises TimeoutExpired after `within_s`."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(within_s)


def environment_for(database_url: str, folder: Path, **settings: str) -> dict[str, str]:
    """Return the environment that the service needs, without the variables of the test run."""
    port = free_port()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TIDINGS_DATA_DIR": str(folder),
        "TIDINGS_DATABASE_URL": database_url,
        "TIDINGS_LISTEN_ADDR": f"127.0.0.1:{port}",
        "TIDINGS_WEB_WORKERS": "1",
        "TIDINGS_FETCHER_ALLOW_PRIVATE_NETWORKS": "1",
        "TIDINGS_INTEGRATION_ALLOW_PRIVATE_NETWORKS": "1",
        # All feeds of a test are on one host, which needs no pause between requests.
        "TIDINGS_POLLING_GAP_PER_HOST": "0",
        **{f"TIDINGS_{name.upper()}": value for name, value in settings.items()},
    }


def _start(
    command: str, environment: Mapping[str, str], folder: Path, log_path: Path, prefix: Sequence[str]
) -> subprocess.Popen[bytes] | ForkedCommand:
    # Python itself reads its variables at its start only.
    if (
        forked_command.is_used
        and not prefix
        and all(name.startswith("TIDINGS_") or name in ("PATH", "HOME") for name in environment)
    ):
        return ForkedCommand([command], environment, folder, stdout=log_path, stderr=log_path)
    with log_path.open("ab") as log:
        return subprocess.Popen(
            [*prefix, sys.executable, "-m", "tidings", command],
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            cwd=folder,
            start_new_session=True,
        )


@contextmanager
def running(
    command: str, environment: Mapping[str, str], folder: Path, *, prefix: Sequence[str] = ()
) -> Iterator[RunningService]:
    """Run `tidings COMMAND` in its own session. It is killed with all its children if it does not stop at the end.

    prefix: a command that runs this one in its place, such as prlimit.
    """
    log_path = folder / f"{command}-{time.monotonic_ns()}.log"
    log_path.touch()
    process = _start(command, environment, folder, log_path, prefix)
    url = f"http://{environment['TIDINGS_LISTEN_ADDR']}"
    service = RunningService(url, environment, log_path, process, environment["TIDINGS_DATABASE_URL"])
    try:
        yield service
    finally:
        try:
            service.stop()
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if "services" in service.__dict__:
            service.services.database.close()


@contextmanager
def running_service(database_url: str, folder: Path, **settings: str) -> Iterator[RunningService]:
    """Yield the web service when it is ready. There is no poller: tests refresh feeds themselves."""
    environment = environment_for(database_url, folder, **settings)
    with running("web", environment, folder) as service:
        service.wait_until_ready()
        yield service
