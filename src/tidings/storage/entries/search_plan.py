"""Searches for frequent words: tests the entries of a list one by one, in the order of the list.

    test some entries ─► enough matches for the page   ─► done
                      ─► a high share matches          ─► test more entries
                      ─► few matches, or too many tests ─► read all matches from the index (`entry_lists`)

Otherwise all matches of a frequent word would have to be read and sorted for one page.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from tidings.domain.entries.entries import PageRequest
from tidings.engine.database import Read
from tidings.storage.entries.list_statements import (
    EntryListQuery,
    count_tagged,
    cursor_parameters,
    match_test_statement,
    tag_test_statement,
)
from tidings.storage.entries.query_conditions import TRUE

# How many entries of a list are tested first, to learn how frequent the searched words are.
FIRST_TESTS = 30
# They are frequent if at least one in this many tested entries matches.
FREQUENT = 4
# A tag is frequent if so many entries have it. They are looked for among the first so many of a list.
FREQUENT_TAG = 1_000
TAG_TESTS = 2_000


class SearchMatches(Struct, frozen=True):
    """The matches among the tested entries of a list."""

    ids: list[int] = []
    """The matches, from the beginning of the list or from the cursor on."""
    is_enough: bool = False
    """Whether they contain the whole page."""
    is_all: bool = False
    """Whether they contain every match of the list."""
    is_frequent: bool = False
    """Whether at least one in FREQUENT tested entries matches."""
    is_rare: bool = False
    """Whether the whole search has few matches."""


def find_matches(
    db: Read, query: EntryListQuery, page: PageRequest, parameters: Mapping[str, Any], *, max_tests: int
) -> SearchMatches:
    """Test entries of a list until the page is found. max_tests: how many entries may be tested."""
    statement = match_test_statement(query, page.order, page.direction, has_cursor=page.cursor is not None)
    all_parameters = {**parameters, **cursor_parameters(page)}
    wanted, matching = page.offset + page.limit, query.search == "matches"
    ids: list[int] = []
    tested, count, is_all = 0, FIRST_TESTS, False
    while not is_all and tested + count <= max_tests:
        part = db.tuples(statement, **all_parameters, limit=count, offset=tested)
        # An entry that is not indexed yet does not match. Unpacked by position, since there may be 2,000 rows.
        ids += [id_ for id_, is_match in part if bool(is_match) is matching]
        tested, is_all = tested + len(part), len(part) < count
        if len(ids) >= wanted or not ids:
            break
        count = _needed(wanted - len(ids), tested, len(ids))
    return SearchMatches(ids, is_all or len(ids) >= wanted, is_all, len(ids) * FREQUENT >= tested > 0)


def find_tagged(
    db: Read, query: EntryListQuery, page: PageRequest, parameters: Mapping[str, Any]
) -> SearchMatches | None:
    """Look for a page of entries with a frequent tag among the first ones of the list without the tag.

    None if it is not there: then all entries with the tag are read and sorted, as is best for a rare one.
    """
    wanted = page.offset + page.limit
    if query.rest != TRUE or query.labels or query.is_merged or wanted > TAG_TESTS // FREQUENT:
        return None
    if db.scalar(count_tagged, **parameters, limit=FREQUENT_TAG) < FREQUENT_TAG:
        return None
    statement = tag_test_statement(query, page.order, page.direction, has_cursor=page.cursor is not None)
    ids = db.scalars(statement, **parameters, **cursor_parameters(page), limit=TAG_TESTS, offset=0)
    return SearchMatches(ids, is_enough=True) if len(ids) >= wanted else None


def _needed(missing: int, tested: int, matches: int) -> int:
    """Return how many more entries to test for `missing` more matches, with an eighth to spare."""
    return missing * tested * 9 // (matches * 8) + 1
