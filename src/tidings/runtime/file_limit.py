"""The limit on open files (RLIMIT_NOFILE): raised as far as it goes, since each connection is an open file."""

from __future__ import annotations

import resource
import sys

import structlog

log = structlog.get_logger()

# Of each process: the database, log files, connections to publishers, the interpreter.
RESERVED_FILES = 256
MIN_CONNECTIONS = 64


def raise_for(connections: int) -> int:
    """Raises the soft limit to the hard one. Returns how many of the connections one process can hold with that.

    Child processes inherit the limit. A server that accepted more would fail at whatever it opens next, be it its
    database; so it accepts less, and the log says what to change.
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
        log.warning("limit on open files stays", limit=soft, reason=str(error))
        hard = soft
    return sys.maxsize if hard == resource.RLIM_INFINITY else hard
