"""A running `tidings` command that was forked from a process which had imported everything (`command_server`)."""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from support import shared

# The socket to which tests send their orders, and the descriptor of its listener in the server.
COMMANDS = "commands.socket"
LISTENER = 3
_TESTS = Path(__file__).parents[1]
_POLL_S = 0.01

# Benchmarks measure processes that start as an operator starts them.
is_used = False


class _CommandServer:
    """A connection to the process from which commands of this run are forked."""

    def __init__(self) -> None:
        self.statuses = Path(shared.once("commands", _start_server))
        self._connection = socket.socket(socket.AF_UNIX)
        # It is bound before the server has imported everything, and answers afterwards.
        self._connection.connect(str(self.statuses / COMMANDS))
        self._answers = self._connection.makefile("rb")
        atexit.register(self._close)
        self._lock = threading.Lock()

    def start(self, order: Mapping[str, object]) -> int:
        """Fork a process. Return its id."""
        with self._lock:
            self._connection.sendall(json.dumps(order).encode() + b"\n")
            return int(self._answers.readline())

    def _close(self) -> None:
        self._answers.close()
        self._connection.close()


def _start_server(place: Path) -> str:
    """Start the server, which ends with the run. Return the folder of its sockets and of exit codes."""
    statuses = place / "commands"
    statuses.mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(statuses / COMMANDS))
        listener.listen()
        # It outlives this process, which therefore must not be its `subprocess`.
        os.posix_spawn(
            sys.executable,
            [sys.executable, "-m", "support.command_server", str(statuses)],
            {**os.environ, "PYTHONPATH": str(_TESTS)},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, str(place / shared.LIFE), os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_DUP2, listener.fileno(), LISTENER),
            ],
            setsid=True,
        )
    return str(statuses)


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
