"""Starts `tidings serve`, `web` and `worker` as an operator does, and restarts them when they end."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from loopback.processes import Process, tree

ADMIN, PASSWORD = "ada", "correct horse battery"


class NotReady(Exception):
    """The service does not respond, or ended during its start."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def environment(database_url: str, folder: Path, **settings: str) -> dict[str, str]:
    """Return the environment of the service. Feeds are polled as often as the settings allow."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TIDINGS_DATA_DIR": str(folder),
        "TIDINGS_DATABASE_URL": database_url,
        "TIDINGS_LISTEN_ADDR": f"127.0.0.1:{free_port()}",
        "TIDINGS_ADMIN_USERNAME": ADMIN,
        "TIDINGS_ADMIN_PASSWORD": PASSWORD,
        "TIDINGS_FETCHER_ALLOW_PRIVATE_NETWORKS": "1",
        "TIDINGS_INTEGRATION_ALLOW_PRIVATE_NETWORKS": "1",
        "TIDINGS_POLLING_GAP_PER_HOST": "0",
        "TIDINGS_POLLING_LIMIT_PER_HOST": "8",
        "TIDINGS_POLLING_FREQUENCY": "1",
        "TIDINGS_SCHEDULER_ENTRY_FREQUENCY_MIN_INTERVAL": "1",
        "TIDINGS_SCHEDULER_ENTRY_FREQUENCY_MAX_INTERVAL": "1",
        "TIDINGS_HTTP_CLIENT_TIMEOUT": "3",
        "TIDINGS_LOG_FORMAT": "json",
        **{f"TIDINGS_{name.upper()}": value for name, value in settings.items()},
    }


@dataclass
class Command:
    """A `tidings` command that is kept running. ended: exit codes of each time that it ended unexpectedly."""

    name: str
    environment: Mapping[str, str]
    folder: Path
    ended: list[int] = field(default_factory=list)
    process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.log"

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tidings", self.name],
                env=dict(self.environment),
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                cwd=self.folder,
                start_new_session=True,
            )

    def processes(self) -> list[Process]:
        return tree(self.process.pid) if self.process else []

    def start_again_when_ended(self) -> bool:
        """Restart the command if it has ended, as systemd does. Returns whether it had ended."""
        if self.process is None or self.process.poll() is None:
            return False
        self.ended.append(self.process.returncode)
        self.start()
        return True

    def stop(self, within_s: float = 20) -> int | None:
        """Return the exit code, None if it had to be killed with all its children."""
        if self.process is None:
            return 0
        children = [process.pid for process in self.processes()]
        self.process.terminate()
        try:
            return self.process.wait(within_s)
        except subprocess.TimeoutExpired:
            return None
        finally:
            for pid in children:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.process.wait()
            self.process = None


async def wait_until_ready(url: str, within_s: float = 60) -> None:
    deadline = time.monotonic() + within_s
    timeout = aiohttp.ClientTimeout(total=5)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        while time.monotonic() < deadline:
            with suppress(aiohttp.ClientError, TimeoutError):
                async with session.get(f"{url}/healthcheck") as answer:
                    if answer.status == 200:
                        return
            await asyncio.sleep(0.2)
    raise NotReady(f"{url} was not ready within {within_s:.0f} s")
