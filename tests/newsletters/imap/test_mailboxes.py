"""Letters in a folder of a user's mailbox become entries, each once; the server is Dovecot."""

from __future__ import annotations

import asyncio

import pytest

from newsletters.imap.polling import account, due, has_mailbox, mailboxes, poll, titles
from newsletters.letters import delivered, has_address, message
from support.dovecot import Dovecot
from support.people import Person
from tidings.content.letters import MAX_LETTER_BYTES
from tidings.newsletters.imap import model, store

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("trusts_localhost")]


def test_letters_of_a_mailbox_become_entries_of_their_senders_feeds(alice: Person, imap_server: Dovecot) -> None:
    has_mailbox(alice, account(imap_server, message(1), message(2), message(3, "Winds <post@winds.example>")))

    status = poll(alice)

    assert (status["error"], status["failures"], status["letters"]) == ("", 0, 3)
    assert status["polled_at"] < status["next_poll_at"]
    assert titles(alice) == ["High water 1", "High water 2", "High water 3"]
    assert sorted(one["name"] for one in alice.get("/v1/newsletters/senders")) == ["Tides", "Winds"]


def test_each_round_takes_what_is_new(alice: Person, imap_server: Dovecot) -> None:
    mail = account(imap_server, message(1))
    has_mailbox(alice, mail)
    poll(alice)
    assert poll(alice)["letters"] == 1
    mail.append(message(2))

    assert poll(alice)["letters"] == 2
    assert titles(alice) == ["High water 1", "High water 2"]


def test_a_copy_in_the_mailbox_of_what_was_delivered_is_not_stored_again(alice: Person, imap_server: Dovecot) -> None:
    delivered(alice, has_address(alice), message(1))
    has_mailbox(alice, account(imap_server, message(1), message(1)))

    assert (poll(alice)["letters"], len(alice.entries())) == (0, 1)


def test_the_mailbox_is_left_as_it_was(alice: Person, imap_server: Dovecot) -> None:
    mail = account(imap_server, message(1), message(2))
    has_mailbox(alice, mail)

    poll(alice)

    assert mail.flags() == ["", ""]


def test_letters_are_marked_as_seen_if_the_user_wants_that(alice: Person, imap_server: Dovecot) -> None:
    mail = account(imap_server, message(1), message(2))
    has_mailbox(alice, mail, mark_seen=True)

    assert poll(alice)["letters"] == 2
    assert mail.flags() == ["\\Seen", "\\Seen"]


def test_the_first_round_takes_the_letters_of_the_last_30_days(alice: Person, imap_server: Dovecot) -> None:
    mail = account(imap_server)
    mail.append(message(1), days_ago=90)
    mail.append(message(2), days_ago=20)
    mail.append(message(3), days_ago=60)
    has_mailbox(alice, mail)
    poll(alice)
    assert titles(alice) == ["High water 2"]

    # What is put there afterwards is meant to be read, whatever its age.
    mail.append(message(4), days_ago=90)
    poll(alice)

    assert titles(alice) == ["High water 2", "High water 4"]


def test_a_large_folder_is_read_in_several_rounds(
    alice: Person, imap_server: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "MAX_MESSAGES", 2)
    mail = account(imap_server)
    mail.append(message(1), days_ago=60)
    mail.append(*(message(number) for number in range(2, 7)))
    has_mailbox(alice, mail)

    statuses = [poll(alice) for _ in range(3)]

    assert [one["letters"] for one in statuses] == [2, 4, 5]
    # The next round begins at once.
    assert [one["polled_at"] == one["next_poll_at"] for one in statuses] == [True, True, False]
    assert poll(alice)["letters"] == 5


def test_a_round_fetches_a_limited_number_of_bytes(
    alice: Person, imap_server: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "MAX_ROUND_BYTES", 3_000)
    has_mailbox(alice, account(imap_server, *(message(number, body="x" * 1_500) for number in range(3))))

    assert [poll(alice)["letters"] for _ in range(3)] == [1, 2, 3]


