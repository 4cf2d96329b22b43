"""Sessions of LMTP, by which a mail server on this machine delivers letters. Imported only where somebody listens.

LHLO ─► MAIL ─► RCPT, a reply each ─► DATA ─► the letter ─► a reply for each accepted recipient

`aiosmtpd` reads the commands. It has one reply for a letter, as SMTP does, so that `DATA` is read here.

    250   stored, or seen before, or discarded for a blocked sender
    550   there is no such address; 552, 554: the letter will never be accepted
    451   the database does not answer; 452: the account is full, or the address had its letters of this hour

Source: RFC 2033; RFC 5321, section 4; RFC 3463.
"""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final

import structlog
from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import Envelope, Session

from tidings.base.errors import InsufficientStorage, InvalidInput, NotFound, StoreUnavailable, TidingsError
from tidings.content.letters import MAX_LETTER_BYTES
from tidings.domain.errors import AccountFull
from tidings.newsletters.model import secret_of
from tidings.newsletters.newsletters import Newsletters, TooManyLetters

log = structlog.get_logger()

NAME: Final = "Tidings"
# RFC 5321, section 4.5.3.1.8: at least so many.
MAX_RECIPIENTS: Final = 100
# Without a command, or for a whole letter with its replies: RFC 5321, section 4.5.3.2.7.
TIMEOUT_S: Final = 300.0
# How long a mail server waits for its turn to send a letter.
TURN_TIMEOUT_S: Final = 60.0
# What is read at once of a line without an end.
_READ_BYTES: Final = 65_536
_COMMAND_BYTES: Final = 4_096

_END: Final = b".\r\n"
_HAS_STATUS: Final = re.compile(r"[245]\d\d[ -](?:[245]\.\d{1,3}\.\d{1,3} )")
_UNKNOWN: Final = "550 5.1.1 There is no such address."
_TOO_LARGE: Final = f"552 5.3.4 This message is too large: at most {MAX_LETTER_BYTES // 2**20} MiB."
_BUSY: Final = "451 4.3.2 Too much is being delivered at the moment: try again shortly."
_FAILED: Final = "451 4.3.0 The message cannot be stored at the moment: try again later."
# By the first class that an error has. Whatever is not named here may be tried again: nothing is lost for it.
_REPLIES: Final[tuple[tuple[type[TidingsError], str], ...]] = (
    (NotFound, "550 5.1.1"),
    (AccountFull, "452 4.2.2"),
    (TooManyLetters, "452 4.3.2"),
    (InsufficientStorage, "452 4.3.1"),
    (InvalidInput, "554 5.2.0"),
)


