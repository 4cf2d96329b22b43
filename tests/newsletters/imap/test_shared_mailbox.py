"""The mailbox of the installation: the addresses in the headers of a message say whose it is."""

from __future__ import annotations

from typing import Any

import pytest

from newsletters.imap.polling import account, poll_shared, titles
from newsletters.letters import message
from support.dovecot import Dovecot, ImapAccount
from support.people import Person
from tidings.newsletters import model as newsletters_model
from tidings.newsletters.imap.mailboxes import SharedMailbox
from tidings.newsletters.imap.model import Account

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("trusts_localhost")]

TEMPLATE = "news+{secret}@reader.example"


def shared(mail: ImapAccount, **more: Any) -> SharedMailbox:
    values: dict[str, Any] = {
        "host": "localhost",
        "port": mail.server.tls_port,
        "has_tls": True,
        "has_starttls": False,
        "username": mail.name,
        "password": mail.password,
        "folder": "INBOX",
        "marks_seen": False,
    }
    return SharedMailbox(Account(**(values | more)), TEMPLATE)


def address_of(person: Person, **more: object) -> str:
    path = str(person.post("/v1/newsletters", {"name": "Letters", **more})["post_path"])
    return TEMPLATE.replace("{secret}", path.rpartition("/")[2])


def to(number: int, *headers: str) -> bytes:
    return message(number, "Tides <post@tides.example>", *headers)


@pytest.mark.parametrize(
    "header",
    [
        "To: Letters <{}>",
        "Cc: a@b.example, {}",
        "Delivered-To: {}",
        "X-Original-To: {}",
        "Envelope-To: {}",
        "Received: from a by b for <{}>; Fri, 20 Nov 2026 07:30:00 +0000",
    ],
)
def test_a_message_goes_to_the_user_whose_address_its_headers_name(
    header: str, alice: Person, bob: Person, imap_server: Dovecot
) -> None:
    address_of(bob)
    # Servers may change the case of an address.
    mail = account(imap_server, to(1, header.format(address_of(alice).upper())))

    found = poll_shared(alice, shared(mail))

    assert (found.error, found.letters) == ("", 1)
    assert (titles(alice), titles(bob)) == (["High water 1"], [])
    (address,) = alice.get("/v1/newsletters")
    assert address["letters"] == 1


def test_a_message_for_two_users_goes_to_both(alice: Person, bob: Person, imap_server: Dovecot) -> None:
    both = f"To: {address_of(alice)}, {address_of(bob)}"

    assert poll_shared(alice, shared(account(imap_server, to(1, both)))).letters == 2
    assert titles(alice) == titles(bob) == ["High water 1"]


def test_other_messages_are_left_alone_and_not_looked_at_again(alice: Person, imap_server: Dovecot) -> None:
    wrong = address_of(alice).replace("reader.example", "reader.example.org")
    unknown = TEMPLATE.replace("{secret}", "a" * 32)
    mail = account(imap_server, to(1), to(2, f"To: {wrong}"), to(3, f"To: {unknown}"))
    settings = shared(mail, marks_seen=True)

    found = poll_shared(alice, settings)

    assert (found.error, found.letters, found.last_uid) == ("", 0, 3)
    assert mail.flags() == ["", "", ""]
    mail.append(to(4, f"To: {address_of(alice)}"))
    assert poll_shared(alice, settings).letters == 1
    assert mail.flags() == ["", "", "", "\\Seen"]


def test_a_letter_that_a_user_cannot_take_now_waits_and_holds_up_no_other_one(
    alice: Person, bob: Person, imap_server: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(newsletters_model, "MAX_LETTERS_PER_HOUR", 1)
    hers, his = f"To: {address_of(alice)}", f"To: {address_of(bob)}"
    settings = shared(account(imap_server, to(1, hers), to(2, hers), to(3, his)))

    found = poll_shared(alice, settings)

    assert (found.error, found.letters, found.deferred_uids, found.last_uid) == ("", 2, [2], 3)
    assert poll_shared(alice, settings).deferred_uids == [2]
    monkeypatch.setattr(newsletters_model, "MAX_LETTERS_PER_HOUR", 300)
    assert poll_shared(alice, settings).deferred_uids == []
    assert (titles(alice), titles(bob)) == (["High water 1", "High water 2"], ["High water 3"])


def test_another_mailbox_in_the_settings_begins_anew(alice: Person, imap_server: Dovecot) -> None:
    address = f"To: {address_of(alice)}"
    poll_shared(alice, shared(account(imap_server, to(1, address), to(2, address))))

    found = poll_shared(alice, shared(account(imap_server, to(3, address))))

    assert (found.last_uid, len(titles(alice))) == (1, 3)
    # Its password is in the settings alone.
    assert found.password == ""
