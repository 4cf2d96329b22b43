"""A mail server on the same machine delivers letters by LMTP, and learns for each recipient what became of them."""

from __future__ import annotations

import asyncio
import smtplib
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Self

import psycopg
import pytest
from sqlalchemy import make_url

from newsletters.letters import delivered, has_address, message, senders
from sign_in.test_limits import limit
from support.databases import PostgresDatabases
from support.people import Cast, Person
from support.ports import free_port
from support.running import running_service
from tidings.content.letters import MAX_LETTER_BYTES
from tidings.newsletters import model
from tidings.newsletters.lmtp_listener import LmtpListener, Place
from tidings.newsletters.services import NewsletterServices

TEMPLATE = "letters+{secret}@reader.example"
TIMEOUT_S = 120


def eventually(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + TIMEOUT_S
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


@contextmanager
def listening(person: Person, place: Place) -> Iterator[LmtpListener]:
    """Listen as a worker does, in a thread."""
    newsletters = person.service.services.of(NewsletterServices).newsletters
    listener = LmtpListener(newsletters, place, TEMPLATE)
    loops: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def run() -> None:
        stop = asyncio.Event()
        loops.append((asyncio.get_running_loop(), stop))
        await listener.run(stop)

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    try:
        yield listener
    finally:
        assert eventually(lambda: bool(loops))
        loop, stop = loops[0]
        loop.call_soon_threadsafe(stop.set)
        thread.join(TIMEOUT_S)
        assert not thread.is_alive()


class MailServer:
    """The client: delivers letters as mail servers do."""

    def __init__(self, place: Place) -> None:
        assert eventually(lambda: _accepts(place))
        self._lmtp = (
            smtplib.LMTP(str(place)) if isinstance(place, Path) else smtplib.LMTP(*place, local_hostname="mx.example")
        )
        self._lmtp.command_encoding = "utf-8"
        assert self._lmtp.sock is not None
        self._lmtp.sock.settimeout(TIMEOUT_S)
        self._lmtp.ehlo_or_helo_if_needed()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lmtp.close()

    @property
    def extensions(self) -> dict[str, str]:
        return self._lmtp.esmtp_features

    def send(self, line: str) -> str:
        """Send a command and return the reply."""
        code, text = self._lmtp.docmd(line)
        return f"{code} {text.decode()}"

    def replies(self, raw: bytes, *recipients: str, sender: str = "<bounce+1=x.example@tides.example>") -> list[str]:
        """Deliver a letter, and return the reply for each recipient: to RCPT if that was refused."""
        found = self.begin(*recipients, sender=sender)
        if not any(reply.startswith("250 ") for reply in found):
            assert self.send("DATA").startswith("503 ")
            assert self.send("RSET").startswith("250 ")
            return found
        ends = iter(self.end(raw, sum(reply.startswith("250 ") for reply in found)))
        return [next(ends) if reply.startswith("250 ") else reply for reply in found]

    def begin(self, *recipients: str, sender: str = "<>") -> list[str]:
        """Name the recipients of a letter, and return the reply for each."""
        assert self.send(f"MAIL FROM:{sender} BODY=8BITMIME").startswith("250 ")
        return [self.send(f"RCPT TO:<{one}>") for one in recipients]

    def end(self, raw: bytes, accepted: int = 1) -> list[str]:
        """Send the letter, and return the reply for each recipient that was accepted."""
        assert self.send("DATA").startswith("354 ")
        # Line ends and dots as RFC 5321, section 4.5.2, wants them; the bytes as they are.
        lines = raw.replace(b"\r\n", b"\n").split(b"\n")
        self._lmtp.send(b"\r\n".join(b"." + line if line.startswith(b".") else line for line in lines) + b"\r\n.\r\n")
        return [self.reply() for _ in range(accepted)]

    def reply(self) -> str:
        """Read the next reply."""
        code, text = self._lmtp.getreply()
        return f"{code} {text.decode()}"


def _accepts(place: Place) -> bool:
    with socket.socket(socket.AF_UNIX if isinstance(place, Path) else socket.AF_INET) as probe:
        probe.settimeout(TIMEOUT_S)
        has_connected = probe.connect_ex(str(place) if isinstance(place, Path) else place) == 0
        return has_connected and probe.recv(3) == b"220"


@pytest.fixture
def place(socket_folder: Path) -> Path:
    return socket_folder / "lmtp.sock"


@pytest.fixture
def server(alice: Person, place: Path) -> Iterator[MailServer]:
    with listening(alice, place), MailServer(place) as client:
        yield client


def mailbox(person: Person, name: str = "Letters") -> str:
    """Make an address, and return it as a mail address."""
    return TEMPLATE.replace("{secret}", has_address(person, name).rpartition("/")[2])


def test_a_letter_becomes_an_entry(alice: Person, server: MailServer) -> None:
    replies = server.replies(message(1, body="<p>High water.</p>\n..\n.\nLow water."), mailbox(alice))

    assert replies == ["250 2.0.0 stored"]
    (entry,) = alice.entries()
    assert (entry["title"], entry["feed"]["title"], entry["status"]) == ("High water 1", "Tides", "unread")
    assert entry["content"].split() == ["<p>High", "water.</p>", "..", ".", "Low", "water."]


def test_each_recipient_gets_a_reply_of_its_own(alice: Person, bob: Person, server: MailServer) -> None:
    hers, again, his = mailbox(alice), mailbox(alice, "Again"), mailbox(bob)
    deleted = mailbox(bob, "Deleted")
    (gone,) = [one["id"] for one in bob.get("/v1/newsletters") if one["name"] == "Deleted"]
    bob.delete(f"/v1/newsletters/{gone}")

    replies = server.replies(message(1), hers, deleted, again, "x@reader.example", his, f"{'a' * 32}@reader.example")

    unknown = "550 5.1.1 There is no such address."
    assert replies == ["250 2.0.0 stored", unknown, "250 2.0.0 repeated", unknown, "250 2.0.0 stored", unknown]
    assert [len(person.entries()) for person in (alice, bob)] == [1, 1]


def test_nothing_is_read_if_no_recipient_is_known(alice: Person, server: MailServer) -> None:
    assert server.replies(message(1), "letters@reader.example")[0].startswith("550 5.1.1 ")

    assert server.replies(message(1), mailbox(alice)) == ["250 2.0.0 stored"]


def test_a_letter_that_came_by_http_is_repeated(alice: Person, server: MailServer) -> None:
    path = has_address(alice)
    delivered(alice, path, message(1))

    secret = path.rpartition("/")[2]
    for written in (secret, secret.upper(), f"LETTERS+{secret}", f"other-{secret}"):
        assert server.replies(message(1), f"{written}@elsewhere.example") == ["250 2.0.0 repeated"]


def test_bytes_of_any_kind_arrive_as_they_are(alice: Person, server: MailServer) -> None:
    raw = message(1, "Tides <post@tides.example>", "Content-Type: text/plain; charset=iso-8859-1")

    assert server.replies(raw + b"\nH\xf6he \xe9\n" + b"x" * 200_000, mailbox(alice)) == ["250 2.0.0 stored"]

    (entry,) = alice.entries()
    assert "Höhe é" in entry["content"]
    assert "x" * 200_000 in entry["content"]


@pytest.mark.one_engine
@pytest.mark.parametrize("sender", ["<>", "<SRS0=a=b=x.example=c@forward.example>", "<jörg@tides.example> SMTPUTF8"])
def test_any_sender_may_deliver(sender: str, alice: Person, server: MailServer) -> None:
    assert server.send(f"MAIL FROM:{sender}").startswith("250 ")
    assert server.send("RSET").startswith("250 ")
    assert server.replies(message(1), mailbox(alice), sender="<>") == ["250 2.0.0 stored"]


@pytest.mark.one_engine
@pytest.mark.slow
def test_the_limit_of_size_is_announced_and_enforced(alice: Person, server: MailServer) -> None:
    assert server.extensions["size"] == str(MAX_LETTER_BYTES)
    assert {"pipelining", "8bitmime", "enhancedstatuscodes", "smtputf8"} <= set(server.extensions)
    assert server.send(f"MAIL FROM:<a@tides.example> SIZE={MAX_LETTER_BYTES + 1}").startswith("552 5.")
    hers, other = mailbox(alice), mailbox(alice, "Other")

    large = server.replies(b"Subject: x\n\n" + b"High water.\n" * (MAX_LETTER_BYTES // 12), hers, other)

    assert large == ["552 5.3.4 This message is too large: at most 10 MiB."] * 2
    assert alice.entries() == []
    # The connection goes on.
    assert server.replies(message(1), hers) == ["250 2.0.0 stored"]


@pytest.mark.slow
def test_a_letter_below_the_limit_is_stored(alice: Person, server: MailServer) -> None:
    raw = message(1) + b"\n<p>High water.</p>" * (MAX_LETTER_BYTES // 2 // 19)

    assert server.replies(raw, mailbox(alice)) == ["250 2.0.0 stored"]


@pytest.mark.one_engine
def test_commands_may_be_pipelined(alice: Person, server: MailServer, place: Path) -> None:
    commands = [
        "LHLO mx.example",
        "MAIL FROM:<a@tides.example>",
        f"RCPT TO:<{mailbox(alice)}>",
        "RCPT TO:<x@y>",
        "DATA",
    ]
    with socket.socket(socket.AF_UNIX) as client, client.makefile("rwb") as stream:
        client.connect(str(place))
        stream.write("\r\n".join([*commands, ""]).encode())
        stream.write(message(1) + b"\r\n.\r\nQUIT\r\n")
        stream.flush()
        lines = stream.read().decode().splitlines()

    replies = [line for line in lines[1:] if line[3] != "-"]
    assert [line[:9] for line in replies] == [
        "250 ENHAN", "250 2.0.0", "250 2.1.5", "550 5.1.1", "354 End d", "250 2.0.0", "221 2.0.0",
    ]  # fmt: skip


def test_a_full_hour_is_a_temporary_refusal(alice: Person, server: MailServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "MAX_LETTERS_PER_HOUR", 1)
    hers, other = mailbox(alice), mailbox(alice, "Other")
    assert server.replies(message(1), hers) == ["250 2.0.0 stored"]

    full, stored = server.replies(message(2), hers, other)

    assert full.startswith("452 4.3.2 This address has received 1 letters")
    assert stored == "250 2.0.0 stored"


def test_a_full_account_is_a_temporary_refusal(alice: Person, charlie: Person, server: MailServer) -> None:
    hers = mailbox(alice)
    assert server.replies(message(1), hers) == ["250 2.0.0 stored"]
    limit(charlie, alice, max_entries=1)

    assert server.replies(message(2), hers)[0].startswith("452 4.2.2 ")


@pytest.mark.slow
def test_a_letter_is_put_off_while_the_database_does_not_answer(
    request: pytest.FixtureRequest, tmp_path: Path, place: Path
) -> None:
    if request.config.getoption("--without-postgresql"):
        pytest.skip("an embedded database cannot be taken away from processes that have it open")
    server_url = request.getfixturevalue("postgres_url")
    with (
        closing(PostgresDatabases(server_url)) as databases,
        databases.migrated() as url,
        running_service(url, tmp_path) as service,
        psycopg.connect(server_url, autocommit=True) as administrator,
    ):
        alice = Cast(service).person("alice")
        hers, name = mailbox(alice), make_url(url).database
        with listening(alice, place), MailServer(place) as server:
            server.begin(hers)
            administrator.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
            administrator.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])

            put_off = "451 4.3.0 The message cannot be stored at the moment: try again later."
            assert server.end(message(1)) == [put_off]
            assert server.replies(message(1), hers) == [put_off]

            administrator.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
            assert server.replies(message(1), hers) == ["250 2.0.0 stored"]
        assert eventually(lambda: alice.call("GET", "/v1/entries").status == 200)
        assert len(alice.entries()) == 1


def test_a_blocked_sender_is_no_matter_of_the_mail_server(alice: Person, server: MailServer) -> None:
    hers = mailbox(alice)
    server.replies(message(1), hers)
    alice.put(f"/v1/newsletters/senders/{senders(alice)['Tides']['id']}", {"blocked": True}, status=201)

    assert server.replies(message(2), hers) == ["250 2.0.0 blocked"]


@pytest.mark.one_engine
def test_unknown_commands_are_answered(server: MailServer) -> None:
    assert server.send("EHLO x").startswith("500 5.0.0 ")
    assert server.send("DATA").startswith("503 5.5.1 ")
    assert server.send("RCPT TO:<x@y>").startswith("503 5.0.0 ")
    assert server.send("MAIL FROM:a@tides.example BODY=9").startswith("501 5.0.0 ")
    assert server.send("NOOP").startswith("250 2.0.0 ")


@pytest.mark.one_engine
def test_the_socket_is_for_its_group_and_goes_with_the_listener(alice: Person, place: Path) -> None:
    with listening(alice, place):
        assert eventually(lambda: _accepts(place))
        assert stat.S_IMODE(place.stat().st_mode) == 0o660

    assert not place.exists()


@pytest.mark.one_engine
def test_a_socket_that_a_killed_worker_left_is_replaced(alice: Person, place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(place))
    assert place.is_socket()

    with listening(alice, place), MailServer(place) as server:
        assert server.replies(message(1), mailbox(alice)) == ["250 2.0.0 stored"]


@pytest.mark.one_engine
def test_the_socket_of_another_program_stays(alice: Person, place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(place))
        other.listen()
        inode = place.stat().st_ino

        with listening(alice, place) as listener:
            assert eventually(lambda: "something else is listening there" in listener.problem)

        assert place.stat().st_ino == inode


@pytest.mark.parametrize("is_unix", [True, False])
def test_one_worker_listens_and_another_takes_its_place(is_unix: bool, alice: Person, socket_folder: Path) -> None:
    where: Place = socket_folder / "lmtp.sock" if is_unix else ("127.0.0.1", free_port())
    hers = mailbox(alice)
    with ExitStack() as first:
        first.enter_context(listening(alice, where))
        assert eventually(lambda: _accepts(where))
        with listening(alice, where) as later:
            with MailServer(where) as server:
                assert server.replies(message(1), hers) == ["250 2.0.0 stored"]
            first.close()
            with MailServer(where) as server:
                assert server.replies(message(2), hers) == ["250 2.0.0 stored"]
            assert later.problem == ""


@pytest.mark.one_engine
def test_idle_connections_are_told_when_it_stops(alice: Person, place: Path) -> None:
    with ExitStack() as stack:
        with listening(alice, place):
            server = stack.enter_context(MailServer(place))

        assert server.reply().startswith("421 4.3.2 ")
