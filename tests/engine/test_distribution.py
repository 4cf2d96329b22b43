"""A PostgreSQL whose rows are distributed by user: what is refused, and where rows are.

Most of what it has to do is shown by the other tests, which run on it when TIDINGS_TEST_CITUS_URL is set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select, text

from storage.entries.test_shared_contents import RAIN, index, shared_terms, store, subscribe
from support import distributed, every_table
from support.databases import Databases
from support.distributed import SHARDS, VARIABLE, DistributedDatabases
from support.divided_entries import divide
from support.entry_fixtures import FeedFixture, ready
from tidings.base.errors import StartError
from tidings.engine import distribution, statements
from tidings.engine.database import Database, Read
from tidings.maintenance.store import backup, move, restore, table_copy
from tidings.maintenance.store.table_copy import TableDigest
from tidings.storage import migrate, schema_revision
from tidings.storage.entries import counters
from tidings.storage.feeds import feeds
from tidings.storage.schema import feeds as feeds_table
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
    assert distribution.key_with_user(definition) == wanted


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
class TestWhatIsRefused:
    """Each with one sentence, and before anything is changed."""

    @pytest.fixture
    def empty(self, databases: Databases) -> Iterator[Database]:
        """A database without tables on the coordinator, which has the extension and knows the workers."""
        if not isinstance(databases, DistributedDatabases):
            pytest.skip("SQLite is not distributed")
        with databases.empty() as url:
            opened = Database(url)
            yield opened
            opened.close()

    def test_a_schema_that_is_not_current(self, empty: Database) -> None:
        with pytest.raises(StartError, match="not up to date: run `tidings migrate` first"):
            migrate.distribute(empty, SHARDS)

        migrate.upgrade(empty)
        with empty.writing() as db:
            db.run(text("UPDATE alembic_version SET version_num = '9999'"))
        with pytest.raises(StartError, match="made by a newer version of Tidings"):
            migrate.distribute(empty, SHARDS)

    def test_a_database_that_others_use(self, empty: Database) -> None:
        migrate.upgrade(empty)
        other = Database(empty.url.render_as_string(hide_password=False))
        with other.reading(), pytest.raises(StartError, match="other programs use it, over 1 connections"):
            migrate.distribute(empty, SHARDS)
        other.close()

        self._is_untouched(empty)

    def test_entries_in_partitions(self, empty: Database) -> None:
        migrate.upgrade(empty)
        divide(empty.url.render_as_string(hide_password=False))

        with pytest.raises(StartError, match="Entries are divided into partitions"):
            migrate.distribute(empty, SHARDS)

        self._is_untouched(empty)

    @pytest.mark.parametrize("version", ["13.1-1", "14.0-1"])
    def test_another_version_of_the_extension(self, empty: Database, version: str) -> None:
        migrate.upgrade(empty)
        with empty.writing() as db:
            db.run(text("UPDATE pg_extension SET extversion = :version WHERE extname = 'citus'"), version=version)
        with pytest.raises(StartError, match=f"in version 13.2 or later, before 14: the database has {version}"):
            migrate.distribute(empty, SHARDS)

    def test_a_server_without_nodes(self, empty: Database) -> None:
        migrate.upgrade(empty)
        with empty.writing() as db:
            db.rows(text("SELECT citus_remove_node(nodename, nodeport) FROM pg_dist_node WHERE groupid > 0"))
            db.rows(
                text("SELECT citus_set_node_property(nodename, nodeport, 'shouldhaveshards', false) FROM pg_dist_node")
            )

        with pytest.raises(StartError, match="--distribute needs nodes"):
            migrate.distribute(empty, SHARDS)

    def _is_untouched(self, database: Database) -> None:
        with database.reading() as db:
            assert db.scalar(text("SELECT count(*) FROM pg_dist_partition")) == 0
        migrate.check(database)


@is_used
class TestDistributedDatabase:
    """Runs on the database that TIDINGS_TEST_CITUS_URL names."""

    @pytest.fixture
    def spread(self, databases: Databases, database: Database) -> Database:
        if not isinstance(databases, DistributedDatabases):
            pytest.skip("SQLite is not distributed")
        return database

    @pytest.mark.parametrize("shards", [SHARDS, 8])
    def test_distributing_again_changes_nothing(self, spread: Database, shards: int) -> None:
        with pytest.raises(StartError, match=f"already distributed, into {SHARDS} shards"):
            migrate.distribute(spread, shards)

        assert migrate.upgrade(spread) == []

    def test_entries_with_a_shared_vector_get_their_own(self, databases: Databases) -> None:
        if not isinstance(databases, DistributedDatabases):
            pytest.skip("SQLite is not distributed")
        with databases.empty() as url:
            database = Database(url)
            migrate.upgrade(database)
            readers = subscribe(database, 2)
            store(readers, ready("Rain", RAIN), ready("Short", "<p>Rain</p>"))
            index(database)
            assert len(shared_terms(database)) == 2

            migrate.distribute(database, SHARDS)

            database.close()
            database = Database(url)
            readers = [replace(one, database=database) for one in readers]
            assert [one.titles("rain") for one in readers] == [["Short"]] * 2
            index(database)
            assert [one.titles("rain") for one in readers] == [["Rain", "Short"]] * 2
            assert set(shared_terms(database)) == {0}
            database.close()

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

    def test_rows_of_users_of_a_shard_are_locked_by_one_statement(self, spread: Database) -> None:
        users = [FeedFixture.create(spread).user_id for _ in range(3 * SHARDS)]
        with spread.writing() as db:
            places = distribution.places_of(db, users)
            groups = statements.lockable_together(db, reversed(users))
            locked = counters.lock_each(db, [(user, feed) for user, feed in feeds_of(db)])

        assert sorted(places) == sorted(users)
        assert len({place.node for place in places.values()}) == 2, "workers"
        wanted = {place.shard: sorted(user for user in users if places[user] == place) for place in places.values()}
        assert groups == [wanted[shard] for shard in sorted(wanted)]
        assert {user for user, _ in locked} == set(users)

    def test_every_node_plans_as_the_coordinator_does(self, spread: Database) -> None:
        # The last one: what foreign keys look up is planned once there.
        settings = {"random_page_cost": "1.1", "jit": "off", "plan_cache_mode": "auto"}
        asked = text("SELECT result FROM run_command_on_workers('SHOW ' || :setting)")
        with spread.reading() as db:
            found = {name: set(db.scalars(asked, setting=name)) for name in settings}

        assert found == {name: {value} for name, value in settings.items()}

    def test_a_database_is_moved_in_and_out_and_restored_with_all_rows(
        self, databases: Databases, tmp_path: Path
    ) -> None:
        if not isinstance(databases, DistributedDatabases):
            pytest.skip("SQLite is not distributed")
        with databases.migrated(is_alone=True) as url:
            spread = Database(url)
            first, last = (Database(f"sqlite:///{tmp_path / name}.db") for name in ("first", "last"))
            migrate.upgrade(first)
            with first.writing() as db:
                every_table.fill(db, 5)
            wanted = digests(first)

            move.move(first, spread, restart=False, progress=ignore)
            assert digests(spread) == wanted
            move.move(spread, last, restart=False, progress=ignore)
            assert digests(last) == wanted

            backup.copy_to(spread, tmp_path / "backup.db", ignore)
            saved = Database(f"sqlite:///{tmp_path / 'backup.db'}")
            assert digests(saved) == wanted
            for opened in (first, last, saved, spread):
                opened.close()

            spread = Database(url)
            with spread.writing() as db:
                db.run(text("DELETE FROM users"))
            assert (
                restore.restore(spread, tmp_path / "backup.db", overwrite=True, folder=tmp_path, progress=ignore) == 5
            )
            # What clients have synced since the backup is not what it holds.
            assert {name for name, found in digests(spread).items() if found != wanted[name]} == {
                "changes",
                "list_versions",
            }
            with spread.reading() as db:
                assert distribution.number_of_shards(db, metadata) == SHARDS
            spread.close()

    def test_a_move_that_begins_again_leaves_the_database_distributed(self, spread: Database, tmp_path: Path) -> None:
        first = Database(f"sqlite:///{tmp_path / 'first'}.db")
        migrate.upgrade(first)
        with first.writing() as db:
            every_table.fill(db, 3)
        with spread.writing() as db:
            FeedFixture.create(spread)
            db.run(text("UPDATE alembic_version SET version_num = :mark"), mark=f"moving-{schema_revision.current()}")

        move.move(first, spread, restart=True, progress=ignore)

        assert digests(spread) == digests(first)
        first.close()
        with spread.reading() as db:
            assert distribution.number_of_shards(db, metadata) == SHARDS

    def test_a_snapshot_does_not_see_later_writes_of_any_node(self, spread: Database) -> None:
        readers = [FeedFixture.create(spread) for _ in range(6)]
        with spread.snapshot(of_all_users=True) as db:
            for reader in readers:
                reader.another_feed()
            assert table_copy.count_rows(db, feeds_table) == len(readers)
        with spread.reading() as db:
            assert table_copy.count_rows(db, feeds_table) == 2 * len(readers)


def ignore(_done: int, _total: int) -> None:
    pass


def digests(database: Database) -> dict[str, TableDigest]:
    with database.snapshot(of_all_users=True) as db:
        return {table.name: table_copy.digest(db, table) for table in table_copy.tables()}


def feeds_of(db: Read) -> Sequence[tuple[int, int]]:
    return [(user, feed) for user, feed in db.tuples(select(feeds_table.c.user_id, feeds_table.c.id))]


def distribution_column(db: Read) -> str:
    return str(
        db.scalar(text("SELECT distribution_column FROM citus_tables WHERE table_name = CAST('feeds' AS regclass)"))
    )
