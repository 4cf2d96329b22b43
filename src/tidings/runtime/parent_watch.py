"""Stops a child process when its parent ends, even if the parent is killed with SIGKILL."""

from __future__ import annotations

import os
import signal
import threading
import time

import structlog

log = structlog.get_logger()

POLL_INTERVAL_S = 0.25
TIME_TO_STOP_S = 4.0


def follow(parent_pid: int, *, time_to_stop_s: float = TIME_TO_STOP_S) -> None:
    """Start a thread that sends SIGTERM to this process when its parent ends, and kills it `time_to_stop_s` later.

    parent_pid: as the parent passed it on, so that a parent that ended before this call is noticed as well.
    """
    threading.Thread(target=_watch, args=(parent_pid, time_to_stop_s), name="parent-watch", daemon=True).start()


def _watch(parent_pid: int, time_to_stop_s: float) -> None:
    # Polling works on every system. Linux can send a signal when the parent ends (PR_SET_PDEATHSIG), but it does so
    # when the thread that started the child ends.
    while os.getppid() == parent_pid:
        time.sleep(POLL_INTERVAL_S)
    log.warning("stopping, because the parent process ended", parent=parent_pid)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(time_to_stop_s)
    if os.getpgid(0) == os.getpid():  # the leader of a process group kills its own children too
        os.killpg(0, signal.SIGKILL)
    os._exit(1)
