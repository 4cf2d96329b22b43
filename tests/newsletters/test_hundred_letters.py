"""A hundred letters of twenty kinds arrive by LMTP, and each becomes the entry that it should."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from newsletters.hundred_letters import all_letters
from newsletters.test_lmtp import MailServer, listening, mailbox
from support.people import Person

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]


def test_each_letter_becomes_the_entry_that_it_should(alice: Person, socket_folder: Path) -> None:
    cases = all_letters()
    assert len(cases) == 100
    place = socket_folder / "lmtp.sock"
    first, second = mailbox(alice), mailbox(alice, "Another")
    with listening(alice, place), MailServer(place) as server:
        for case in cases:
            recipients = (first, second) if case.is_for_two else (first,)
            expected = ["250 2.0.0 stored", "250 2.0.0 repeated"][: len(recipients)]
            assert server.replies(case.raw, *recipients) == expected, case.title
        # All of them once more, as after a connection that broke before the last reply.
        again = Counter(server.replies(case.raw, second)[0] for case in cases)
    assert again == {"250 2.0.0 repeated": 100}

    entries = {entry["title"]: entry for entry in alice.entries(limit=200)}
    assert entries.keys() == {case.title for case in cases}
    for case in cases:
        entry = entries[case.title]
        assert case.has in entry["content"].replace("<b>", "").replace("</b>", ""), case.title
        assert [text for text in case.lacks if text in entry["content"]] == [], case.title
        assert sorted(entry["tags"]) == sorted(case.tags), case.title
        assert (entry["published_at"] != "2026-11-20T07:30:00Z") == case.is_dated_now, case.title
        assert entry["published_at"] <= entry["created_at"], case.title
        assert "<script" not in entry["content"]
    senders = {one["address"]: one["letters"] for one in alice.get("/v1/newsletters/senders")}
    assert senders == {"post@tides.example": 95, "mailer-daemon@tides.example": 5}
