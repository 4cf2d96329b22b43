"""Searches for what much of a list has: its entries are asked one by one, in the list's own order.

    some of the list ─► enough of it matches ─► that is the page
                     ─► much of it matches   ─► some more of the list
                     ─► little, or it takes too many ─► the index is asked for all that match (`entry_lists`)

Whatever the index has of a frequent word would have to be looked up and sorted for one page of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from tidings.domain.entries.entries import PageRequest
from tidings.storage.engine.database import Read
from tidings.storage.entries.list_statements import EntryListQuery, look_statement, place_of

# The beginning of a list that tells how frequent the question is, in entries.
FIRST = 30
# Of what was looked at, one in so many matches.
FREQUENT = 4


class SearchMatches(Struct, frozen=True):
    """What a look at a list came to. ids: of those that match, from the beginning of the list or its page's place on.

    is_enough: the page is among them, or beyond the end. is_all: so is every other one that the list has from there.
    """

    ids: list[int] = []
    is_enough: bool = False
    is_all: bool = False
    is_frequent: bool = False


def find_matches(
    db: Read, shape: EntryListQuery, page: PageRequest, parameters: Mapping[str, Any], *, most: int
) -> SearchMatches:
    """most: entries that may be asked."""
    statement = look_statement(shape, page.order, page.direction, has_place=page.cursor is not None)
    given = {**parameters, **place_of(page)}
    wanted, matching = page.offset + page.limit, shape.search == "matches"
    ids: list[int] = []
    looked, count, is_all = 0, FIRST, False
    while not is_all and looked + count <= most:
        part = db.tuples(statement, **given, limit=count, offset=looked)
        # An entry that is not indexed yet does not match.
        ids += [id_ for id_, is_match in part if bool(is_match) is matching]
        looked, is_all = looked + len(part), len(part) < count
        if len(ids) >= wanted or not ids:
            break
        count = _needed(wanted - len(ids), looked, len(ids))
    return SearchMatches(ids, is_all or len(ids) >= wanted, is_all, len(ids) * FREQUENT >= looked > 0)


def _needed(missing: int, looked: int, found: int) -> int:
    """How many more of a list have as many more that match, and some to spare."""
    return missing * looked * 9 // (found * 8) + 1
