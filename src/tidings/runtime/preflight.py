"""Checks before the start, so that a wrong configuration is reported in one line instead of failing later."""

from __future__ import annotations

import errno
import os
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import structlog

from tidings.base.errors import StartError, StoreUnavailable
from tidings.settings import ListenAddress, Settings

log = structlog.get_logger()

# Between two attempts to reach the database.
FIRST_PAUSE_S = 0.5
MAX_PAUSE_S = 5.0

LISTEN_ERRORS = {
    errno.EADDRINUSE: "something is listening there already; stop it, or choose another",
    errno.EADDRNOTAVAIL: "this machine has no such address; choose another",
    errno.EACCES: "not permitted; ports below 1024 need a privilege, choose another",
}


def check_folders(settings: Settings) -> None:
    """Create the data folder, and check that the SQLite database can be written. Does nothing on PostgreSQL.

    Raises StartError if it cannot, or if a database outside of the data folder has no folder.
    """
    file = settings.database_file
    if file is None:
        return
    if file.parent == settings.data_dir:
        _create(settings.data_dir)
    if not file.parent.is_dir():
        raise StartError(
            f"the folder of the database, {file.parent}, does not exist; make it, or set TIDINGS_DATABASE_URL"
        )
    try:
        # Checking the permissions is not enough: root has all of them and cannot write to a read-only disk.
        with tempfile.TemporaryFile(dir=file.parent):
            pass
        if file.exists():
            with file.open("r+b"):
                pass
    except OSError as error:
        raise StartError(f"the database {file} cannot be written: {error.strerror}; see TIDINGS_DATA_DIR") from error


def _create(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StartError(f"the data folder {folder} cannot be made: {error.strerror}; see TIDINGS_DATA_DIR") from error


def wait_for_database(ping: Callable[[], None], limit_s: float, stop: threading.Event) -> None:
    """Return when the database answers, and at the latest after `limit_s` seconds or when `stop` is set.

    ping: raises StoreUnavailable if it does not answer. The next use of the database reports that it still does not.
    """
    deadline, pause_s = time.monotonic() + limit_s, FIRST_PAUSE_S
    while not stop.is_set() and (left_s := deadline - time.monotonic()) > 0:
        try:
            ping()
        except StoreUnavailable as error:
            log.warning("waiting for the database", reason=error.reason, longest_s=round(left_s))
            stop.wait(min(pause_s, left_s))
            pause_s = min(2 * pause_s, MAX_PAUSE_S)
        else:
            return


def check_listening(settings: Settings) -> str:
    """Return the numeric address to bind. Raises StartError if this process cannot listen there."""
    if (settings.tls_certificate is None) != (settings.tls_key is None):
        raise StartError("TIDINGS_TLS_CERTIFICATE and TIDINGS_TLS_KEY need each other: set both, or none")
    if settings.listen_socket is None:
        return check_address(settings.listen_addr)
    _check_socket(settings.listen_socket, "TIDINGS_LISTEN_SOCKET")
    return "127.0.0.1"


def check_lmtp(settings: Settings) -> None:
    """Raise StartError if no worker could listen for LMTP."""
    place = settings.newsletters_lmtp
    if isinstance(place, ListenAddress):
        check_address(place, "TIDINGS_NEWSLETTERS_LMTP")
    elif place is not None:
        _check_socket(place, "TIDINGS_NEWSLETTERS_LMTP")


def _check_socket(path: Path, setting: str) -> None:
    """Remove the socket of a service that ended. Raises StartError if another one listens, or if none can be made."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except FileNotFoundError:
            reason = "" if path.parent.is_dir() else "its folder does not exist"
        except ConnectionRefusedError:
            reason = "" if path.is_socket() else "a file is in its place"
        except OSError as error:
            reason = error.strerror or str(error)
        else:
            reason = f"something is listening there already; stop it, or choose another {setting}"
    if reason:
        raise StartError(f"cannot listen on {path}: {reason}")
    path.unlink(missing_ok=True)


def check_address(listen: ListenAddress, setting: str = "TIDINGS_LISTEN_ADDR") -> str:
    """Return the numeric address to bind. Raises StartError if this process cannot listen there now."""
    host = _resolve(listen)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        # The web workers share the port with SO_REUSEPORT, and would silently share it with a second Tidings. This
        # socket does not share it, so binding fails.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, listen.port))
            probe.listen(1)
        except OSError as error:
            known = LISTEN_ERRORS.get(error.errno or 0)
            reason = f"{known} {setting}" if known else os.strerror(error.errno or 0)
            raise StartError(f"cannot listen on {listen}: {reason}") from error
    return host


def _resolve(listen: ListenAddress) -> str:
    if not listen.host:
        return "::" if socket.has_dualstack_ipv6() else "0.0.0.0"  # noqa: S104  (what an empty host asks for)
    try:
        results = socket.getaddrinfo(listen.host, listen.port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise StartError(
            f"cannot listen on {listen}: that name has no address; choose another TIDINGS_LISTEN_ADDR"
        ) from error
    # "localhost" has an IPv4 and an IPv6 address, and every client tries the IPv4 one.
    by_family = sorted(results, key=lambda info: info[0] != socket.AF_INET)
    return str(by_family[0][4][0])
