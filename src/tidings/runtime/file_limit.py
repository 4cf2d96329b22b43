"""Raises the limit on open files (RLIMIT_NOFILE) to its maximum, since each connection is an open file."""

from __future__ import annotations

import resource
import sys

import structlog

log = structlog.get_logger()

# Files of a process that are not connections of clients: the database, logs, connections to publishers, modules.
RESERVED_FILES = 256
MIN_CONNECTIONS = 64


def raise_for(connections: int) -> int:
    """Raise the soft limit to the hard one. Returns how many of the connections one process can hold with that.

    Child processes inherit the limit. A server that accepted more connections could not open its database file any
    more, so it accepts fewer, and the log says what to change.
    """
    limit = _raise()
    needed = connections + RESERVED_FILES
    if limit >= needed:
        return connections
    possible = max(limit - RESERVED_FILES, MIN_CONNECTIONS)
    log.warning(
        "limit on open files is low",
        limit=limit,
        needed=needed,
        connections_per_process=possible,
        remedy="raise the hard limit: LimitNOFILE= of systemd, --ulimit nofile= of Docker, or ulimit -Hn",
    )
    return possible


def _raise() -> int:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError) as error:  # macOS refuses an unlimited one
        log.warning("limit on open files not raised", limit=soft, reason=str(error))
        hard = soft
    return sys.maxsize if hard == resource.RLIM_INFINITY else hard
