"""A PostgreSQL whose rows are distributed by user: what is refused, and where rows are.

Most of what it has to do is shown by the other tests, which run on it when TIDINGS_TEST_CITUS_URL is set.
"""

from __future__ import annotations

import pytest
from sqlalchemy import text

from support import distributed
from support.databases import Databases
from support.distributed import SHARDS, VARIABLE, DistributedDatabases
from support.entry_fixtures import FeedFixture
from tidings.base.errors import StartError
from tidings.engine import distribution, partitions
from tidings.engine.database import Database, Read
from tidings.storage import migrate
from tidings.storage.feeds import feeds
from tidings.storage.schema import metadata

is_used = pytest.mark.skipif(
    not distributed.server(), reason=f"{VARIABLE} is not set: no test runs on a distributed PostgreSQL"
)


def test_tables_that_refer_to_distributed_ones_name_the_user() -> None:
    nameless = [table.name for table in distribution.distributed_tables(metadata) if "user_id" not in table.c]

    assert nameless == []


def test_distributed_rows_refer_to_rows_of_the_coordinator_in_one_place() -> None:
    """The extension has no such foreign keys: `storage.polling.sources` locks a source before its feed is written."""
    spread, copied = distribution.distributed_tables(metadata), distribution.copied_tables(metadata)
    lost = [
        (table.name, key.referred_table.name)
        for table in spread
        for key in table.foreign_key_constraints
        if key.referred_table not in [*spread, *copied]
    ]

    assert lost == [("feeds", "sources")]


@pytest.mark.parametrize(
    ("definition", "wanted"),
    [
        ("PRIMARY KEY (id)", "PRIMARY KEY (id, user_id)"),
        ("UNIQUE (user_id, name_key)", "UNIQUE (user_id, name_key)"),
        (
            "CREATE UNIQUE INDEX one ON entries USING btree (share_code) WHERE (share_code <> ''::text)",
            "CREATE UNIQUE INDEX one ON entries USING btree (share_code, user_id) WHERE (share_code <> ''::text)",
        ),
    ],
)
def test_keys_end_with_the_user(definition: str, wanted: str) -> None:
    assert partitions.key_with_user(definition) == wanted


def test_references_name_the_user_on_both_sides() -> None:
    definition = "FOREIGN KEY (feed_id) REFERENCES feeds(id) ON DELETE CASCADE"

    wanted = "FOREIGN KEY (feed_id, user_id) REFERENCES feeds(id, user_id) ON DELETE CASCADE"
    assert distribution.reference_with_user(definition) == wanted
    assert distribution.reference_with_user(wanted) == wanted


@pytest.mark.skipif(bool(distributed.server()), reason="the databases have the extension")
def test_a_database_without_the_extension_is_refused(database: Database) -> None:
    with pytest.raises(StartError, match=r"--distribute needs (?:PostgreSQL with )?the extension Citus"):
        migrate.distribute(database, SHARDS)

    migrate.check(database)


@is_used
class TestDistributedDatabase:
    """Runs on the database that TIDINGS_TEST_CITUS_URL names."""

    @pytest.fixture
    def spread(self, databases: Databases, database: Database) -> Database:
        if not isinstance(databases, DistributedDatabases):
            pytest.skip("SQLite is not distributed")
        return database

    def test_distributing_again_changes_nothing(self, spread: Database) -> None:
        assert not migrate.distribute(spread, SHARDS)

        with pytest.raises(StartError, match=f"distributed over {SHARDS} shards, which cannot be changed to 8"):
            migrate.distribute(spread, 8)
        assert migrate.upgrade(spread) == []

    def test_rows_of_a_user_are_on_one_node(self, spread: Database) -> None:
        first, second = FeedFixture.create(spread), FeedFixture.create(spread)
        shard = text("SELECT get_shard_id_for_distribution_column(:table, :user)")
        with spread.reading() as db:
            assert distribution_column(db) == "user_id"
            places = {
                one.user_id: {int(db.scalar(shard, table=name, user=one.user_id)) for name in ("feeds", "entries")}
                for one in (first, second)
            }
        assert all(len(shards) == 2 for shards in places.values()), "a shard of each table, in the same group"
        with spread.reading() as db:
            assert feeds.get(db, first.user_id, first.feed_id) is not None
            assert feeds.get(db, second.user_id, first.feed_id) is None


def distribution_column(db: Read) -> str:
    return str(
        db.scalar(text("SELECT distribution_column FROM citus_tables WHERE table_name = CAST('feeds' AS regclass)"))
    )
