"""A key opens the data of its user only; ids of others are as unknown ones."""

from __future__ import annotations

from typing import Any

import pytest

from clients.library import Library
from fever.apps import FeverApp
from support.people import Person

QUERIES = ["&groups", "&feeds", "&favicons", "&items", "&items&max_id=0", "&unread_item_ids", "&saved_item_ids"]
BY_ID = ["&items&with_ids={entry},{starred}", "&items&feed_ids={feed}", "&items&group_ids={category}"]
MARKS: list[tuple[str, str, str]] = [
    *(("item", word, "entry") for word in ("read", "saved")),
    *(("item", word, "starred") for word in ("unread", "unsaved")),
    ("feed", "read", "feed"),
    ("group", "read", "category"),
    ("group", "read", "everything"),
]


def visible_to(app: FeverApp, query: str) -> Any:
    return {name: value for name, value in app.get(query).items() if name != "last_refreshed_on_time"}


@pytest.mark.parametrize("query", QUERIES)
def test_lists_contain_no_data_of_other_users(library: Library, app: FeverApp, bobs: FeverApp, query: str) -> None:
    empty = {"groups": 1}
    for name, value in visible_to(bobs, query).items():
        if name not in ("api_version", "auth"):
            assert not value or len(value) == empty.get(name), (name, value)
    assert visible_to(app, query) != visible_to(bobs, query) or query == "&favicons"
    assert library.entry


@pytest.mark.parametrize("query", BY_ID)
def test_ids_of_other_users_match_nothing(library: Library, app: FeverApp, bobs: FeverApp, query: str) -> None:
    named = query.format_map(vars(library))

    assert bobs.items(named) == []
    assert app.items(named)


@pytest.mark.parametrize(("kind", "word", "what"), MARKS)
def test_marks_do_not_change_entries_of_other_users(
    alice: Person, library: Library, bobs: FeverApp, kind: str, word: str, what: str
) -> None:
    before = alice.entries(), alice.get("/v1/feeds/counters")
    number = getattr(library, what, 0)

    answer = bobs.mark(mark=kind, id=number, before=4_000_000_000, **{"as": word})
    bobs.mark(unread_recently_read=1)

    assert answer == {"api_version": 3, "auth": 1, "last_refreshed_on_time": 0}
    assert (alice.entries(), alice.get("/v1/feeds/counters")) == before


def test_undo_does_not_change_entries_of_other_users(
    alice: Person, library: Library, app: FeverApp, bobs: FeverApp
) -> None:
    app.mark(mark="item", id=library.entry, **{"as": "read"})

    bobs.mark(unread_recently_read=1)

    assert alice.get(f"/v1/entries/{library.entry}")["status"] == "read"
