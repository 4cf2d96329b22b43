"""The loop that reads mailboxes."""

from __future__ import annotations

import asyncio

from tidings.newsletters.imap.mailboxes import PARALLEL, Mailboxes
from tidings.newsletters.imap.model import Mailbox
from tidings.worker import loops
from tidings.worker.loops import Loop

# Maximum time until a mailbox that is due is read.
POLL_INTERVAL_S = 10.0


class MailboxReader(Loop):
    """Reads a few mailboxes at the same time; a slow server holds up no other one."""

    def __init__(self, mailboxes: Mailboxes, worker: str) -> None:
        self._mailboxes = mailboxes
        self._worker = worker
        self._running: set[asyncio.Task[None]] = set()
        self._has_room = asyncio.Event()
        self._is_prepared = False

    @property
    def is_running(self) -> bool:
        return bool(self._running)

    async def run(self, stop: asyncio.Event) -> None:
        """Run until `stop` is set."""
        waking = asyncio.create_task(self._wake_on(stop))
        try:
            while not stop.is_set():
                self._has_room.clear()
                pause_s = await loops.attempt(
                    self._step, unavailable="mailboxes wait for the database", crashed="claiming a mailbox crashed"
                )
                await loops.pause(self._has_room, loops.RETRY_AFTER_ERROR_S if pause_s is None else pause_s)
        finally:
            waking.cancel()
            self._mailboxes.cut()
            await loops.finish(self._running, lambda: self._mailboxes.release_all(self._worker))

    async def _step(self) -> float:
        """Claim a mailbox that is due, and begin to read it. Returns the pause until the next step."""
        if not self._is_prepared:
            await asyncio.to_thread(self._mailboxes.prepare)
            self._is_prepared = True
        if len(self._running) >= PARALLEL:
            return POLL_INTERVAL_S
        mailbox = await asyncio.to_thread(self._mailboxes.claim, self._worker)
        if mailbox is None:
            return POLL_INTERVAL_S
        task = asyncio.create_task(self._read(mailbox))
        self._running.add(task)
        task.add_done_callback(self._end)
        return 0

    async def _read(self, mailbox: Mailbox) -> None:
        await loops.attempt(
            lambda: self._mailboxes.poll(mailbox, self._worker),
            unavailable="mailboxes wait for the database",
            crashed="reading a mailbox crashed",
        )

    def _end(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._has_room.set()

    async def _wake_on(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._has_room.set()
