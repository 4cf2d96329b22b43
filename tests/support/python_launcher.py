"""Stands in for the Python of a forked service: the process of an import is forked, too, from `command_server`.

    service ── subprocess.Popen ──► this program ── its arguments and files ──► command server ── fork ──► import

It lives as long as the import does and ends as it ended. Killed, it takes the import with it, because the server sees
the connection end; it ends when its own parent does. Every other module gets the real Python.
"""

from __future__ import annotations

import json
import os
import socket
import sys

# A start of these takes longer than most tests: they import everything.
FORKED = ("tidings.archives.import_process",)
_LOOK_AT_PARENT_S = 0.25


def main(server: str, python: str, arguments: list[str]) -> None:
    """server: path of the socket of the command server."""
    parent = os.getppid()
    if arguments[:2] != ["-P", "-m"] or arguments[2] not in FORKED:
        os.execv(python, [python, *arguments])
    order = {"module": arguments[2], "arguments": arguments[3:], "parent": parent, "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(server)
        socket.send_fds(connection, [json.dumps(order).encode()], [0, 1, 2])
        # The other ends of the pipes shall notice the end of the import.
        for descriptor in (0, 1):
            os.close(descriptor)
        connection.settimeout(_LOOK_AT_PARENT_S)
        while os.getppid() == parent:
            try:
                status = int(connection.recv(16) or b"1")
            except TimeoutError:
                continue
            if status < 0:
                os.kill(os.getpid(), -status)
            os._exit(status % 256)
    os._exit(1)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
