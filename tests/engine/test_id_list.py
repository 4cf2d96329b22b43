"""Lists as one parameter, with any values and of any length."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from tidings.base.times import Instant
from tidings.engine.database import Database
from tidings.engine.statements import in_list, joined_ids, split_ids
from tidings.storage.accounts import users
from tidings.storage.schema import users as table

NAMES = [
    "plain",
    'quo"te',
    "apo'strophe",
    "comma,",
    "{brace}",
    "[bracket]",
    "back\\slash",
    "NULL",
    "été 雨",
    "per%cent",
    ":colon",
]

_by_id = select(table.c.username).where(in_list(table.c.id, "ids")).order_by(table.c.id)
_by_name = select(table.c.username).where(in_list(table.c.username, "names")).order_by(table.c.id)
_by_both = _by_id.where(in_list(table.c.username, "names"))


@pytest.fixture
def ids(database: Database) -> dict[str, int]:
    """Return user ids by name."""
    with database.writing() as db:
        return {name: users.add(db, username=name, password_hash="x", is_admin=False, now=Instant(0)) for name in NAMES}


def test_lists_of_numbers_and_of_texts_match_their_values(database: Database, ids: dict[str, int]) -> None:
    with database.reading() as db:
        for name, id_ in ids.items():
            assert db.scalars(_by_name, names=[name]) == [name]
            assert db.scalars(_by_id, ids=[id_]) == [name]
            assert db.scalars(_by_both, ids=ids.values(), names={name, "nobody"}) == [name]
        assert db.scalars(_by_name, names=NAMES) == NAMES
        assert db.scalars(_by_id, ids=set(ids.values())) == NAMES


def test_an_empty_list_finds_nothing(database: Database, ids: dict[str, int]) -> None:
    assert ids
    with database.reading() as db:
        assert db.scalars(_by_name, names=[]) == []
        assert db.scalars(_by_id, ids=()) == []


def test_a_list_may_be_longer_than_sqlite_takes_parameters(database: Database, ids: dict[str, int]) -> None:
    with database.reading() as db:
        assert db.scalars(_by_id, ids=range(2**31 - 50_000, 2**31 + 50_000)) == []
        assert db.scalars(_by_id, ids=[*range(50_000, 100_000), *ids.values()]) == NAMES


def test_a_statement_with_a_list_can_be_printed() -> None:
    assert "ids" in str(_by_id)


def test_joined_ids_keep_the_order_and_the_limit_of_their_page(database: Database, ids: dict[str, int]) -> None:
    newest_first = select(table.c.id).order_by(table.c.id.desc())
    with database.reading() as db:
        expected = sorted(ids.values(), reverse=True)
        assert split_ids(db.scalar(joined_ids(newest_first))) == expected
        assert split_ids(db.scalar(joined_ids(newest_first.limit(3).offset(2)))) == expected[2:5]


def test_joined_ids_of_nothing_are_an_empty_list(database: Database) -> None:
    with database.reading() as db:
        assert split_ids(db.scalar(joined_ids(select(table.c.id).where(table.c.id < 0)))) == []
