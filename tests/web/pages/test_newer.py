"""A list says how many unread entries came after the ones that a page has shown."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor

pytestmark = pytest.mark.slow


def newest(page: str) -> str:
    found = re.search(r'data-newest="(\d+)"', page)
    assert found
    return found[1]


def ask(reader: Visitor, path: str, entry_id: str) -> Any:
    answer = reader.get(path, headers={"Accept": "application/json", "Tidings-Newer": entry_id})
    assert answer.status == 200
    return answer.json()


def test_a_list_counts_what_came_later_and_belongs_to_it(reader: Visitor, alice: Person, site: Publisher) -> None:
    first = alice.has_feed(site, ["One"])
    page = reader.page("/unread")
    second = alice.has_feed(site, ["Two", "Three"])

    assert ask(reader, "/unread", newest(page)) == {"text": "2 new"}
    assert ask(reader, f"/feeds/{second['id']}", newest(page)) == {"text": "2 new"}
    assert ask(reader, f"/feeds/{first['id']}", newest(page)) == {"text": ""}
    assert ask(reader, "/unread", newest(reader.page("/unread"))) == {"text": ""}


def test_what_was_read_meanwhile_is_not_new(reader: Visitor, alice: Person, site: Publisher) -> None:
    page = reader.page("/unread")
    alice.has_feed(site, ["One", "Two"])
    alice.put("/v1/entries", {"entry_ids": [alice.entries()[0]["id"]], "status": "read"})

    assert ask(reader, "/unread?show=all", newest(page)) == {"text": "1 new"}


def test_more_than_a_hundred_are_not_counted(reader: Visitor, alice: Person, site: Publisher) -> None:
    page = reader.page("/unread")
    alice.has_feed(site, [f"Entry {number}" for number in range(120)])

    assert ask(reader, "/unread", newest(page)) == {"text": "99+ new"}


def test_an_entry_that_is_no_number_is_refused(reader: Visitor) -> None:
    assert reader.get("/unread", headers={"Tidings-Newer": "one"}).status == 400
