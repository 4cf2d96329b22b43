"""A running `tidings` command that was forked from a process which had imported everything (`command_server`)."""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

_TESTS = Path(__file__).parents[1]
_POLL_S = 0.01

# Benchmarks measure processes that start as an operator starts them.
is_used = False


class _CommandServer:
    """The process from which commands of this test process are forked."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tidings-statuses-")
        self.statuses = Path(self._folder.name)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "support.command_server", self.statuses],
            env={**os.environ, "PYTHONPATH": str(_TESTS)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._lock = threading.Lock()
        atexit.register(self._stop)

    def start(self, order: Mapping[str, object]) -> int:
        """Fork a process. Return its id."""
        assert self._process.stdin
        assert self._process.stdout
        with self._lock:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()
            return int(self._process.stdout.readline())

    def _stop(self) -> None:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._folder.cleanup()


_server = cache(_CommandServer)


class ForkedCommand:
    """The part of `subprocess.Popen` that tests use."""

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        cwd: Path,
        *,
        stdout: Path,
        stderr: Path,
        stdin: str = os.devnull,
    ) -> None:
        """Start a command. stdout, stderr: files that exist, to which its output is appended."""
        self._server = _server()
        self.pid = self._server.start(
            {
                "arguments": arguments,
                "environment": environment,
                "cwd": str(cwd),
                "stdin": stdin,
                "stdout": str(stdout),
                "stderr": str(stderr),
            }
        )
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None while the process runs."""
        status = self._server.statuses / str(self.pid)
        if self.returncode is None and status.exists():
            self.returncode = int(status.read_text())
            # The id may be given to another process later.
            status.unlink()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code when the process has ended. Raises TimeoutExpired after `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0)
            time.sleep(_POLL_S)
        return code

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def run(
    arguments: Sequence[str], environment: Mapping[str, str], cwd: Path, *, stdin: str = "", timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, as `subprocess.run` does."""
    with tempfile.TemporaryDirectory(prefix="tidings-run-") as folder:
        files = {name: Path(folder, name) for name in ("stdin", "stdout", "stderr")}
        for file in files.values():
            file.touch()
        files["stdin"].write_text(stdin, encoding="utf-8")
        command = ForkedCommand(
            arguments, environment, cwd, stdin=str(files["stdin"]), stdout=files["stdout"], stderr=files["stderr"]
        )
        try:
            code = command.wait(timeout)
        finally:
            command.kill()
        output, errors = (files[name].read_text(encoding="utf-8") for name in ("stdout", "stderr"))
        return subprocess.CompletedProcess(["tidings", *arguments], code, output, errors)
