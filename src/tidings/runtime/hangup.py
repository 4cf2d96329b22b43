"""What SIGHUP means: the terminal was closed, or somebody signalled a service.

The kernel sends it to what runs on a terminal that is closed: nobody could press Ctrl-C any more, so that ends the
process. Service managers and log rotation send it to have files opened again or settings read: nothing of ours needs
that, and a service must not end because of it. `nohup` asks for it to be ignored.
"""

from __future__ import annotations

import os
import signal


def stops_us() -> bool:
    """Returns whether SIGHUP should end this process; to be asked at the start, while the terminal is there."""
    return signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN and _has_terminal()


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