def test_a_letter_that_is_too_large_is_kept_in_part(alice: Person, imap_server: Dovecot) -> None:
    large = message(1, body="High water at noon. " * (MAX_LETTER_BYTES // 20))
    has_mailbox(alice, account(imap_server, large, message(2)))

    assert poll(alice)["letters"] == 2
    (entry,) = [one for one in alice.entries() if one["title"] == "High water 1"]
    assert "too large to be fetched" in entry["content"]
    assert "High water at noon." in entry["content"]
    assert len(entry["content"]) < 200_000


def test_a_message_that_cannot_be_read_is_kept_as_it_came(alice: Person, imap_server: Dovecot) -> None:
    raw = b"From: Odd <odd@tides.example>\r\nSubject: Odd\r\n" + b"X-A: b\r\n" * 6_000 + b"\r\n<b>High</b> water"
    has_mailbox(alice, account(imap_server, raw, b"\r\n", b"no headers"))

    assert poll(alice)["letters"] == 3
    assert "&lt;b&gt;High&lt;/b&gt; water" in next(one for one in alice.entries() if one["title"] == "Odd")["content"]


def test_a_folder_that_was_made_again_is_read_again_and_nothing_is_stored_twice(
    alice: Person, imap_server: Dovecot
) -> None:
    mail = account(imap_server)
    mail.create("News")
    mail.append(message(1), message(2), folder="News")
    has_mailbox(alice, mail, folder="News")
    poll(alice)
    before = due(alice).uid_validity
    mail.delete("News")
    mail.create("News")
    mail.append(message(2), message(3), folder="News")

    assert poll(alice)["letters"] == 3
    assert due(alice).uid_validity != before
    assert titles(alice) == ["High water 1", "High water 2", "High water 3"]


@pytest.mark.one_engine
@pytest.mark.parametrize(
    ("name", "encoded"), [("Übersicht & mehr", '"&ANw-bersicht &- mehr"'), ('a "b" \\c', '"a \\"b\\" \\\\c"')]
)
def test_folders_may_have_any_name(name: str, encoded: str, alice: Person, imap_server: Dovecot) -> None:
    mail = account(imap_server)
    mail.create(encoded)
    mail.append(message(1), folder=encoded)
    has_mailbox(alice, mail, folder=name)

    assert (poll(alice)["error"], len(alice.entries())) == ("", 1)


def test_what_is_wrong_is_said_in_plain_words_and_tried_again_later(alice: Person, imap_server: Dovecot) -> None:
    mail = account(imap_server, message(1))
    has_mailbox(alice, mail, password="wrong")
    refused = poll(alice)
    has_mailbox(alice, mail, folder="Nowhere")
    missing = poll(alice)

    assert refused["error"].startswith("localhost does not accept this user name and password.")
    assert refused["failures"] == 1
    assert missing["error"] == "There is no folder Nowhere at localhost, or it cannot be read."
    assert poll(alice)["failures"] == 2
    has_mailbox(alice, mail)
    assert (poll(alice)["error"], poll(alice)["failures"]) == ("", 0)


@pytest.mark.one_engine
def test_a_certificate_that_is_not_trusted_is_refused(
    alice: Person, imap_server: Dovecot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    has_mailbox(alice, account(imap_server, message(1)))

    status = poll(alice)

    assert status["error"].startswith("The secure connection to localhost failed: self")
    assert alice.entries() == []


@pytest.mark.one_engine
def test_the_certificate_has_to_be_of_the_server(alice: Person, imap_server: Dovecot) -> None:
    async def lookup(_host: str) -> list[str]:
        return ["127.0.0.1"]

    has_mailbox(alice, account(imap_server, message(1)), host="imap.example.org")

    assert "imap.example.org failed: Hostname mismatch" in poll(alice, lookup=lookup)["error"]


@pytest.mark.one_engine
def test_without_tls_only_this_machine_is_reached(alice: Person, imap_server: Dovecot) -> None:
    async def lookup(_host: str) -> list[str]:
        return ["192.168.7.7"]

    mail = account(imap_server, message(1))
    has_mailbox(alice, mail, port=imap_server.port, tls=False)
    assert poll(alice)["letters"] == 1

    assert "needs TLS" in poll(alice, lookup=lookup)["error"]


@pytest.mark.one_engine
def test_addresses_of_the_private_network_are_refused_whatever_their_name(alice: Person, imap_server: Dovecot) -> None:
    async def lookup(_host: str) -> list[str]:
        return ["127.0.0.1", "10.0.0.7", "::1"]

    has_mailbox(alice, account(imap_server, message(1)), host="imap.example.org")

    status = poll(alice, allow_private_networks=False, lookup=lookup)

    assert "imap.example.org leads into a private or local network" in status["error"]
    assert alice.entries() == []


def test_a_round_of_a_mailbox_that_was_changed_meanwhile_stores_nothing(alice: Person, imap_server: Dovecot) -> None:
    mail = account(imap_server, message(1))
    has_mailbox(alice, mail)
    claimed, reader = due(alice), mailboxes(alice)
    has_mailbox(alice, mail, folder="Other")

    asyncio.run(reader.poll(claimed, "tests"))
    reader.close()

    assert alice.entries() == []
    with alice.service.services.database.reading() as db:
        found = store.get(db, alice.id)
    assert found is not None
    assert (found.last_uid, found.error, found.folder) == (0, "", "Other")


def test_a_full_account_loses_nothing(alice: Person, imap_server: Dovecot) -> None:
    category = alice.get("/v1/categories")[0]["id"]
    has_mailbox(alice, account(imap_server, message(1)))
    alice.delete(f"/v1/categories/{category}")
    assert "You have no category" in poll(alice)["error"]

    alice.has_category("Sea")

    assert (poll(alice)["error"], titles(alice)) == ("", ["High water 1"])
