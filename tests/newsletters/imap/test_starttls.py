"""TLS that begins with STARTTLS: nothing secret is sent before it, whatever the server says."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from newsletters.imap.polling import account, has_mailbox, poll, poll_shared, titles
from newsletters.imap.speaker import Script, speaker, usual
from newsletters.imap.test_shared_mailbox import shared
from newsletters.letters import message
from support.dovecot import CERTIFICATE, Dovecot
from support.people import Person

pytestmark = [pytest.mark.slow, pytest.mark.one_engine, pytest.mark.usefixtures("trusts_localhost")]

REFUSED = "localhost does not offer STARTTLS at this port"
OFFER = b"* CAPABILITY IMAP4rev1 STARTTLS\r\n"


def polled(person: Person, port: int) -> str:
    """Have a mailbox with STARTTLS read once. Returns the error."""
    values = {"host": "localhost", "port": port, "starttls": True, "username": "ann", "password": "pass-8c1f"}
    person.put("/v1/newsletters/mailbox", values, status=201)
    return str(poll(person)["error"])


def heard(person: Person, script: Script, greeting: bytes = b"* OK ready\r\n") -> tuple[str, bytes]:
    """Have a mailbox of a server without TLS read once. Returns the error, and what the server was sent."""
    commands: list[bytes] = []

    def listening(tag: bytes, command: bytes) -> bytes | None:
        commands.append(command)
        return script(tag, command)

    with speaker(listening, greeting) as port:
        return polled(person, port), b"\n".join(commands)


def offering(answer: bytes) -> Script:
    """Return a script that offers STARTTLS, and answers it so. answer: its {tag} is replaced."""

    def script(tag: bytes, command: bytes) -> bytes:
        if command.startswith(b"CAPABILITY"):
            return OFFER + tag + b" OK done\r\n"
        return answer.replace(b"{tag}", tag) if command.startswith(b"STARTTLS") else usual(tag, command)

    return script


def test_a_real_server_is_read_over_starttls(alice: Person, imap_server: Dovecot) -> None:
    mail = account(imap_server, message(1))
    made = has_mailbox(alice, mail, port=imap_server.port, starttls=True)

    assert (made["tls"], made["starttls"]) == (True, True)
    assert poll(alice)["error"] == ""
    assert titles(alice) == ["High water 1"]
    # The test itself has put the letter there without TLS.
    assert [", TLS," in line for line in imap_server.log.splitlines() if f"Login: user=<{mail.name}>" in line] == [
        False,
        True,
    ]


def test_the_mailbox_of_the_service_is_read_over_starttls(alice: Person, imap_server: Dovecot) -> None:
    mail = account(imap_server, message(1))

    found = poll_shared(alice, shared(mail, port=imap_server.port, has_starttls=True))

    assert (found.has_starttls, found.error) == (True, "")


def test_the_usual_port_follows_from_starttls(alice: Person) -> None:
    values = {"host": "imap.example.org", "username": "ann", "password": "x"}
    for starttls, port in ((True, 143), (False, 993)):
        assert alice.put("/v1/newsletters/mailbox", values | {"starttls": starttls}, status=201)["port"] == port


@pytest.mark.parametrize(
    "script",
    [usual, offering(b"{tag} NO not today\r\n"), offering(b"{tag} BAD what\r\n")],
    ids=["not offered", "refused", "unknown"],
)
def test_a_server_without_starttls_gets_no_password(script: Script, alice: Person) -> None:
    error, commands = heard(alice, script)

    assert REFUSED in error
    assert b"LOGIN" not in commands
    assert b"8c1f" not in commands


@pytest.mark.parametrize(
    "answer",
    [b"{tag} OK begin\r\n* OK not TLS\r\n", b"{tag} OK begin\r\n{tag} OK [CAPABILITY IMAP4rev1] done\r\n", b""],
    ids=["text instead of TLS", "answers sent ahead", "end"],
)
def test_a_server_that_does_not_begin_tls_gets_no_password(answer: bytes, alice: Person) -> None:
    script = offering(answer)
    error, commands = heard(alice, lambda tag, command: script(tag, command) or None)

    assert error
    assert b"LOGIN" not in commands
    assert b"8c1f" not in commands


def test_a_greeting_that_says_signed_in_does_not_spare_tls(alice: Person) -> None:
    error, commands = heard(alice, offering(b"{tag} OK begin\r\n"), greeting=b"* PREAUTH welcome\r\n")

    assert REFUSED in error
    assert b"EXAMINE" not in commands


def test_a_certificate_for_another_name_is_refused(alice: Person, imap_server: Dovecot) -> None:
    async def lookup(_host: str) -> list[str]:
        return ["127.0.0.1"]

    has_mailbox(alice, account(imap_server, message(1)), host="imap.example.org", port=imap_server.port, starttls=True)

    assert "imap.example.org failed: Hostname mismatch" in poll(alice, lookup=lookup)["error"]
    assert alice.entries() == []


@contextmanager
def injecting(injected: bytes, commands: list[bytes]) -> Iterator[int]:
    """A server that begins TLS, after somebody on the way has put a text in front of it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)

    def serve() -> None:
        with suppress(OSError):
            connection, _ = listener.accept()
            connection.sendall(b"* OK ready\r\n")
            secure = connection
            while line := _line(secure):
                tag, _, command = line.partition(b" ")
                commands.append(command)
                if command == b"CAPABILITY":
                    answer = OFFER if secure is connection else b"* CAPABILITY IMAP4rev1 LOGINDISABLED\r\n"
                    secure.sendall(answer + tag + b" OK done\r\n")
                elif command == b"STARTTLS":
                    secure.sendall(injected + tag + b" OK begin\r\n")
                    secure = context.wrap_socket(connection, server_side=True)
                else:
                    secure.sendall(usual(tag, command))
            secure.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield int(listener.getsockname()[1])
        thread.join(60)


def _line(connection: socket.socket) -> bytes:
    """Read a line byte by byte, so that nothing of the handshake is taken."""
    line = b""
    while not line.endswith(b"\r\n") and (byte := connection.recv(1)):
        line += byte
    return line.strip()


def test_what_was_said_before_tls_is_forgotten(alice: Person) -> None:
    commands: list[bytes] = []
    with injecting(b"* OK [UIDVALIDITY 666] x\r\n* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\n", commands) as port:
        polled(alice, port)

    assert commands[:3] == [b"CAPABILITY", b"STARTTLS", b"CAPABILITY"]
    # Over TLS, the server did not offer AUTHENTICATE PLAIN.
    assert commands[3].startswith(b"LOGIN ")
