"""How tests set a mailbox and have it read."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from support.dovecot import Dovecot, ImapAccount
from support.people import Person
from tidings.base.times import Instant
from tidings.net.guard import Lookup
from tidings.newsletters.imap import claims_store, store
from tidings.newsletters.imap.mailboxes import Mailboxes, SharedMailbox
from tidings.newsletters.imap.model import Mailbox
from tidings.newsletters.services import NewsletterServices

PATH = "/v1/newsletters/mailbox"
INTERVAL = timedelta(minutes=5)
_numbers = itertools.count(1)


def account(server: Dovecot, *messages: bytes) -> ImapAccount:
    """Make an account with these messages in its inbox."""
    made = ImapAccount(server, f"user-{next(_numbers)}@mail.example")
    if messages:
        made.append(*messages)
    return made


def has_mailbox(person: Person, account: ImapAccount, **more: Any) -> dict[str, Any]:
    """Set an account as the mailbox of a person."""
    values = {
        "host": "localhost",
        "port": account.server.tls_port,
        "username": account.name,
        "password": account.password,
    }
    found: dict[str, Any] = person.put(PATH, values | more, status=201)
    return found


def mailboxes(person: Person, *, lookup: Lookup | None = None, **options: Any) -> Mailboxes:
    """Return the mailboxes of a process that reads them."""
    services = person.service.services
    values: dict[str, Any] = {"interval": INTERVAL, "allow_private_networks": True, "timeout_s": 60.0} | options
    newsletters = services.of(NewsletterServices).newsletters
    return Mailboxes(services.database, services.clock, newsletters, lookup=lookup, **values)


def due(person: Person) -> Mailbox:
    """Return a person's mailbox, which is claimed for the worker `tests`."""
    services = person.service.services
    with services.database.writing() as db:
        store.change(db, person.id, next_poll_at=Instant(0))
        found = store.get(db, person.id)
    assert found is not None
    while (claimed := services.of(NewsletterServices).mailboxes.claim("tests")) is not None:
        if claimed.id == found.id:
            return claimed
    raise AssertionError("the mailbox cannot be claimed")


def poll(person: Person, *, reader: Mailboxes | None = None, **options: Any) -> dict[str, Any]:
    """Have a person's mailbox read once, as a worker does. Returns its status."""
    reader = reader or mailboxes(person, **options)
    asyncio.run(reader.poll(due(person), "tests"))
    reader.close()
    found: dict[str, Any] = person.get(PATH)
    return found


def poll_shared(person: Person, shared: SharedMailbox) -> Mailbox:
    """Have the mailbox of the installation read once. Returns it afterwards."""
    reader = mailboxes(person, shared=shared)
    reader.prepare()
    database = person.service.services.database
    with database.writing() as db:
        claims_store.change_shared(db, next_poll_at=Instant(0))
    while (claimed := reader.claim("tests")) is not None:
        if claimed.user_id is None:
            asyncio.run(reader.poll(claimed, "tests"))
            break
    reader.close()
    with database.reading() as db:
        found = claims_store.get_shared(db)
    assert found is not None
    return found


def titles(person: Person) -> Sequence[str]:
    return sorted(entry["title"] for entry in person.entries())
