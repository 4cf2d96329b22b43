"""Runs `tidings COMMAND` in forks of a process that has imported everything, as the supervisor does for its children.

A start takes 0.2 s of processor time instead of 1.5. The program reads one order per line from its standard input, a
JSON object as `ForkedCommand` writes it, and answers each with the id of the process. The exit code of a process that
has ended stands in the file `STATUS/PID`, as in `subprocess`: negative for a signal. It ends when its input does.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn


def _serve(statuses: Path) -> dict[str, Any] | None:
    """Fork for each order. Return the order in the child; None in this process, at the end of its input."""
    woken, wake = os.pipe()
    for end in (woken, wake):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    orders = sys.stdin.buffer.raw  # type: ignore[union-attr] # unbuffered, so that `select` sees every order
    unread = b""
    while True:
        ready, _, _ = select.select([orders, woken], [], [])
        if woken in ready:
            os.read(woken, 4096)
            _note_ended(statuses)
        if orders in ready:
            piece = orders.read(65_536)
            if not piece:
                return None
            *lines, unread = (unread + piece).split(b"\n")
            for line in lines:
                order: dict[str, Any] = json.loads(line)
                pid = os.fork()
                if not pid:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    os.close(woken)
                    os.close(wake)
                    return order
                os.write(sys.stdout.fileno(), b"%d\n" % pid)


def _note_ended(statuses: Path) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        unfinished = statuses / f".{pid}"
        unfinished.write_text(str(os.waitstatus_to_exitcode(status)))
        unfinished.rename(statuses / str(pid))


def _become(order: dict[str, Any]) -> None:
    """Turn this process into what starts with the arguments, environment, folder and files of the order."""
    os.setsid()
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["environment"])
    for target, (name, flags) in enumerate(
        ((order["stdin"], os.O_RDONLY), (order["stdout"], os.O_WRONLY), (order["stderr"], os.O_WRONLY))
    ):
        opened = os.open(name, flags | os.O_APPEND)
        os.dup2(opened, target)
        os.close(opened)
    # Lines are written immediately to a terminal, which the streams of the parent do not know.
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", 1, encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.argv = ["tidings", *order["arguments"]]


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
    from tidings.runtime import children, supervisor  # noqa: F401
    from tidings.wiring import application, surfaces  # noqa: F401

    cheap_hashes.use()
    # A collection in a child would copy every page of what is there now.
    gc.collect()
    gc.freeze()
    order = _serve(Path(sys.argv[1]))
    if order is not None:
        _become(order)
        _run(cli.main)


if __name__ == "__main__":
    main()
