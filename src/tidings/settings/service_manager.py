"""What a service manager (systemd) asks of this process: environment variables that are not settings."""

from __future__ import annotations

import os


def notify_address() -> str | None:
    """Return the address of the socket for messages about the state of the service; None without a service manager.

    A leading @ stands for a name in the abstract namespace. Source: sd_notify(3).
    """
    return os.environ.get("NOTIFY_SOCKET") or None


def watchdog_s() -> float | None:
    """Return after how many seconds without a message the service manager restarts the service; None for never.

    Source: sd_watchdog_enabled(3).
    """
    interval, process = os.environ.get("WATCHDOG_USEC", ""), os.environ.get("WATCHDOG_PID", "")
    is_ours = not process or process == str(os.getpid())
    return int(interval) / 1_000_000 if interval.isdecimal() and int(interval) and is_ours else None
