"""Workers read mailboxes: one at a time, and a stopped one lets go."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

from newsletters.imap.polling import account
from newsletters.imap.speaker import speaker, usual
from newsletters.letters import message
from support.dovecot import Dovecot
from support.people import PASSWORD
from support.running import environment_for, running
from tidings.base.times import Instant
from tidings.engine.database import Database
from tidings.newsletters.imap import claims_store
from tidings.newsletters.imap.model import Mailbox
from tidings.newsletters.services import NewsletterServices
from tidings.settings import load
from tidings.wiring.services import AllServices, build_services

pytestmark = pytest.mark.slow

TEMPLATE = "news+{secret}@reader.example"
LETTERS = 30


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 240
    while not condition():
        assert time.monotonic() < deadline, "it did not happen within four minutes"
        time.sleep(0.1)


def settings_for(
    database_url: str, folder: Path, port: int, username: str = "ann", password: str = "x"
) -> dict[str, str]:
    return environment_for(
        database_url,
        folder,
        newsletters_address=TEMPLATE,
        newsletters_imap_url=f"imap://{quote(username)}@127.0.0.1:{port}/INBOX",
        newsletters_imap_password=password,
    )


def services_of(database: Database, environment: dict[str, str]) -> AllServices:
    return build_services(database, load(environment, None))


def shared(database: Database) -> Mailbox | None:
    with database.reading() as db:
        return claims_store.get_shared(db)


def letters(database: Database) -> int:
    found = shared(database)
    return found.letters if found else 0


def test_two_workers_take_each_letter_of_the_mailbox_once(
    database_url: str, database: Database, imap_server: Dovecot, tmp_path: Path
) -> None:
    mail = account(imap_server)
    environment = settings_for(database_url, tmp_path, imap_server.port, mail.name, mail.password)
    services = services_of(database, environment)
    user = services.accounts.users.create("alice", PASSWORD)
    address = services.of(NewsletterServices).newsletters.create_address(user.id, "Letters")
    header = f"To: {TEMPLATE.replace('{secret}', address.secret)}"
    mail.append(*(message(number, "Tides <post@tides.example>", header) for number in range(LETTERS)))

    with running("worker", environment, tmp_path), running("worker", environment, tmp_path):
        eventually(lambda: letters(database) == LETTERS)

    (sender,) = services.of(NewsletterServices).newsletters.list_senders(user.id)
    assert sender.letters == LETTERS
    # Without the setting, the mailbox is forgotten, and found again with it.
    bare = environment_for(database_url, tmp_path)
    with running("worker", bare, tmp_path):
        eventually(lambda: shared(database) is None)


def test_a_stopped_worker_leaves_a_server_that_does_not_answer(
    database_url: str, database: Database, tmp_path: Path
) -> None:
    asked: list[bytes] = []

    def silent(tag: bytes, command: bytes) -> bytes:
        asked.append(command)
        return b"" if command.startswith(b"LOGIN") else usual(tag, command)

    with speaker(silent) as port:
        environment = settings_for(database_url, tmp_path, port)
        with running("worker", environment, tmp_path) as worker:
            eventually(lambda: any(command.startswith(b"LOGIN") for command in asked))
            assert worker.stop() == 0

    found = shared(database)
    assert found is not None
    # It was not the fault of the server, and the next worker need not wait for the end of the claim.
    assert (found.failures, found.error) == (0, "")
    mailboxes = services_of(database, environment).of(NewsletterServices).mailboxes
    assert mailboxes.claim("next") == found
    assert mailboxes.claim("another") is None
    with database.writing() as db:
        assert claims_store.CLAIMS.claim(db, "late", now=Instant(2**53), until=Instant(2**53)) == found
