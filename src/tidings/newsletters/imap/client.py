"""A session with an IMAP server (RFC 3501), read with limits: the server is as untrusted as a letter.

The standard library speaks the protocol, over a socket that the address guard has opened. It would read lines and
literals of any length, for as long as the server sends: here every byte counts, and `cut` ends a session from another
thread.
"""

from __future__ import annotations

import imaplib
import re
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, Final, Self

from msgspec import Struct

from tidings.base.messages import msg
from tidings.content.letters import MAX_LETTER_BYTES
from tidings.newsletters.imap.errors import MailboxError
from tidings.newsletters.imap.model import encode_folder, quote

# A list of folder contents is one line.
_MAX_LINE_BYTES: Final = 2**20
_CHUNK: Final = 50
_HEADERS: Final = (
    "TO CC DELIVERED-TO X-DELIVERED-TO X-ORIGINAL-TO X-FORWARDED-TO ENVELOPE-TO X-ENVELOPE-TO X-RCPT-TO RECEIVED"
)
_UID: Final = re.compile(rb"\bUID (\d+)", re.IGNORECASE)
_SIZE: Final = re.compile(rb"\bRFC822\.SIZE (\d+)", re.IGNORECASE)
_QUOTED: Final = re.compile(rb'\bBODY\[[^\]]*\](?:<\d+>)? "((?:[^"\\]|\\.)*)"', re.IGNORECASE | re.DOTALL)


class SignInRefused(MailboxError):
    """The server does not accept user name and password."""


class FolderState(Struct, frozen=True):
    """A folder when it was opened."""

    uid_validity: int
    """UIDs mean something only together with this number."""
    uid_next: int
    """Every message that is there now has a smaller UID."""


class Described(Struct, frozen=True):
    """A message that was not fetched yet."""

    size_bytes: int
    headers: bytes
    """Those that name recipients."""


class _Imap(imaplib.IMAP4):
    """The protocol over a given socket. limit_bytes: of everything that the server sends."""

    def __init__(self, connection: socket.socket, limit_bytes: int) -> None:
        self._given = connection
        self._left = limit_bytes
        super().__init__()

    def open(self, host: str = "", port: int = 0, timeout: float | None = None) -> None:  # noqa: ARG002
        self.host, self.port = host, port
        self._use(self._given)

    def read(self, size: int) -> bytes:
        if size > MAX_LETTER_BYTES + 1:
            raise _TooMuch
        self._spend(size)
        data = self._stream.read(size)
        if len(data) < size:
            raise self.abort("the connection ended")
        return data

    def readline(self) -> bytes:
        line = self._stream.readline(_MAX_LINE_BYTES + 1)
        if len(line) > _MAX_LINE_BYTES:
            raise _TooMuch
        self._spend(len(line))
        return line

    def send(self, data: Any) -> None:
        self.sock.sendall(data)

    def shutdown(self) -> None:
        self._stream.close()
        self.sock.close()

    def use_tls(self, secure: Callable[[socket.socket], socket.socket]) -> None:
        """Continue over TLS. Raises `error` if the server refuses that.

        What it has said in the clear, with its answer or before, is forgotten: anybody may have written it.
        """
        kind, _ = self.xatom("STARTTLS")
        if kind != "OK":
            raise self.error("STARTTLS refused")
        self._stream.close()
        self._use(secure(self.sock))
        self.untagged_responses.clear()
        _, lines = self.capability()
        self.capabilities = tuple(lines[-1].decode("ascii", "replace").upper().split())

    def _use(self, connection: socket.socket) -> None:
        self.sock = connection
        self._stream = connection.makefile("rb")

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise _TooMuch


class _TooMuch(Exception):
    """The server sent more than it may."""


