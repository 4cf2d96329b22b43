"""What is decided about mailboxes without a server."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tidings.base.times import HOUR, MINUTE, from_datetime
from tidings.newsletters.imap import model
from tidings.newsletters.imap.model import AddressFinder

SECRET = "abcdefghijklmnopqrstuvwxyz234567"


@pytest.mark.parametrize(
    ("name", "encoded"),
    [
        ("INBOX", '"INBOX"'),
        ("~peter/mail/台北/日本語", '"~peter/mail/&U,BTFw-/&ZeVnLIqe-"'),
        ("a&b", '"a&-b"'),
        ("é&", '"&AOk-&-"'),
        ("😀", '"&2D3eAA-"'),
        ('"\\', '"\\"\\\\"'),
    ],
)
def test_names_of_folders_are_encoded_as_the_protocol_wants(name: str, encoded: str) -> None:
    assert model.encode_folder(name) == encoded


def test_a_date_is_english_in_every_locale() -> None:
    assert model.imap_date(from_datetime(datetime(2026, 5, 1, 23, 59, tzinfo=UTC))) == "1-May-2026"


def test_the_pause_grows_with_failures_up_to_six_hours() -> None:
    five = timedelta(minutes=5)

    waits = [model.wait_after(failures, five) // MINUTE for failures in (0, 1, 2, 3, 6, 7, 1000)]

    assert waits == [5, 10, 20, 40, 320, 360, 360]
    assert model.wait_after(9, timedelta(days=1)) == 24 * HOUR
    # Servers lock accounts after a few wrong passwords.
    assert model.wait_after(1, five, is_refused=True) == 30 * MINUTE


def test_secrets_are_found_at_the_address_of_the_service_alone() -> None:
    finder = AddressFinder("news+{secret}@reader.example")
    other = SECRET[::-1]
    headers = (
        f"To: <news+{SECRET}@reader.example>, NEWS+{other.upper()}@Reader.Example\r\n"
        f"Cc: news+{SECRET}@reader.example\r\n"
    )

    assert finder.secrets(headers.encode()) == [SECRET, other]
    for wrong in ("fakenews+{}@reader.example", "news+{}@reader.example.org", "news+{}@readerxexample", "news+a{}@x"):
        assert finder.secrets(wrong.format(SECRET).encode()) == []
    assert AddressFinder("{secret}@in.example").secrets(f"To: {SECRET}@in.example".encode()) == [SECRET]
    assert finder.secrets(b"\xff\0" * 1_000) == []


def test_letters_that_wait_are_tried_in_turn_and_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    assert model.after_deferral([1, 2, 3], [1, 2], [2, 9]) == ([3, 2, 9], [])
    monkeypatch.setattr(model, "MAX_DEFERRED", 2)
    assert model.after_deferral([1, 2], [], [3]) == ([2, 3], [1])
