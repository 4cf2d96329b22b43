"""A search reads its query as PostgreSQL's `websearch_to_tsquery` does, on both engines.

The entries and queries have words that all have stems of their own, so that the configuration `simple` finds the same.
What is different on purpose is in `OWN_WAYS` and in docs/api.md.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.databases import Databases
from support.entry_fixtures import FeedFixture, ready
from tidings.domain.entries.entries import EntryFilter, PageRequest
from tidings.engine.database import Database
from tidings.services.entries.search_index import SearchIndexer
from tidings.storage.entries import entry_lists

WORDS = ("rain", "snow", "hail", "wind", "sun", "fog", "storm", "frost", "or", "and", "not")
# a, b, c, d: words that are drawn for each query.
SHAPES = (
    "a", "a b", "a b c", "a or b", "a OR b", "a Or b", "a oR b", "a b or c", "a or b c", "a b or c d", "a or b or c",
    "a or b or c or d", '"a b"', '"a b" c', 'a "b c"', '"a b" or c', 'a or "b c"', '"a b" or "c d"', '"a b" "c d"',
    '"a b c"', "-a", "a -b", "-a b", "a -b -c", "-a -b", "a or -b", "-a or b", "-a or -b", "a -b or c", "a or b -c",
    "a b or c -d", 'a -"b c"', '-"a b"', '-"a b" or c', 'a or -"b c"', "- a", "a - b", "--a", "a --b", "---a", "a -",
    "-", "a- b", "a or", "or a", "or", "or or a", "a or or", "a or or b", "or or or", "a or or or b", "a (b or c)",
    "(a b) or c", "-(a b)", "-(a or b)", "a (or b)", "(a or) b", "a & b", "a | b", "!a", "a !b", "a|b", "a&b", "a!b",
    "(a)", "((a) b", "a:b", "a: b", "a :b", ":a", "a::b or c", '"a', '"a b', 'a "b', 'a"b', 'a"b"c', '"a"b', '"a"-b',
    '"a"or b', 'a or"b"', 'a or "', 'a or"', '""', '"" a', 'a "" b', 'a or ""', 'a or "" or b', "a or + b", "+ or a",
    "a or, b", "a or: b", "a OR; b c", "a or_b", "a orb", "a or1", "a and b", "a AND b", "a not b", "a NOT b",
    "'a b'", "a, b", "a. b", "a; b or c", "a\tor\nb", "  a   or   b  ", "a or (b", "a or ) b", "a or - b", "a or -",
    "a -or b", "-or", "a -and", "a - or b", 'a -"or" b', '"a or b"', 'a "or" b', "a or (-b) c", "a <-> b", "-a - b",
    "-- a", "a or --b", "-(-a)", "a or -(b) or -c", "a -b -c or d", "-a b or -c d", 'or "a"', "a or or -b", "(or a",
)  # fmt: skip


def drawn(shapes: Sequence[str], count: int) -> list[str]:
    """Return the shapes with words in them, each at least once."""
    chance = random.Random(34)
    chosen = list(shapes) + [chance.choice(shapes) for _ in range(count - len(shapes))]
    queries = []
    for shape in chosen:
        words = dict(zip("abcd", chance.sample(WORDS, 4), strict=True))
        queries.append("".join(words.get(sign, sign) if is_alone(shape, at) else sign for at, sign in enumerate(shape)))
    return queries


def is_alone(text: str, at: int) -> bool:
    """Return whether no letter is next to the one at a position."""
    return not text[max(0, at - 1) : at].isalpha() and not text[at + 1 : at + 2].isalpha()


QUERIES = drawn(SHAPES, 220)


def documents() -> list[tuple[str, str]]:
    """Return titles and texts of 200 entries."""
    chance = random.Random(2026)
    return [
        (
            " ".join(chance.choices(WORDS, k=chance.randint(0, 2))),
            " ".join(chance.choices(WORDS, k=chance.randint(0, 4))),
        )
        for _ in range(200)
    ]


@pytest.fixture(scope="module")
def reference(request: pytest.FixtureRequest) -> Iterator[Callable[[str], set[int]]]:
    """Return which documents PostgreSQL itself finds."""
    if request.config.getoption("--without-postgresql") or request.config.getoption("--fast"):
        pytest.skip("compares with PostgreSQL")
    with psycopg.connect(request.getfixturevalue("postgres_url"), autocommit=True) as connection:
        connection.execute("CREATE TEMPORARY TABLE documents (number integer, words tsvector)")
        for number, (title, text) in enumerate(documents()):
            # The word between them: no phrase begins in a title and ends in a text.
            connection.execute(
                "INSERT INTO documents VALUES (%s, to_tsvector('simple', %s))", (number, f"{title} between {text}")
            )

        def found(query: str) -> set[int]:
            rows = connection.execute(
                "SELECT number FROM documents WHERE words @@ websearch_to_tsquery('simple', %s)", (query,)
            )
            return {number for (number,) in rows}

        yield found


@pytest.fixture(scope="module")
def find(databases: Databases) -> Iterator[Callable[[str], set[int]]]:
    """Return which documents a search finds."""
    with databases.migrated() as url:
        database = Database(url)
        fixture = FeedFixture.create(database)
        ids = fixture.add(*(ready(title, f"<p>{text}</p>") for title, text in documents()))
        while SearchIndexer(database).work():
            pass
        number_of = {entry_id: number for number, entry_id in enumerate(ids)}

        def found(query: str) -> set[int]:
            with database.reading() as db:
                listed, total = entry_lists.page_ids(
                    db, fixture.user_id, EntryFilter(search=query), PageRequest(limit=1000)
                )
            assert total.number == len(listed)
            return {number_of[entry_id] for entry_id in listed}

        yield found
        database.close()


def test_there_are_two_hundred_different_queries() -> None:
    assert len(set(QUERIES)) >= 200


def test_each_query_finds_what_postgresql_finds(
    find: Callable[[str], set[int]], reference: Callable[[str], set[int]]
) -> None:
    assert {query: find(query) for query in QUERIES} == {query: reference(query) for query in QUERIES}


PIECES = st.sampled_from((*WORDS[:5], " or ", " OR ", " ", " ", "-", '"', "(", ")", ":", "&", "|", "!", ",", "+"))


# Words with hyphens: see OWN_WAYS.
@given(st.lists(PIECES, min_size=1, max_size=14).map("".join).filter(lambda text: not re.search(r"\w-+\w|^\s*$", text)))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_read_as_by_postgresql(
    find: Callable[[str], set[int]], reference: Callable[[str], set[int]], query: str
) -> None:
    assert find(query) == reference(query)


# Words that are joined by other signs have to be next to each other, and a star stands for the rest of a word.
# PostgreSQL has tokens of their own for addresses, files, numbers with signs and words with hyphens; it ignores stars.
OWN_WAYS = (
    ("rain/snow", '"rain snow"'),
    ("rain.snow", '"rain snow"'),
    ("rain-snow", '"rain snow"'),
    ("fog or-storm", 'fog "or storm"'),
    ("rai*", "rain"),
    ('"rain sno"*', '"rain snow"'),
    ("“rain snow”", '"rain snow"'),
    ("«rain snow» or fog", '"rain snow" or fog'),
)


@pytest.mark.parametrize(("query", "same_as"), OWN_WAYS)
def test_what_is_read_in_our_own_way(find: Callable[[str], set[int]], query: str, same_as: str) -> None:
    assert find(query) == find(same_as) != set()
