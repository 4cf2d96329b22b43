"""Runs the service as processes, as an operator starts it."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Self

from abuse import client

ADMIN, PASSWORD = "admin", "admin-secret-7Qx2"
_READY_WITHIN_S = 90


class Service:
    """`tidings serve` on a port of loopback, with a data folder of its own, running inside a `with`.

    settings: TIDINGS_… in lower case and without the prefix; {port} stands for its port. host, port: where it listens.
    """

    def __init__(self, folder: Path, settings: dict[str, str]) -> None:
        self.host, self.port = "127.0.0.1", free_port()
        self.url = f"http://{self.host}:{self.port}"
        self._log_path = folder / "service.log"
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TIDINGS_DATA_DIR": str(folder),
            "TIDINGS_LISTEN_ADDR": f"{self.host}:{self.port}",
            "TIDINGS_WEB_WORKERS": "1",
            "TIDINGS_WORKER_PROCESSES": "1",
            "TIDINGS_ADMIN_USERNAME": ADMIN,
            "TIDINGS_ADMIN_PASSWORD": PASSWORD,
            "TIDINGS_POLLING_GAP_PER_HOST": "0",
            "TIDINGS_POLLING_LIMIT_PER_HOST": "16",
            "TIDINGS_LOG_LEVEL": "debug",
            **{f"TIDINGS_{name.upper()}": value.replace("{port}", str(self.port)) for name, value in settings.items()},
        }
        self._database = folder / "tidings.db"
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> str:
        """Its stdout and stderr."""
        return self._log_path.read_text(errors="replace")

    def command(self, *arguments: str) -> str:
        """Run a command of the operator on the same data, and return what it prints."""
        command = [sys.executable, "-m", "tidings", *arguments]
        done = subprocess.run(command, env=self._environment, capture_output=True, text=True, check=True)
        return done.stdout

    def change(self, statement: str, *values: object) -> None:
        """Change its database, as the time that passes would: `?` stands for a value."""
        with closing(sqlite3.connect(self._database, timeout=60)) as connection, connection:
            if connection.execute(statement, values).rowcount < 1:
                raise RuntimeError(f"nothing was changed: {statement}")

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def __enter__(self) -> Self:
        with self._log_path.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tidings", "serve"],
                env=self._environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                cwd=self._log_path.parent,
                start_new_session=True,
            )
        try:
            self._wait_until_ready()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + _READY_WITHIN_S
        while time.monotonic() < deadline:
            if not self.is_running:
                raise RuntimeError(f"the service ended:\n{self.log[-2000:]}")
            try:
                if client.request(self, "GET", "/readyz", timeout_s=5).status == 200:
                    return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"the service was not ready within {_READY_WITHIN_S} s:\n{self.log[-2000:]}")

    def _stop(self) -> None:
        """Kill it with all its children, even if it does not listen any more."""
        assert self._process is not None
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def memory_bytes(self) -> int:
        """Return the resident memory of all its processes together (Linux)."""
        assert self._process is not None
        pages = sum(_resident_pages(pid) for pid in _with_descendants(self._process.pid))
        return pages * os.sysconf("SC_PAGE_SIZE")

    def processor_s(self) -> float:
        """Return the processor time of its processes so far (Linux); other processes do not affect it."""
        assert self._process is not None
        ticks = sum(_ticks(pid) for pid in _with_descendants(self._process.pid))
        return ticks / os.sysconf("SC_CLK_TCK")

    def processes(self) -> list[int]:
        assert self._process is not None
        return _with_descendants(self._process.pid)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _with_descendants(pid: int) -> list[int]:
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:
            continue
        for child in children:
            found += _with_descendants(int(child))
    return found


def _ticks(pid: int) -> int:
    """Return user and system time, with that of children that ended.

    Source: proc(5), fields 14 to 17; the name in parentheses may contain blanks.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return sum(map(int, fields[11:15]))


def _resident_pages(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0
