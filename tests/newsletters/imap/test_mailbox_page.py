"""The page of the mailbox, and its endpoints."""

from __future__ import annotations

import pytest

from newsletters.imap.polling import PATH, mailboxes, poll
from newsletters.imap.speaker import speaker, usual
from support.people import Person
from support.visitors import Visitor
from tidings.base.errors import InvalidInput
from tidings.newsletters.imap import store

PAGE = "/newsletters/mailbox"
VALUES = {"host": "imap.example.org", "username": "ann@example.org", "password": "8c1f-secret"}


def stored_password(person: Person) -> str:
    with person.service.services.database.reading() as db:
        found = store.get(db, person.id)
    assert found is not None
    return found.password


def test_a_mailbox_is_set_shown_and_forgotten(alice: Person, bob: Person) -> None:
    assert alice.call("GET", PATH).status == alice.call("DELETE", PATH).status == 404

    made = alice.put(PATH, VALUES, status=201)

    assert made == alice.get(PATH)
    assert {name: made[name] for name in ("host", "port", "tls", "username", "folder", "mark_seen")} == {
        "host": "imap.example.org", "port": 993, "tls": True, "username": "ann@example.org", "folder": "INBOX",
        "mark_seen": False,
    }  # fmt: skip
    assert (made["polled_at"], made["error"], made["letters"]) == (None, "", 0)
    assert "8c1f-secret" not in str(made)
    assert bob.call("GET", PATH).status == 404
    alice.delete(PATH)
    assert alice.call("GET", PATH).status == 404


def test_the_password_is_kept_for_the_same_account_alone(alice: Person) -> None:
    alice.put(PATH, VALUES, status=201)
    without = {name: value for name, value in VALUES.items() if name != "password"}

    alice.put(PATH, without | {"folder": "News"}, status=201)

    assert stored_password(alice) == "8c1f-secret"
    for change in (
        {"host": "imap.example.net"},
        {"port": 1143},
        {"username": "eve"},
        {"port": 993, "starttls": True},
        {"host": "localhost", "tls": False},
    ):
        answer = alice.call("PUT", PATH, without | change)
        assert (answer.status, answer.error) == (400, "password: enter the password of this account.")
    assert alice.get(PATH)["host"] == "imap.example.org"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"host": ""}, "host"),
        ({"host": "a b"}, "host"),
        ({"host": "https://imap.example.org"}, "host"),
        ({"host": "ann@imap.example.org"}, "host"),
        ({"host": "x" * 300}, "host"),
        ({"host": "2130706433"}, "host"),
        ({"port": 0}, "port"),
        ({"port": 65_536}, "port"),
        ({"port": -(2**40)}, "port"),
        ({"username": " "}, "username"),
        ({"username": "a\r\nb LOGOUT"}, "username"),
        ({"password": ""}, "password"),
        ({"password": "a\nb"}, "password"),
        ({"folder": ""}, "folder"),
        ({"folder": "IN\nBOX"}, "folder"),
        ({"folder": "x" * 256}, "folder"),
        ({"tls": False}, "tls"),
        ({"starttls": True, "tls": False, "host": "localhost"}, "starttls"),
        ({"tls": False, "host": "10.0.0.1"}, "tls"),
    ],
)
def test_what_cannot_be_a_mailbox_is_refused(change: dict[str, object], field: str, alice: Person) -> None:
    answer = alice.call("PUT", PATH, VALUES | change)

    assert (answer.status, answer.error.partition(":")[0]) == (400, field)
    assert alice.call("GET", PATH).status == 404


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "::1", "[::1]", "localhost", "10.0.0.1", "169.254.169.254", "::ffff:10.1.1.1"]
)
def test_addresses_of_the_private_network_are_refused_at_once(host: str, alice: Person) -> None:
    reader = mailboxes(alice, allow_private_networks=False)
    for has_tls in (True, False):
        with pytest.raises(InvalidInput, match="private or local network"):
            reader.save(
                alice.id,
                host=host,
                port=None,
                has_tls=has_tls,
                has_starttls=False,
                username="a",
                password="b",
                folder="c",
                marks_seen=False,
            )
    reader.close()


def test_the_page_sets_a_mailbox_and_forgets_it(reader: Visitor, alice: Person) -> None:
    assert PAGE in reader.page("/newsletters")
    assert "INBOX" in reader.page(PAGE)

    reader.post(PAGE, VALUES | {"port": "993", "folder": "News <b>", "mark_seen": "1"})

    page = reader.page(PAGE)
    assert "News &lt;b&gt;" in page
    assert "It will be read in a moment." in page
    assert "8c1f-secret" not in page
    assert alice.get(PATH)["mark_seen"]
    assert "ann@example.org" in reader.page("/newsletters")
    reader.post(PAGE, host=VALUES["host"], username=VALUES["username"], password="", port="993", folder="INBOX")
    assert (alice.get(PATH)["folder"], stored_password(alice)) == ("INBOX", "8c1f-secret")
    reader.post(f"{PAGE}/delete")
    assert alice.call("GET", PATH).status == 404


def test_the_page_says_what_is_wrong(reader: Visitor, alice: Person) -> None:
    reader.get(PAGE)
    answer = reader.post(PAGE, VALUES | {"host": "a b", "port": "993", "folder": "News"})
    assert answer.status == 400
    page = answer.body.decode()
    assert "not the name of a server" in page.replace("&#39;", "'")
    assert "8c1f-secret" not in page

    with speaker(usual) as port:
        pass
    alice.put(PATH, VALUES | {"host": "127.0.0.1", "port": port, "tls": False}, status=201)
    poll(alice)

    for path in (PAGE, "/newsletters"):
        assert "127.0.0.1 refuses the connection" in reader.page(path)
