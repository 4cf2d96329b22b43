"""The use cases of mailboxes: those of users, that of this installation, and the rounds in which they are read."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from ipaddress import ip_address
from typing import Any, Final

import structlog
from msgspec import Struct
from msgspec.structs import asdict

from tidings.base.errors import InvalidField, InvalidInput, LocalShortage, NotFound, StoreUnavailable, TidingsError
from tidings.base.messages import Message, encode_message, msg
from tidings.base.times import MINUTE, Instant
from tidings.content.letters import MAX_LETTER_BYTES
from tidings.engine.database import Database
from tidings.net.guard import AddressGuard, Lookup, parse_target
from tidings.net.sockets import Dialer
from tidings.newsletters.imap import claims_store, model, store
from tidings.newsletters.imap.claims_store import CLAIMS
from tidings.newsletters.imap.client import Session, SignInRefused
from tidings.newsletters.imap.errors import MailboxError
from tidings.newsletters.imap.model import Account, AddressFinder, Mailbox
from tidings.newsletters.imap.rounds import ClaimLost, Round, RoundResult
from tidings.newsletters.newsletters import Newsletters
from tidings.services.clock import Clock
from tidings.services.concurrent_changes import repeat_if_concurrent

log = structlog.get_logger()

# Longer than a round may take, with the letter that it stores at its end.
LEASE: Final = 5 * MINUTE
# For each operation with the server.
TIMEOUT_S: Final = 20.0
# A session that is still open then is cut.
CUT_AFTER_S: Final = 150.0
# Rounds at the same time in one process.
PARALLEL: Final = 2
_MAX_ERROR_CHARS: Final = 1_000
_LIMIT_BYTES: Final = model.MAX_ROUND_BYTES + 2 * MAX_LETTER_BYTES
_IN_WORKER: Final = msg("Reading this mailbox failed here. The log of the service says why.")


class SharedMailbox(Struct, frozen=True):
    """The mailbox of this installation. address: mail address with {secret}, by which recipients are found."""

    account: Account
    address: str


class _Line:
    """The connection of a round, which another thread may cut."""

    def __init__(self) -> None:
        self._connection: socket.socket | None = None
        self.is_cut = False

    def hold(self, connection: socket.socket) -> None:
        self._connection = connection
        if self.is_cut:
            self.cut()

    def cut(self) -> None:
        """Have the thread that uses the connection see its end."""
        self.is_cut = True
        if self._connection is not None:
            with suppress(OSError):
                # The method of SSLSocket would take its state from the thread that uses it.
                socket.socket.shutdown(self._connection, socket.SHUT_RDWR)


class Mailboxes:
    """lookup: resolves names; by default as the operating system does. The operator's server may be anywhere."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        newsletters: Newsletters,
        *,
        interval: timedelta,
        allow_private_networks: bool,
        shared: SharedMailbox | None = None,
        timeout_s: float = TIMEOUT_S,
        lookup: Lookup | None = None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._newsletters = newsletters
        self._interval = interval
        self._allow_private_networks = allow_private_networks
        self.shared = shared
        self._finder = AddressFinder(shared.address) if shared else None
        self._timeout_s = timeout_s
        self._guard = AddressGuard(allow_private_networks=allow_private_networks)
        self._dialer = Dialer(self._guard, lookup=lookup)
        self._dialer_of_operator = Dialer(AddressGuard(allow_private_networks=True), lookup=lookup)
        self._threads = ThreadPoolExecutor(PARALLEL, thread_name_prefix="imap")
        self._open: set[_Line] = set()
        self._is_stopping = False

    def close(self) -> None:
        """End rounds that are running."""
        self.cut()
        self._dialer.close()
        self._dialer_of_operator.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    # Of a user

    def find(self, user_id: int) -> Mailbox | None:
        """Return the mailbox of a user; None without one."""
        with self._database.reading() as db:
            return store.get(db, user_id)

    def get(self, user_id: int) -> Mailbox:
        """Return the mailbox of a user. Raises NotFound without one."""
        found = self.find(user_id)
        if found is None:
            raise _no_mailbox()
        return found

    def save(
        self,
        user_id: int,
        *,
        host: str,
        port: int | None,
        has_tls: bool,
        has_starttls: bool,
        username: str,
        password: str | None,
        folder: str,
        marks_seen: bool,
    ) -> Mailbox:
        """Set the mailbox of a user, have it read soon, and return it. Raises InvalidInput.

        port: None for the usual one. password: None for the one that is stored, which only goes where it went before.
        """
        host = self._checked_host(host, has_tls=has_tls)
        if has_starttls and not has_tls:
            raise InvalidField("starttls", msg("STARTTLS begins TLS: ask for both, or for neither."))
        account = Account(
            host=host,
            port=_validate_port(port, has_starttls=has_starttls),
            has_tls=has_tls,
            has_starttls=has_starttls,
            username=model.validate_text("username", username.strip()),
            password=model.validate_text("password", password) if password is not None else "",
            folder=model.validate_text("folder", folder.strip()),
            marks_seen=marks_seen,
        )
        return repeat_if_concurrent(lambda: self._set(user_id, account, keeps_password=password is None))

    def remove(self, user_id: int) -> None:
        """Forget the mailbox of a user. Its letters stay, here and on the server. Raises NotFound."""
        with self._database.writing() as db:
            if not store.remove(db, user_id):
                raise _no_mailbox()

    def _set(self, user_id: int, account: Account, *, keeps_password: bool) -> Mailbox:
        now = self._clock()
        with self._database.writing() as db:
            known = store.get(db, user_id)
            values = asdict(account)
            if keeps_password:
                if known is None or known.sign_in != account.sign_in:
                    raise InvalidField("password", msg("enter the password of this account."))
                values["password"] = known.password
            if known is None:
                store.add(db, user_id, **values, **_unread(now))
            elif known.place != account.place:
                store.change(db, user_id, **values, **_unread(now))
            else:
                store.change(db, user_id, **values, next_poll_at=now, failures=0)
            found = store.get(db, user_id)
        if found is None:
            raise _no_mailbox()
        return found

    def _checked_host(self, host: str, *, has_tls: bool) -> str:
        """Return the name or address of a server. What a name resolves to is checked in each round."""
        host = _validate_host(host)
        if not self._guard.allows_through_proxy(host):
            raise InvalidField("host", self._guard.refusal(host).text)
        if not has_tls and not (self._allow_private_networks and _is_this_machine(host)):
            raise InvalidField(
                "tls", msg("without TLS, connections are only made to this machine, if that is allowed.")
            )
        return host

    def find_shared(self) -> Mailbox | None:
        """Return the mailbox of this installation; None without one, and until a worker has entered it."""
        if self.shared is None:
            return None
        with self._database.reading() as db:
            return claims_store.get_shared(db)

    # In a worker

    def prepare(self) -> None:
        """Enter the mailbox of this installation as it is configured now, or remove it."""
        repeat_if_concurrent(self._prepare)

    def claim(self, worker: str) -> Mailbox | None:
        """Claim a mailbox that is due, and return it."""
        now = self._clock()
        with self._database.writing() as db:
            return CLAIMS.claim(db, worker, now=now, until=Instant(now + LEASE))

    def release_all(self, worker: str) -> int:
        with self._database.writing() as db:
            return CLAIMS.release_all(db, worker)

    async def poll(self, mailbox: Mailbox, worker: str) -> None:
        """Read a claimed mailbox. What goes wrong is stored with it."""
        try:
            result = await self._read(mailbox, worker)
        except ClaimLost:
            log.info("mailbox changed while it was read", mailbox=mailbox.id)
        except (StoreUnavailable, LocalShortage):
            raise
        except TidingsError as error:
            if self._is_stopping:
                return
            log.info("mailbox failed", mailbox=mailbox.id, user_id=mailbox.user_id, reason=error.message)
            await asyncio.to_thread(self._fail, mailbox, worker, error.text, isinstance(error, SignInRefused))
        except Exception:
            log.exception("reading a mailbox crashed", mailbox=mailbox.id)
            await asyncio.to_thread(self._fail, mailbox, worker, _IN_WORKER, False)
        else:
            await asyncio.to_thread(self._succeed, mailbox, worker, result)

    def cut(self) -> None:
        """End the sessions that are open, for good; what their rounds have stored stays."""
        self._is_stopping = True
        for line in [*self._open]:
            line.cut()

    async def _read(self, mailbox: Mailbox, worker: str) -> RoundResult:
        account = self._account(mailbox)
        is_shared = mailbox.user_id is None
        dialer = self._dialer_of_operator if is_shared else self._dialer
        addresses = await dialer.addresses(
            account.host, timeout_s=self._timeout_s, is_loopback_only=not account.has_tls
        )
        round_ = Round(
            self._database,
            self._newsletters,
            mailbox,
            worker,
            now=self._clock(),
            finder=self._finder if is_shared else None,
        )
        line = _Line()

        def run() -> RoundResult:
            has_tls = account.has_tls and not account.has_starttls
            connection = dialer.connect(
                account.host, account.port, addresses, has_tls=has_tls, timeout_s=self._timeout_s
            )
            line.hold(connection)
            with Session(account.host, connection, limit_bytes=_LIMIT_BYTES) as session:
                if account.has_starttls:
                    session.start_tls(secured)
                return round_.run(session, account)

        def secured(plain: socket.socket) -> socket.socket:
            connection = dialer.secure(plain, account.host)
            line.hold(connection)
            return connection

        loop = asyncio.get_running_loop()
        self._open.add(line)
        alarm = loop.call_later(CUT_AFTER_S, line.cut)
        try:
            return await loop.run_in_executor(self._threads, run)
        except MailboxError as error:
            if line.is_cut:
                raise MailboxError(msg("{host} takes too long to answer.", host=account.host)) from error
            raise
        finally:
            alarm.cancel()
            self._open.discard(line)

    def _account(self, mailbox: Mailbox) -> Account:
        if mailbox.user_id is not None:
            return mailbox
        if self.shared is None or self.shared.account.place != mailbox.place:
            # Another worker was started with other settings.
            raise ClaimLost
        return self.shared.account

    def _prepare(self) -> None:
        now = self._clock()
        with self._database.reading() as db:
            known = claims_store.get_shared(db)
        with self._database.writing() as db:
            if self.shared is None:
                if known is not None:
                    claims_store.remove_shared(db)
                return
            values = asdict(self.shared.account) | {"password": ""}
            if known is None:
                claims_store.add_shared(db, **values, **_unread(now))
            elif known.place != self.shared.account.place:
                claims_store.change_shared(db, **values, **_unread(now))

    def _succeed(self, mailbox: Mailbox, worker: str, result: RoundResult) -> None:
        now = self._clock()
        wait = model.wait_after(0, self._interval) if result.is_finished else 0
        values = {
            "polled_at": now,
            "next_poll_at": Instant(now + wait),
            "failures": 0,
            "error": "",
            "error_form": "",
            "letters": mailbox.letters + result.stored,
        }
        self._finish(mailbox, worker, values)
        if result.stored:
            log.info("mailbox read", mailbox=mailbox.id, user_id=mailbox.user_id, stored=result.stored)

    def _fail(self, mailbox: Mailbox, worker: str, problem: Message, is_refused: bool) -> None:
        now, failures = self._clock(), mailbox.failures + 1
        text = problem.english()[:_MAX_ERROR_CHARS]
        values = {
            "polled_at": now,
            "next_poll_at": Instant(now + model.wait_after(failures, self._interval, is_refused=is_refused)),
            "failures": failures,
            "error": text,
            "error_form": encode_message(problem, text),
        }
        self._finish(mailbox, worker, values)

    def _finish(self, mailbox: Mailbox, worker: str, values: dict[str, Any]) -> None:
        """Write the end of a round and release the mailbox, unless the worker does not hold it any more."""
        with self._database.writing() as db:
            claims_store.change_held(db, mailbox.id, worker, claimed_until=None, claimed_by="", **values)


