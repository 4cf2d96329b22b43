"""Whatever a client sends by LMTP, the listener goes on, and takes the next letter of another one."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from newsletters.letters import message
from newsletters.test_lmtp import TIMEOUT_S, MailServer, listening, mailbox
from support.people import Person

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

COMMANDS = (
    b"LHLO mx.example", b"LHLO", b"EHLO x", b"HELO", b"MAIL FROM:<>", b"MAIL FROM:<a@b.example> SIZE=10 BODY=8BITMIME",
    b"MAIL FROM:<a@b.example> SIZE=99999999999", b"MAIL FROM:<a@b", b"RCPT TO:<{address}>", b"RCPT TO:<x@y>", b"RCPT",
    b"RCPT TO:<\xff\xfe@x>", b"DATA", b"DATA x", b".", b"..", b"RSET", b"NOOP", b"VRFY <a@b>", b"HELP",
    b"AUTH PLAIN AA==", b"STARTTLS", b"BDAT 10 LAST", b"QUIT", b"Subject: x", b"", b"x" * 70_000,
)  # fmt: skip
LINES = st.lists(st.one_of(st.sampled_from(COMMANDS), st.binary(max_size=80)), max_size=12)


def test_no_client_ends_it(alice: Person, socket_folder: Path) -> None:
    place = socket_folder / "lmtp.sock"
    hers = mailbox(alice)

    with listening(alice, place), MailServer(place) as server:
        server.replies(message(1), hers)

        @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
        @given(lines=LINES, end=st.sampled_from([b"\r\n", b"\n", b""]))
        def check(lines: list[bytes], end: bytes) -> None:
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(TIMEOUT_S)
                client.connect(str(place))
                with suppress(BrokenPipeError, ConnectionResetError):
                    raw = b"\r\n".join([b"LHLO mx.example", *lines]).replace(b"{address}", hers.encode())
                    client.sendall(raw + end)
                    client.shutdown(socket.SHUT_WR)
                    while client.recv(65_536):
                        pass
            assert server.replies(message(1), hers) == ["250 2.0.0 repeated"]

        check()