class Session:
    """A connection to the server of a mailbox, for one thread. It begins when it is entered.

    connection: a socket with a timeout. limit_bytes: of everything that the server sends; more is an error.
    Every operation raises MailboxError.
    """

    def __init__(self, host: str, connection: socket.socket, *, limit_bytes: int) -> None:
        self._host = host
        self._connection = connection
        self._limit_bytes = limit_bytes
        self._imap: _Imap

    def __enter__(self) -> Self:
        try:
            with self._translated():
                self._imap = _Imap(self._connection, self._limit_bytes)
        except BaseException:
            self._connection.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Without waiting for an answer, if something went wrong. Closing the folder would remove what is marked.
        with suppress(Exception):
            if kind is None:
                self._imap.logout()
        with suppress(OSError):
            self._imap.shutdown()

    def start_tls(self, secure: Callable[[socket.socket], socket.socket]) -> None:
        """Continue over TLS, before anything secret is sent. secure: makes the secure connection of the open one.

        Raises MailboxError if the server does not offer STARTTLS, and what `secure` raises.
        """
        missing = msg(
            "{host} does not offer STARTTLS at this port: nothing was sent to it. Use its port with TLS, usually 993.",
            host=self._host,
        )
        with self._translated():
            if "STARTTLS" not in self._imap.capabilities:
                raise MailboxError(missing)
            try:
                self._imap.use_tls(secure)
            except imaplib.IMAP4.abort:
                raise
            except imaplib.IMAP4.error as error:
                raise MailboxError(missing) from error

    def sign_in(self, username: str, password: str) -> None:
        """Sign in, by AUTHENTICATE PLAIN (RFC 4616) if the server offers it. Raises SignInRefused."""
        refusal = msg(
            "{host} does not accept this user name and password. Some services want a separate password for each"
            " program.",
            host=self._host,
        )
        with self._translated():
            try:
                if "AUTH=PLAIN" in self._imap.capabilities:
                    self._imap.authenticate("PLAIN", lambda _: f"\0{username}\0{password}".encode())
                elif username.isascii() and password.isascii():
                    self._imap.login(quote(username), password)
                else:
                    raise SignInRefused(
                        msg("{host} takes only ASCII characters in user name and password.", host=self._host)
                    )
            except imaplib.IMAP4.abort:
                raise
            except imaplib.IMAP4.error as error:
                if "[UNAVAILABLE]" in str(error).upper():
                    raise MailboxError(msg("{host} cannot check passwords at the moment.", host=self._host)) from error
                raise SignInRefused(refusal) from error

    def open_folder(self, folder: str, *, may_write: bool) -> FolderState:
        """Open a folder. may_write: messages will be marked."""
        with self._translated():
            try:
                kind, _ = self._imap.select(encode_folder(folder), readonly=not may_write)
            except imaplib.IMAP4.readonly as error:
                raise MailboxError(
                    msg("The folder {folder} is read-only: letters cannot be marked as seen there.", folder=folder)
                ) from error
            if kind != "OK":
                raise MailboxError(
                    msg("There is no folder {folder} at {host}, or it cannot be read.", folder=folder, host=self._host)
                )
            return FolderState(self._number("UIDVALIDITY"), self._number("UIDNEXT"))

    def search(self, first_uid: int, last_uid: int | None, since: str = "") -> list[int]:
        """Return the UIDs from first_uid to last_uid in ascending order, all of them if last_uid is None.

        since: only messages that arrived on this day or later, as in "28-Oct-2026".
        """
        criteria = ["UID", f"{first_uid}:{'*' if last_uid is None else last_uid}", *(("SINCE", since) if since else ())]
        with self._translated():
            kind, data = self._imap.uid("SEARCH", *criteria)
            self._check(kind)
            found = {int(word) for line in data if isinstance(line, bytes) for word in line.split()}
        # `n:*` names the last message even if its UID is smaller than n.
        return sorted(uid for uid in found if uid >= first_uid and (last_uid is None or uid <= last_uid))

    def describe(self, uids: Sequence[int], *, with_headers: bool) -> dict[int, Described]:
        """Return size and recipients of messages by UID. What has gone in between is not among them."""
        fields = f"(UID RFC822.SIZE BODY.PEEK[HEADER.FIELDS ({_HEADERS})])" if with_headers else "(UID RFC822.SIZE)"
        found = {}
        for start in range(0, len(uids), _CHUNK):
            for text, content in self._fetch(uids[start : start + _CHUNK], fields):
                uid, size = _UID.search(text), _SIZE.search(text)
                if uid and size:
                    found[int(uid[1])] = Described(int(size[1]), content)
        return found

    def fetch(self, uid: int, max_bytes: int) -> bytes | None:
        """Return the first bytes of a message, without marking it; None if it has gone."""
        for text, content in self._fetch([uid], f"(UID BODY.PEEK[]<0.{max_bytes}>)"):
            number = _UID.search(text)
            if number and int(number[1]) == uid and b"BODY[" in text.upper():
                return content[:max_bytes]
        return None

    def mark_seen(self, uid: int) -> None:
        with self._translated():
            self._imap.uid("STORE", str(uid), "+FLAGS.SILENT", "(\\Seen)")

    def _fetch(self, uids: Sequence[int], fields: str) -> Iterator[tuple[bytes, bytes]]:
        """Yield what the server says about each message, and the content of it that was asked for."""
        with self._translated():
            kind, data = self._imap.uid("FETCH", ",".join(map(str, uids)), fields)
            self._check(kind)
        text, content = b"", b""
        for item in data:
            if isinstance(item, tuple):
                text, content = text + item[0], content + item[1]
            elif isinstance(item, bytes):
                text += item
                yield text, content or _quoted(text)
                text, content = b"", b""

    def _number(self, name: str) -> int:
        _, values = self._imap.response(name)
        if not values or not isinstance(values[-1], bytes) or not values[-1].isdigit():
            raise MailboxError(
                msg("{host} does not number its messages, so that they cannot be told apart.", host=self._host)
            )
        return int(values[-1])

    def _check(self, kind: str) -> None:
        if kind != "OK":
            raise MailboxError(msg("{host} refuses to list or send messages.", host=self._host))

    @contextmanager
    def _translated(self) -> Iterator[None]:
        host = self._host
        try:
            yield
        except _TooMuch as error:
            raise MailboxError(msg("{host} sends more than was asked for.", host=host)) from error
        except TimeoutError as error:
            raise MailboxError(msg("{host} takes too long to answer.", host=host)) from error
        except (imaplib.IMAP4.abort, OSError) as error:
            raise MailboxError(msg("{host} broke off the connection.", host=host)) from error
        except (imaplib.IMAP4.error, ValueError, LookupError, TypeError, AttributeError) as error:
            raise MailboxError(msg("{host} does not answer as an IMAP server does.", host=host)) from error


def _quoted(text: bytes) -> bytes:
    found = _QUOTED.search(text)
    return re.sub(rb"\\(.)", rb"\1", found[1]) if found else b""