class LmtpSession(LMTP):
    """One connection of a mail server.

    template: the mail address of the operator with {secret} in it; "" if there is none. turns: how many letters are
    read at the same time. on_begin, on_end: called with the session when its connection begins and ends.
    """

    line_length_limit = _READ_BYTES

    def __init__(
        self,
        newsletters: Newsletters,
        template: str,
        turns: asyncio.Semaphore,
        *,
        on_begin: Callable[[LmtpSession], None],
        on_end: Callable[[LmtpSession], None],
    ) -> None:
        self.is_idle = asyncio.Event()
        """Not set while a letter is being stored: its replies are awaited before the process ends."""
        self.is_idle.set()
        self.has_ended = asyncio.Event()
        self._newsletters = newsletters
        self._template = template
        self._turns = turns
        self._on_begin, self._on_end = on_begin, on_end
        # Addresses of bounces are long. The library changes it, for the whole class otherwise.
        self.command_size_limits = defaultdict(lambda: _COMMAND_BYTES)
        # Without a host name the library would ask a name server for one.
        super().__init__(
            _Hooks(newsletters, template), hostname="localhost", ident=f"{NAME} LMTP", data_size_limit=MAX_LETTER_BYTES,
            enable_SMTPUTF8=True, timeout=TIMEOUT_S, loop=asyncio.get_running_loop(),
        )  # fmt: skip

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._on_begin(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._on_end(self)
        super().connection_lost(error)
        self.has_ended.set()

    def end(self) -> None:
        """Close the connection. The mail server tries again with what had no reply yet."""
        if isinstance(self.transport, asyncio.WriteTransport):
            self.transport.write(b"421 4.3.2 The service is stopping: try again shortly.\r\n")
            self.transport.close()

    async def push(self, status: str | bytes) -> None:
        """Send a reply. The library's own ones get the status code that RFC 2034 wants, in its general form."""
        text = status if isinstance(status, str) else status.decode("utf-8", "replace")
        is_greeting = text.startswith(("220", "250-", "250 ENHANCED", "354"))
        if not is_greeting and text[:1] in "245" and not _HAS_STATUS.match(text):
            text = f"{text[:3]} {text[0]}.0.0{text[3:]}"
        await super().push(text.encode("utf-8", "replace"))

    async def smtp_DATA(self, arg: str | None) -> None:  # noqa: N802 - the library finds commands by their names
        """Read a letter and store it for each recipient that was accepted, with a reply for each, in their order."""
        envelope = self.envelope
        if await self.check_helo_needed("LHLO"):
            return
        if envelope is None or not envelope.rcpt_tos:
            await self.push("503 5.5.1 No recipient was accepted.")
            return
        if arg:
            await self.push("501 5.5.4 Syntax: DATA")
            return
        try:
            async with asyncio.timeout(TURN_TIMEOUT_S):
                await self._turns.acquire()
        except TimeoutError:
            await self.push(_BUSY)
            return
        try:
            await self.push("354 End data with <CR><LF>.<CR><LF>")
            raw = await self._read_letter()
            self.is_idle.clear()
            for recipient in envelope.rcpt_tos:
                await self.push(_TOO_LARGE if raw is None else await self._store(recipient, raw))
        finally:
            self.is_idle.set()
            self._turns.release()
            self.envelope = Envelope()

    async def _read_letter(self) -> bytes | None:
        """Return the letter, or None if it is too large: its rest is read and discarded, as the sender expects."""
        letter, is_begin, is_too_large = bytearray(), True, False
        while True:
            try:
                part = await self._reader.readuntil(b"\r\n")
            except asyncio.LimitOverrunError as error:
                # A part of a long line: mail servers pass on lines of any length.
                part = await self._reader.readexactly(error.consumed)
            if is_begin and part == _END:
                return None if is_too_large else bytes(letter)
            letter += part[1:] if is_begin and part.startswith(b".") else part
            is_begin = part.endswith(b"\r\n")
            if len(letter) > MAX_LETTER_BYTES:
                is_too_large = True
                letter.clear()

    async def _store(self, recipient: str, raw: bytes) -> str:
        """Store a letter, and return the reply for a recipient."""
        try:
            address = await asyncio.to_thread(self._newsletters.address_of, secret_of(recipient, self._template))
            if address is None:
                return _UNKNOWN
            received = await asyncio.to_thread(self._newsletters.receive, address, raw)
        except Exception as error:  # noqa: BLE001 - whatever it is, the mail server keeps the letter
            return _reply_to(error)
        return f"250 2.0.0 {received.delivery.value}"


class _Hooks:
    """What the library calls after it has read a command."""

    def __init__(self, newsletters: Newsletters, template: str) -> None:
        self._newsletters = newsletters
        self._template = template

    async def handle_EHLO(  # noqa: N802 - the library finds hooks by their names
        self, _server: Any, session: Session, _envelope: Envelope, hostname: str, replies: list[str]
    ) -> list[str]:
        """Return the lines of what this server can do."""
        session.host_name = hostname
        return [*(line for line in replies if line.startswith("250-")), "250-PIPELINING", "250 ENHANCEDSTATUSCODES"]

    async def handle_RCPT(  # noqa: N802
        self, _server: Any, _session: Session, envelope: Envelope, recipient: str, _options: list[str]
    ) -> str:
        """Return the reply for a recipient, which is added to the envelope if it is known."""
        if len(envelope.rcpt_tos) >= MAX_RECIPIENTS:
            return "452 4.5.3 Too many recipients."
        try:
            address = await asyncio.to_thread(self._newsletters.address_of, secret_of(recipient, self._template))
        except TidingsError as error:
            return _reply_to(error)
        if address is None:
            return _UNKNOWN
        envelope.rcpt_tos.append(recipient)
        return "250 2.1.5 OK"

    async def handle_exception(self, error: Exception) -> str:
        """Return the reply to a command that failed."""
        return _reply_to(error)


def _reply_to(error: Exception) -> str:
    """Return the reply to an error. The log has its reason; the reply only has what may be told to the sender."""
    if isinstance(error, StoreUnavailable):
        log.warning("letter put off", reason=error.message)
        return _FAILED
    for kind, status in _REPLIES:
        if isinstance(error, kind):
            log.warning("letter refused", reason=error.message, status=status)
            return f"{status} {' '.join(error.message.split())}"
    log.error("letter put off", exc_info=error)
    return _FAILED
