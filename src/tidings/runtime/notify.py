"""Tells the service manager that the service is ready, alive or stopping (sd_notify of systemd)."""

from __future__ import annotations

import socket
from contextlib import suppress

from tidings.settings import service_manager


class ServiceManager:
    """Messages to the service manager. Without one, nothing is sent.

    ping_s: how often to call `ping`, or None if the manager does not expect it: twice in the time that is allowed.
    """

    def __init__(self, address: str | None, watchdog_s: float | None) -> None:
        self._address = address
        self.ping_s = watchdog_s / 2 if address and watchdog_s else None

    @classmethod
    def of_this_process(cls) -> ServiceManager:
        return cls(service_manager.notify_address(), service_manager.watchdog_s())

    def ready(self, status: str) -> None:
        """Report that requests are served. status: a line for people, in `systemctl status`."""
        self._send(f"READY=1\nSTATUS={status}")

    def ping(self) -> None:
        """Report that this process is alive. Does nothing if the manager does not expect it."""
        if self.ping_s is not None:
            self._send("WATCHDOG=1")

    def stopping(self) -> None:
        self._send("STOPPING=1")

    def _send(self, message: str) -> None:
        if self._address is None:
            return
        # An address in the abstract namespace, which has no file.
        address = "\0" + self._address[1:] if self._address.startswith("@") else self._address
        # A service manager that went away is not a reason to stop.
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            sender.setblocking(False)
            sender.sendto(message.encode(), address)
