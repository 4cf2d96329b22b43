"""A server that breaks off, lies or floods is told apart, costs little, and loses nothing."""

from __future__ import annotations

import pytest

from newsletters.imap.polling import PATH, poll, titles
from newsletters.imap.speaker import Script, speaker, usual
from newsletters.letters import message
from support.people import Person
from tidings.content.letters import MAX_LETTER_BYTES
from tidings.newsletters.imap import mailboxes

pytestmark = pytest.mark.one_engine

LETTER = message(1)


def content(tag: bytes, announced: int = len(LETTER), sent: bytes = LETTER) -> bytes:
    return b"* 1 FETCH (UID 1 BODY[]<0> {%d}\r\n%s)\r\n%s OK done\r\n" % (announced, sent, tag)


def instead(word: bytes, answer: bytes | None) -> Script:
    """Return a script that answers commands with a word in their own way. answer: its {tag} is replaced."""

    def script(tag: bytes, command: bytes) -> bytes | None:
        if word in command:
            return None if answer is None else answer.replace(b"{tag}", tag)
        return content(tag) if b"BODY.PEEK[]" in command else usual(tag, command)

    return script


def has_server(person: Person, port: int) -> None:
    values = {"host": "127.0.0.1", "port": port, "tls": False, "username": "ann", "password": "secret"}
    person.put(PATH, values, status=201)


def polled(person: Person, script: Script, greeting: bytes = b"* OK ready\r\n", timeout_s: float = 60) -> str:
    """Have the mailbox at such a server read once. Returns the error."""
    with speaker(script, greeting) as port:
        has_server(person, port)
        return str(poll(person, timeout_s=timeout_s)["error"])


def test_the_server_of_these_tests_is_read(alice: Person) -> None:
    assert polled(alice, instead(b"nothing", None)) == ""
    assert titles(alice) == ["High water 1"]


@pytest.mark.parametrize("word", [b"CAPABILITY", b"LOGIN", b"EXAMINE", b"UID SEARCH", b"RFC822.SIZE", b"BODY.PEEK[]"])
def test_a_connection_that_ends_is_told_and_the_next_round_goes_on(word: bytes, alice: Person) -> None:
    assert polled(alice, instead(word, None)) == "127.0.0.1 broke off the connection."
    assert alice.entries() == []
    assert polled(alice, instead(b"nothing", None)) == ""
    assert titles(alice) == ["High water 1"]


def test_a_connection_that_ends_in_the_middle_of_a_letter_stores_nothing(alice: Person) -> None:
    def script(tag: bytes, command: bytes) -> bytes | None:
        if command.startswith(b"LOGOUT"):
            return None
        return b"* 1 FETCH (UID 1 BODY[] {400}\r\nFrom: x" if b"BODY.PEEK[]" in command else usual(tag, command)

    # The server sends no more: to the reader, it is silent.
    assert "127.0.0.1" in polled(alice, script, timeout_s=0.3)
    assert alice.entries() == []


@pytest.mark.parametrize("word", [b"LOGIN", b"UID SEARCH", b"BODY.PEEK[]"])
def test_a_server_that_is_silent_is_left(word: bytes, alice: Person) -> None:
    assert polled(alice, instead(word, b""), timeout_s=0.3) == "127.0.0.1 takes too long to answer."


def test_a_server_that_sends_a_little_forever_is_left(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailboxes, "CUT_AFTER_S", 0.5)
    with speaker(instead(b"UID SEARCH", b"* OK still here\r\n" * 10)) as port:
        has_server(alice, port)
        assert poll(alice, timeout_s=60)["error"] == "127.0.0.1 takes too long to answer."


@pytest.mark.parametrize(
    "answer",
    [
        b"* 1 FETCH (UID 1 BODY[] {4000000000}\r\n",
        b"* 1 FETCH (UID 1 BODY[] {%d}\r\n" % (MAX_LETTER_BYTES + 2),
        b"* OK " + b"x" * (2**20 + 10),
    ],
)
def test_more_than_was_asked_for_is_not_read(answer: bytes, alice: Person) -> None:
    assert polled(alice, instead(b"BODY.PEEK[]", answer)) == "127.0.0.1 sends more than was asked for."
    assert alice.entries() == []


def test_a_server_that_floods_is_left(alice: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailboxes, "_LIMIT_BYTES", 100_000)
    flood = b"* OK x\r\n" * 20_000

    assert polled(alice, instead(b"UID SEARCH", flood)) == "127.0.0.1 sends more than was asked for."


def test_a_size_that_is_not_exact_does_no_harm(alice: Person) -> None:
    def script(tag: bytes, command: bytes) -> bytes | None:
        if b"BODY.PEEK[]" not in command:
            return usual(tag, command)
        large = LETTER + b"x" * (MAX_LETTER_BYTES + 1 - len(LETTER))
        return content(tag, len(large), large)

    assert polled(alice, script) == ""
    (entry,) = alice.entries()
    assert "too large to be fetched" in entry["content"]


@pytest.mark.parametrize(
    ("word", "answer"),
    [
        (b"EXAMINE", b"{tag} OK done\r\n"),
        (b"EXAMINE", b"* OK [UIDVALIDITY x] y\r\n* OK [UIDNEXT 2] y\r\n{tag} OK done\r\n"),
        (b"UID SEARCH", b"* SEARCH a b\r\n{tag} OK done\r\n"),
        (b"UID SEARCH", b"{tag} NO not now\r\n"),
        (b"UID SEARCH", b"{tag} BAD what\r\n"),
        (b"UID SEARCH", b"\xff\xfe\r\n"),
        (b"RFC822.SIZE", b"{tag} NO not now\r\n"),
        (b"LOGIN", b"* BYE shutting down\r\n"),
    ],
)
def test_answers_that_make_no_sense_are_told(word: bytes, answer: bytes, alice: Person) -> None:
    assert polled(alice, instead(word, answer)).startswith("127.0.0.1 ")
    assert alice.entries() == []


def test_what_is_no_imap_server_is_told(alice: Person) -> None:
    for greeting in (b"HTTP/1.1 400 Bad Request\r\n\r\n", b"* BYE too many connections\r\n", b"\0" * 200 + b"\r\n"):
        assert polled(alice, usual, greeting).startswith("127.0.0.1 ")


def test_messages_that_vanish_or_were_not_asked_for_are_passed_over(alice: Person) -> None:
    other = b"* 9 FETCH (FLAGS (\\Seen))\r\n* 5 FETCH (UID 5 BODY[]<0> {3}\r\nabc)\r\n{tag} OK done\r\n"

    assert polled(alice, instead(b"BODY.PEEK[]", other)) == ""
    assert polled(alice, instead(b"RFC822.SIZE", b"{tag} OK done\r\n")) == ""
    assert alice.entries() == []


def test_a_port_where_nothing_listens_is_told(alice: Person) -> None:
    with speaker(usual) as port:
        pass
    has_server(alice, port)

    assert "127.0.0.1 refuses the connection" in poll(alice)["error"]
