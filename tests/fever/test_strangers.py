"""A key opens the data of its user only; ids of others are as unknown ones."""

from __future__ import annotations

from typing import Any

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


def test_lists_contain_no_data_of_other_users(library: Library, app: FeverApp, bobs: FeverApp) -> None:
    empty = {"groups": 1}
    for query in QUERIES:
        for name, value in visible_to(bobs, query).items():
            if name not in ("api_version", "auth"):
                assert not value or len(value) == empty.get(name), (query, name, value)
        assert visible_to(app, query) != visible_to(bobs, query) or query == "&favicons", query
    assert library.entry


def test_ids_of_other_users_match_nothing(library: Library, app: FeverApp, bobs: FeverApp) -> None:
    for query in BY_ID:
        named = query.format_map(vars(library))

        assert bobs.items(named) == [], query
        assert app.items(named), query


def test_marks_do_not_change_entries_of_other_users(alice: Person, library: Library, bobs: FeverApp) -> None:
    before = alice.entries(), alice.get("/v1/feeds/counters")
    for kind, word, what in MARKS:
        number = getattr(library, what, 0)

        answer = bobs.mark(mark=kind, id=number, before=4_000_000_000, **{"as": word})
        bobs.mark(unread_recently_read=1)

        assert answer == {"api_version": 3, "auth": 1, "last_refreshed_on_time": 0}
        assert (alice.entries(), alice.get("/v1/feeds/counters")) == before, (kind, word, what)


def test_undo_does_not_change_entries_of_other_users(
    alice: Person, library: Library, app: FeverApp, bobs: FeverApp
) -> None:
    app.mark(mark="item", id=library.entry, **{"as": "read"})

    bobs.mark(unread_recently_read=1)

    assert alice.get(f"/v1/entries/{library.entry}")["status"] == "read"
