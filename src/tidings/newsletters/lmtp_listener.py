"""The loop that listens for LMTP, in one worker: the others wait, and one of them takes its place when it ends."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog

from tidings.newsletters.newsletters import Newsletters
from tidings.worker.loops import SHUTDOWN_TIMEOUT_S, Loop, pause

if TYPE_CHECKING:
    from tidings.newsletters.lmtp import LmtpSession

log = structlog.get_logger()

# A path of a Unix socket, or a numeric address of this machine and a port.
Place = Path | tuple[str, int]

# Letters that are read at the same time, which limits the memory they occupy. Others wait for their turn.
TURNS: Final = 4
# Until the next attempt to listen where another worker does, or where it is not possible now.
RETRY_S: Final = 2.0
# The mail server has another user: the group of the socket, which it has from its folder, decides who may deliver.
SOCKET_PERMISSIONS: Final = 0o660
_BACKLOG: Final = 64


class _InUse(Exception):
    """Another worker listens, or another program does."""


class LmtpListener(Loop):
    """Receives letters from a mail server on this machine.

    place: None if the operator has not set one. template: the mail address with {secret} in it, "" if there is none.
    """

    def __init__(self, newsletters: Newsletters, place: Place | None, template: str) -> None:
        self._newsletters = newsletters
        self._place = place
        self._template = template
        self._sessions: set[LmtpSession] = set()
        self.problem = ""
        """Why it cannot listen; "" if it can, or if another worker does."""

    @property
    def is_running(self) -> bool:
        return not all(session.is_idle.is_set() for session in self._sessions)

    async def run(self, stop: asyncio.Event) -> None:
        """Listen until `stop` is set, as soon as no other worker does."""
        if self._place is None:
            return
        while not stop.is_set():
            try:
                with _listening(self._place) as listener:
                    self.problem = ""
                    await self._serve(listener, stop)
            except _InUse:
                log.debug("lmtp is served by another process", address=shown_place(self._place))
            except OSError as error:
                self._report(error)
            await pause(stop, RETRY_S)

    async def _serve(self, listener: socket.socket, stop: asyncio.Event) -> None:
        # Only the worker that listens needs the library.
        from tidings.newsletters.lmtp import LmtpSession

        turns = asyncio.Semaphore(TURNS)
        server = await asyncio.get_running_loop().create_server(
            lambda: LmtpSession(
                self._newsletters, self._template, turns,
                on_begin=self._sessions.add, on_end=self._sessions.discard,
            ),
            sock=listener, backlog=_BACKLOG,
        )  # fmt: skip
        log.info("listening for letters", address=shown_place(self._place))
        try:
            await stop.wait()
        finally:
            server.close()
            await self._finish()

    async def _finish(self) -> None:
        """Let letters be stored that have arrived, and close all connections."""
        sessions = tuple(self._sessions)
        await _all(session.is_idle for session in sessions)
        for session in sessions:
            session.end()
        await _all(session.has_ended for session in sessions)

    def _report(self, error: OSError) -> None:
        """Log once why nobody can deliver."""
        problem = error.strerror or str(error)
        if problem != self.problem:
            self.problem = problem
            hint = "see TIDINGS_NEWSLETTERS_LMTP; it is tried again"
            log.error("cannot listen for letters", address=shown_place(self._place), reason=problem, hint=hint)


async def _all(events: Iterable[asyncio.Event]) -> None:
    """Wait until all events have happened, at most as long as a worker may take to stop."""
    with suppress(TimeoutError):
        async with asyncio.timeout(SHUTDOWN_TIMEOUT_S):
            await asyncio.gather(*(event.wait() for event in events))


@contextmanager
def _listening(place: Place) -> Iterator[socket.socket]:
    """Yield a socket bound to a place. Raises _InUse, and OSError if nobody can listen there."""
    if isinstance(place, Path):
        with _locked(place):
            yield from _unix_socket(place)
        return
    with socket.socket(socket.AF_INET6 if ":" in place[0] else socket.AF_INET) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(place)
            # Here, since two sockets may be bound to a port until one of them listens.
            listener.listen(_BACKLOG)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise _InUse from error
            raise
        yield listener


def _unix_socket(path: Path) -> Iterator[socket.socket]:
    if is_answered(path):
        raise OSError(errno.EADDRINUSE, "something else is listening there")
    if path.is_socket():
        # Of a worker that was killed.
        path.unlink()
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(path))
        stack.callback(path.unlink, missing_ok=True)
        # Nobody can connect before `listen`.
        path.chmod(SOCKET_PERMISSIONS)
        yield listener


def is_answered(place: Place) -> bool:
    """Return whether somebody listens at a place."""
    family = socket.AF_UNIX if isinstance(place, Path) else socket.AF_INET6 if ":" in place[0] else socket.AF_INET
    with socket.socket(family) as probe, suppress(OSError):
        probe.settimeout(1)
        probe.connect(str(place) if isinstance(place, Path) else place)
        return True
    return False


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the lock of a Unix socket. Raises _InUse if another process holds it.

    A socket is replaced while it is locked, so that two workers never remove each other's. The file of the lock stays:
    whoever removed it could remove one that another process has just locked.
    """
    descriptor = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise _InUse from error
    finally:
        os.close(descriptor)


def shown_place(place: Place | None) -> str:
    """Return a place as the setting has it."""
    if isinstance(place, tuple):
        return f"[{place[0]}]:{place[1]}" if ":" in place[0] else f"{place[0]}:{place[1]}"
    return f"unix:{place}"