def _unread(now: Instant) -> dict[str, Any]:
    """Return the columns of a mailbox that was never read."""
    return {
        "uid_validity": 0,
        "last_uid": 0,
        "horizon_uid": 0,
        "letters_since": now,
        "deferred": "",
        "polled_at": None,
        "next_poll_at": now,
        "failures": 0,
        "error": "",
        "error_form": "",
        "letters": 0,
    }


def _validate_host(host: str) -> str:
    problem = InvalidField("host", msg("this is not the name of a server, such as imap.example.org."))
    host = host.strip().removeprefix("[").removesuffix("]").lower()
    if not host or len(host) > model.MAX_TEXT_CHARS or {*host} & {*"/\\@?#%[] "}:
        raise problem
    try:
        target = parse_target(f"https://[{host}]/" if ":" in host else f"https://{host}/")
    except InvalidInput as error:
        raise problem from error
    return target.host


def _validate_port(port: int | None, *, has_starttls: bool) -> int:
    if port is None:
        return model.STARTTLS_PORT if has_starttls else model.TLS_PORT
    if not 1 <= port <= 65_535:
        raise InvalidField("port", msg("a port is a number from 1 to 65535."))
    return port


def _is_this_machine(host: str) -> bool:
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost"


def _no_mailbox() -> NotFound:
    return NotFound(msg("You have no mailbox that is read for letters."))
