"""Runs `tidings COMMAND` in forks of a process that has imported everything, as the supervisor does for its children.

A start takes 0.2 s of processor time instead of 1.5. The program serves all processes of a run of tests. From each
connection it reads one order per line, a JSON object as `ForkedCommand` writes it, and answers each with the id of the
process. The exit code of a process that has ended stands in the file `STATUS/PID`, as in `subprocess`: negative for a
signal. The program ends when its standard input does.

The processes of imports, which services start, are forked as well (`python_launcher`).
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import select
import shlex
import signal
import socket
import sys
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from support.forked_command import LISTENER

_LAUNCHER = Path(__file__).with_name("python_launcher.py")
_MAX_ORDER_BYTES = 2**20


class _Server:
    """Forks for each order. statuses: the folder for exit codes."""

    def __init__(self, statuses: Path) -> None:
        self._statuses = statuses
        self._woken, self._wake = os.pipe()
        for end in (self._woken, self._wake):
            os.set_blocking(end, False)
        self._commands = socket.socket(fileno=LISTENER)
        # Unread pieces of orders by the connection of a test process.
        self._unread: dict[socket.socket, bytes] = {}
        self._listener = socket.socket(socket.AF_UNIX)
        address = str(statuses / "python.socket")
        self._listener.bind(address)
        self._listener.listen()
        # Launchers by the import that they started; None when the launcher has ended first.
        self._imports: dict[int, socket.socket | None] = {}
        self._new: set[socket.socket] = set()
        self._launcher = self._made_launcher(address)

    def serve(self) -> dict[str, Any] | None:
        """Return the order in each child; None in this process, at the end of its input."""
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while True:
            launchers = {launcher: pid for pid, launcher in self._imports.items() if launcher}
            own = (0, self._woken, self._listener, self._commands)
            sources: list[Any] = [*own, *self._unread, *self._new, *launchers]
            ready, _, _ = select.select(sources, [], [])
            if self._woken in ready:
                os.read(self._woken, 4096)
                self._note_ended()
            self._accept(ready)
            for launcher in self._new.intersection(ready):
                if (order := self._started_import(launcher)) is not None:
                    return order
            for launcher in launchers.keys() & set(ready):
                self._end_import(launchers[launcher])
            for tests in self._unread.keys() & set(ready):
                if (order := self._started_command(tests)) is not None:
                    return order
            if 0 in ready:
                return None

    def _accept(self, ready: list[Any]) -> None:
        """Accept connections of launchers and of test processes."""
        if self._listener in ready:
            self._new.add(self._listener.accept()[0])
        if self._commands in ready:
            self._unread[self._commands.accept()[0]] = b""

    def _started_command(self, tests: socket.socket) -> dict[str, Any] | None:
        """Fork a command for each line that a test process has sent. Return the order in the child."""
        piece = tests.recv(65_536)
        if not piece:
            del self._unread[tests]
            tests.close()
            return None
        *lines, self._unread[tests] = (self._unread[tests] + piece).split(b"\n")
        for line in lines:
            pid = self._fork()
            if not pid:
                return {**json.loads(line), "python": self._launcher}
            # Of a process that had the same id, and for which nobody has waited.
            (self._statuses / str(pid)).unlink(missing_ok=True)
            tests.sendall(b"%d\n" % pid)
        return None

    def _fork(self) -> int:
        if pid := os.fork():
            return pid
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.close(self._woken)
        os.close(self._wake)
        launchers = filter(None, self._imports.values())
        for connection in (self._listener, self._commands, *self._unread, *self._new, *launchers):
            connection.close()
        return 0

    def _made_launcher(self, address: str) -> str:
        """Return the path of a program that stands in for Python; of Python itself where files are not executable."""
        program = self._statuses / "python"
        command = shlex.join([sys.executable, "-I", "-S", str(_LAUNCHER), address, sys.executable])
        program.write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        program.chmod(0o755)
        return str(program) if os.access(program, os.X_OK) else sys.executable

    def _started_import(self, launcher: socket.socket) -> dict[str, Any] | None:
        """Fork the import that a launcher asks for. Return the order in the child."""
        encoded, files, _, _ = socket.recv_fds(launcher, _MAX_ORDER_BYTES, 3)
        self._new.discard(launcher)
        if not encoded:
            launcher.close()
            return None
        pid = self._fork()
        if not pid:
            launcher.close()
            return {**json.loads(encoded), "files": files}
        for file in files:
            os.close(file)
        self._imports[pid] = launcher
        return None

    def _end_import(self, pid: int) -> None:
        """Kill an import whose launcher has ended, as its service wanted."""
        launcher = self._imports.get(pid)
        if launcher:
            launcher.close()
            self._imports[pid] = None
            os.kill(pid, signal.SIGKILL)

    def _note_ended(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            code = os.waitstatus_to_exitcode(status)
            if pid in self._imports:
                if launcher := self._imports.pop(pid):
                    with suppress(OSError):
                        launcher.send(b"%d" % code)
                    launcher.close()
                continue
            unfinished = self._statuses / f".{pid}"
            unfinished.write_text(str(code))
            unfinished.rename(self._statuses / str(pid))


def _become(order: dict[str, Any]) -> None:
    """Turn this process into what starts with the arguments, environment, folder and files of the order."""
    os.setsid()
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.executable = order["python"]
    for target, (name, flags) in enumerate(
        ((order["stdin"], os.O_RDONLY), (order["stdout"], os.O_WRONLY), (order["stderr"], os.O_WRONLY))
    ):
        opened = os.open(name, flags | os.O_APPEND)
        os.dup2(opened, target)
        os.close(opened)
    _open_streams()
    sys.argv = ["tidings", *order["arguments"]]


def _become_import(order: dict[str, Any]) -> None:
    """Turn this process into `python -m MODULE` as its launcher was started."""
    os.setsid()
    os.environ.clear()
    os.environ.update(order["environment"])
    for target, file in enumerate(order["files"]):
        os.dup2(file, target)
        os.close(file)
    _open_streams()
    sys.argv = [order["module"], *order["arguments"]]
    # It ends with its launcher, which ends with its own parent.
    os.getppid = lambda: int(order["parent"])


def _open_streams() -> None:
    # Lines are written immediately to a terminal, which the streams of the parent do not know.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115


def _run_module(name: str) -> None:
    with warnings.catch_warnings():
        # It has been imported already.
        warnings.simplefilter("ignore", RuntimeWarning)
        runpy.run_module(name, run_name="__main__", alter_sys=True)


def _run(command: Callable[[], None]) -> NoReturn:
    """Run the command, and end without taking apart what was imported: that takes as long as a short command."""
    code: Any = 0
    try:
        command()
    except SystemExit as end:
        code = end.code
    # As Python does at its end: it waits for threads, calls what was registered, and writes what is left.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


def main() -> None:
    # What commands import, what `tidings web` does before it forks, and what migrations need.
    import alembic.command  # noqa: F401

    from support import cheap_hashes
    from tidings import cli
    from tidings.archives import import_process  # noqa: F401
    from tidings.runtime import children, supervisor  # noqa: F401
    from tidings.wiring import application, surfaces  # noqa: F401

    cheap_hashes.use()
    # A collection in a child would copy every page of what is there now.
    gc.collect()
    gc.freeze()
    order = _Server(Path(sys.argv[1])).serve()
    if order is None:
        return
    if "module" in order:
        _become_import(order)
        _run(lambda: _run_module(order["module"]))
    _become(order)
    _run(cli.main)


if __name__ == "__main__":
    main()
