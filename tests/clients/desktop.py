"""Programs with windows, on a screen that nobody sees (Xvfb), driven by keys (xdotool)."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import pytest

from support import debian

# What drives a program, and Debian's package of it.
TOOLS = {"Xvfb": "xvfb", "xdotool": "xdotool", "dbus-run-session": "dbus-daemon"}


def require(program: str) -> None:
    """Skip the test if a program or what drives it is missing and cannot be installed."""
    try:
        debian.require({**TOOLS, program: program})
    except debian.ProgramMissing as reason:
        pytest.skip(str(reason))


def press(display: str, window: Sequence[str], key: str) -> None:
    """Press a key in a window, which there is no manager to give the focus to. window: what xdotool finds it by."""
    environment = {**os.environ, "DISPLAY": display}
    found = subprocess.run(
        ["xdotool", "search", "--onlyvisible", *window],
        env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    for number in found.stdout.split()[-1:]:
        command = ["xdotool", "windowfocus", "--sync", number, "key", "--clearmodifiers", key]
        subprocess.run(command, env=environment, check=False, timeout=120, capture_output=True)


@contextmanager
def started(command: Sequence[str], environment: Mapping[str, str], log: int) -> Iterator[None]:
    """A program with a message bus of its own; ended with all processes that it has started."""
    process = subprocess.Popen(
        ["dbus-run-session", "--", *command],
        env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
    )  # fmt: skip
    try:
        yield
    finally:
        _end(process)


@contextmanager
def screen(log: int) -> Iterator[str]:
    """A display of its own, numbered after this process, which stays when the last window is closed."""
    reading, writing = os.pipe()
    command = [
        *("Xvfb", f":{100 + os.getpid() % 50_000}", "-displayfd", str(writing)),
        # Without this it starts anew whenever its last program ends, and refuses who comes meanwhile.
        *("-noreset", "-screen", "0", "1200x800x24", "-nolisten", "tcp"),
    ]
    process = subprocess.Popen(command, pass_fds=[writing], stdout=log, stderr=log, start_new_session=True)
    os.close(writing)
    try:
        with os.fdopen(reading) as numbers:
            yield f":{numbers.readline().strip()}"
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """With the processes that it has started."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
            process.wait(5)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def eventually(holds: Callable[[], bool], describe: Callable[[], object], within_s: float = 120) -> None:
    assert comes_true(holds, within_s), f"the program did not get there: {describe()}"


def comes_true(holds: Callable[[], bool], within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True
