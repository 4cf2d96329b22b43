"""What clients send, read as it is meant: ids of items, streams, times and states."""

from __future__ import annotations

import pytest

from greader.apps import KEPT_UNREAD, READ, READING_LIST, STARRED, label, long_id
from tidings.base.errors import InvalidInput
from tidings.base.times import LATEST, SECOND
from tidings.domain.entries.entries import EntryStatus
from tidings.greader import item_ids, streams
from tidings.greader.endpoints.changes import NewState, new_state
from tidings.greader.endpoints.contents import MAX_IDS, StreamQuery
from tidings.greader.streams import Stream

LIKE = "user/-/state/com.google/like"
TRACKING = "user/-/state/com.google/tracking-kept-unread"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (long_id(42), 42),
        ("tag:google.com,2005:reader/item/2a", 42),
        ("tag:google.com,2005:reader/item/2A", 42),
        ("000000000000002a", 42),
        ("0000000000000042", 0x42),
        ("42", 42),
        (" 42\n", 42),
        ("2147483648", 2**31),
        ("9223372036854775807", 2**63 - 1),
        ("tag:google.com,2005:reader/item/7fffffffffffffff", 2**63 - 1),
        # Numbers that no entry has.
        ("0", None),
        ("-7", None),
        ("ffffffffffffffff", None),
        ("tag:google.com,2005:reader/item/0000000000000000", None),
        ("9223372036854775808", None),
    ],
)
def test_an_id_is_read_in_every_form(text: str, number: int | None) -> None:
    assert item_ids.parse(text) == number


@pytest.mark.parametrize(
    "text", ["", " ", "x", "1.5", "--7", "42x", "tag:google.com,2005:reader/item/", long_id(1) + "0", "٣", "9" * 40]
)
def test_an_invalid_id_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        item_ids.parse(text)


def test_an_id_is_returned_in_its_long_form() -> None:
    assert item_ids.long_form(42) == "tag:google.com,2005:reader/item/000000000000002a"
    assert item_ids.parse_all([item_ids.long_form(7), "7", "0", "3"]) == [7, 3]


@pytest.mark.parametrize(
    ("text", "stream"),
    [
        ("", Stream("state", "reading-list")),
        (READING_LIST, Stream("state", "reading-list")),
        ("user/1234/state/com.google/read", Stream("state", "read")),
        ("user/alice/label/A / B", Stream("label", "A / B")),
        (label("Tech"), Stream("label", "Tech")),
        ("feed/12", Stream("feed", "12")),
        ("feed/https://example.org/?a=b&c=d", Stream("feed", "https://example.org/?a=b&c=d")),
        ("user/-/state/org.freshrss/main", Stream("state", "main")),
    ],
)
def test_a_stream_is_read_with_any_user_part(text: str, stream: Stream) -> None:
    assert streams.parse(text) == stream


@pytest.mark.parametrize("text", ["feed/", "tag/x", "user/-/label/", "user/-/state/com.google/", "x", "feed/\0"])
def test_an_invalid_stream_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        streams.parse(text)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1700000000", 1_700_000_000 * SECOND),
        ("1700000000123", 1_700_000_000_123_000),
        ("1700000000123456", 1_700_000_000_123_456),
        ("1700000000123456789", 1_700_000_000_123_456),
        ("0", 0),
        ("1700000000.75", 1_700_000_000_000_000),
        ("9" * 29, LATEST),
        ("9" * 31, LATEST),
        ("", None),
        ("-1", None),
        ("x", None),
    ],
)
def test_a_time_is_read_by_its_number_of_digits(text: str, moment: int | None) -> None:
    assert streams.moment(text) == moment


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ([(READ, True)], NewState(EntryStatus.READ)),
        ([(READ, False)], NewState(EntryStatus.UNREAD)),
        ([(KEPT_UNREAD, True)], NewState(EntryStatus.UNREAD)),
        ([(KEPT_UNREAD, False)], NewState(EntryStatus.READ)),
        # newsboat, both ways.
        ([(READ, True), (KEPT_UNREAD, False)], NewState(EntryStatus.READ)),
        ([(READ, False), (KEPT_UNREAD, True), (TRACKING, True)], NewState(EntryStatus.UNREAD)),
        ([(STARRED, True)], NewState(starred=True)),
        ([(STARRED, False)], NewState(starred=False)),
        ([(READ, True), (STARRED, True)], NewState(EntryStatus.READ, starred=True)),
        ([(READ, True), (READ, False)], NewState(EntryStatus.UNREAD)),
        ([(READ, False), (READ, True)], NewState(EntryStatus.READ)),
        ([(STARRED, True), (STARRED, False)], NewState(starred=False)),
        ([(LIKE, True), (label("Later"), True), (LIKE, False)], NewState(labels={"Later": True})),
        ([(label("Later"), True), (label("later"), False)], NewState(labels={"later": False})),
    ],
)
def test_states_are_set_and_the_last_change_of_one_wins(changes: list[tuple[str, bool]], state: NewState) -> None:
    assert new_state(changes) == state


@pytest.mark.parametrize(
    ("n", "count"),
    [
        ("", 20),
        ("all", 20),
        ("0", 20),
        ("1", 1),
        ("50000", 50_000),
        ("2000000", MAX_IDS),
        (str(2**64), MAX_IDS),
        ("9" * 5_000, MAX_IDS),
    ],
)
def test_a_page_has_a_limit(n: str, count: int) -> None:
    assert StreamQuery(n=n).count(MAX_IDS) == count


@pytest.mark.parametrize(
    ("c", "cursor"),
    [("", None), ("x", None), ("17", 17), ("0", None), ("page-17", 17), ("9" * 200, 2**63 - 1), ("٣", None)],
)
def test_a_cursor_is_read_from_its_digits(c: str, cursor: int | None) -> None:
    assert StreamQuery(c=c).cursor == cursor
