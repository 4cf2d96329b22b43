"""A child process that does not outlive its parent, not even when that one is killed with SIGKILL."""

from __future__ import annotations

import os
import signal
import threading
import time

import structlog

log = structlog.get_logger()

LOOK_EVERY_S = 0.25
TIME_TO_STOP_S = 4.0


def follow(parent_pid: int, *, time_to_stop_s: float = TIME_TO_STOP_S) -> None:
    """From now on, stop when the process `parent_pid` is gone: first kindly with SIGTERM, then for good.

    parent_pid: told by the parent itself, so that one that died before this call is noticed as well.
    """
    threading.Thread(target=_watch, args=(parent_pid, time_to_stop_s), name="lifeline", daemon=True).start()


def _watch(parent_pid: int, time_to_stop_s: float) -> None:
    # Looking now and then works everywhere. Linux could send a signal by itself, but ties it to the thread
    # that started the child, and threads come and go.
    while os.getppid() == parent_pid:
        time.sleep(LOOK_EVERY_S)
    log.warning("stopping, because the process that started this one is gone", parent=parent_pid)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(time_to_stop_s)
    if os.getpgid(0) == os.getpid():  # the leader of a group takes its own children along
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
