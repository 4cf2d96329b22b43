"""Ports of this machine that no other process gets by chance while a test needs them.

The kernel gives a free port to whoever asks for any. Between a server that has stopped and one that is to take its
place, or before a service has started, another test would sometimes be given the same port. It is not given a port to
which a socket is bound, even if nothing listens there; a server that sets SO_REUSEADDR, as servers do, may have it.
"""

from __future__ import annotations

import socket
from collections import deque

# Each costs an open file. A port is needed for a minute at most.
_RESERVED: deque[socket.socket] = deque(maxlen=100)


def free_port(host: str = "127.0.0.1") -> int:
    """Return a port of an address, which is kept free until a hundred more have been asked for."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    bound = socket.socket(family)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind((host, 0))
    if len(_RESERVED) == _RESERVED.maxlen:
        _RESERVED.popleft().close()
    _RESERVED.append(bound)
    return int(bound.getsockname()[1])
