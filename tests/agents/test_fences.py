"""What strangers wrote, as agents get it; and the cursor of what is unread."""

from __future__ import annotations

import pytest

from tidings.agents import fences
from tidings.agents.entries import MAX_NAMED, UNSETTLED, cursor_after
from tidings.base.secret_urls import hide_credentials, hide_secrets
from tidings.base.times import SECOND, Instant
from tidings.domain.entries.entries import Entry

NOW = Instant(1_800_000_000 * SECOND)


def test_a_title_is_one_line_of_bounded_length() -> None:
    assert fences.one_line("  Rain\n>>>\tand\u2028snow\u202e ", 100) == "Rain >>> and snow"
    assert fences.one_line("x" * 1_000_000, 10) == "x" * 9 + "…"
    # Joined emoji and letters stay as they are.
    assert fences.readable("👩‍👩‍👧 में") == "👩‍👩‍👧 में"
    assert fences.address("https://a.example/" + "x" * 2_000) == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://me:hunter2@a.example/x", "https://[hidden]@a.example/x"),
        ("see https://a.example/?token=hunter2&n=1)", "see https://a.example/?token=[hidden]&n=1)"),
        ("https://a.example/?n=1&accessToken=hunter2", "https://a.example/?n=1&accessToken=[hidden]"),
        ("https://a.example/?X-Amz-Signature=hunter2", "https://a.example/?X-Amz-Signature=[hidden]"),
        ("https://a.example/?author=5&design=a&keyword=b", "https://a.example/?author=5&design=a&keyword=b"),
        ("no address ?token=hunter2", "no address ?token=hunter2"),
    ],
)
def test_secrets_of_links_are_hidden_and_nothing_else(text: str, shown: str) -> None:
    assert hide_credentials(text) == shown


def test_of_feeds_rather_too_much_is_hidden() -> None:
    assert hide_secrets("https://a.example/?author=5&n=1") == "https://a.example/?author=[hidden]&n=1"


def entry(id_: int, age: int) -> Entry:
    stored = Instant(NOW - age)
    fields = dict.fromkeys(Entry.__struct_fields__, "")
    return Entry(**{**fields, "id": id_, "created_at": stored})  # type: ignore[arg-type]


def test_the_cursor_names_what_is_too_young_to_be_sure_of() -> None:
    old, young = entry(10, UNSETTLED + 1), entry(12, UNSETTLED - 1)

    assert cursor_after(5, frozenset(), [old, young], NOW, has_more=False) == "id:10.12"
    # Entry 11 was stored by a transaction that ended later: it is behind the cursor, and 12 is not repeated.
    assert cursor_after(10, frozenset({12}), [entry(11, 0)], NOW, has_more=False) == "id:10.11.12"
    assert cursor_after(20, frozenset(), [old], NOW, has_more=True) == "id:10"
    assert cursor_after(20, frozenset(), [old], NOW, has_more=False) == "id:20"
    many = [entry(id_, 0) for id_ in range(1, MAX_NAMED + 11)]
    named = cursor_after(0, frozenset(), many, NOW, has_more=False).removeprefix("id:").split(".")
    assert (named[0], len(named)) == ("10", MAX_NAMED + 1)
