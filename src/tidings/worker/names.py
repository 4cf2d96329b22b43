"""The names under which workers hold leases."""

from __future__ import annotations

import os
import secrets
import socket


def worker_name() -> str:
    """Returns a name that no other worker has or had. Process ids alone repeat, as in each new container."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
