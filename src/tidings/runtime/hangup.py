"""Decides what SIGHUP means: the terminal was closed, or a service manager signalled the service.

The kernel sends it to the processes of a terminal that is closed: Ctrl-C is no longer possible, so the process ends.
Service managers and log rotation send it to have files reopened or reread: Tidings reads its certificate again, and
must not end because of it. `nohup` asks for the signal to be ignored.
"""

from __future__ import annotations

import os
import signal


def stops_process() -> bool:
    """Return whether SIGHUP should end this process. Call it at the start, while the terminal is still open."""
    return signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN and _has_terminal()


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
