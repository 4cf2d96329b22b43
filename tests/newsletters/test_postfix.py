"""Postfix delivers to a worker by LMTP, configured with the lines of docs/newsletters.md."""

from __future__ import annotations

import re
import shutil
import smtplib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from newsletters.letters import has_address, message
from newsletters.postfix import Postfix, documented, postfix
from newsletters.test_lmtp import eventually, listening
from support.debian import ProgramMissing
from support.people import Person
from support.ports import free_port

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

PAGE = Path(__file__).parents[2] / "docs" / "newsletters.md"


@contextmanager
def mail_server(heading: str, place: str) -> Iterator[Postfix]:
    """Run Postfix with the lines below a heading. place: instead of the documented one."""
    lines = documented(heading, PAGE)
    assert len(lines) >= 3
    try:
        with postfix(*(line.replace("inet:127.0.0.1:2424", place) for line in lines)) as server:
            yield server
    except ProgramMissing as error:
        pytest.skip(str(error))


def secret_of(person: Person, name: str) -> str:
    return has_address(person, name).rpartition("/")[2]


def test_mail_to_a_domain_of_its_own_becomes_entries(alice: Person, bob: Person) -> None:
    port = free_port()
    hers, again, his = (f"{secret_of(*one)}@letters.example.org" for one in ((alice, "A"), (alice, "B"), (bob, "C")))
    raw = message(1, "Tides <post@tides.example>", "Content-Type: text/plain; charset=iso-8859-1")
    with mail_server("#### Postfix, with a domain of its own", f"inet:127.0.0.1:{port}") as server:
        with listening(alice, ("127.0.0.1", port)):
            unknown = f"{'a' * 32}@letters.example.org"
            refused = server.send(raw + b"\n.\n..x H\xf6he\n" + b"y" * 3_000, hers, again, his, unknown)

            assert list(refused) == [unknown]
            code, text = refused[unknown]
            assert (code, b"There is no such address" in text) == (550, True)
            assert eventually(lambda: len(alice.entries()) == len(bob.entries()) == 1), server.log
            assert eventually(lambda: "queue is empty" in server.queue), server.log
        statuses = re.findall(r"dsn=([\d.]+), status=sent \(250 2\.0\.0 (\w+)\)", server.log)
        assert sorted(statuses) == [("2.0.0", "repeated"), ("2.0.0", "stored"), ("2.0.0", "stored")]
        assert "..x Höhe" in alice.entries()[0]["content"]


def test_mail_to_a_mailbox_waits_until_a_worker_listens(alice: Person) -> None:
    hers = f"letters+{secret_of(alice, 'Letters')}@example.org"
    with mail_server("#### Postfix, with one mailbox of a domain", "unix:tidings/lmtp.sock") as server:
        server.send(message(1), hers)
        assert eventually(lambda: "status=deferred" in server.log), server.log
        assert alice.entries() == []

        # As the page has it made: who connects is another user, and has the group of the folder.
        folder = server.queue_folder / "tidings"
        folder.mkdir()
        shutil.chown(folder, group="postfix")
        folder.chmod(0o2750)
        with listening(alice, folder / "lmtp.sock"):
            assert eventually(lambda: len(alice.entries()) == 1), server.log
            with pytest.raises(smtplib.SMTPRecipientsRefused, match="User unknown in local recipient table"):
                server.send(message(2), "nobody-here@example.org")
            assert eventually(lambda: "queue is empty" in server.queue), server.log
