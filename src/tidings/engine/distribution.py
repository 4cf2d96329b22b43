"""Distributes tables of PostgreSQL over several servers by `user_id`, with the extension Citus.

    by user        what users read: one node has all rows of a user, so that a statement that names the user runs there
    copied         small tables to which rows of all users refer: each node has all of their rows
    on the         accounts, queues and the worker's own tables, which serve all users; they are not distributed,
    coordinator    and statements on them are those of any PostgreSQL server

A table says in its `info` which one it is; one that refers to rows distributed by user is distributed by user as well.
Unique keys of distributed tables have to contain `user_id`, which is therefore added to each: an id remains unique,
because one sequence on the coordinator gives it. References between distributed tables name the user too.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from typing import Any, Final

from msgspec import Struct
from sqlalchemy import Column, MetaData, Table, text, update

from tidings.base.errors import StartError
from tidings.engine import integrity
from tidings.engine.columns import COPIED, is_placed_by_user
from tidings.engine.database import Read, Write, is_distributed, is_sqlite
from tidings.engine.postgresql import PLANNER_SETTINGS

# Versions of the extension with which the tests were run: from the first one on, before the second one.
MIN_VERSION: Final = (13, 2)
NEXT_VERSION: Final = (14, 0)

_version = text("SELECT extversion FROM pg_extension WHERE extname = 'citus'")
_nodes = text(
    "SELECT count(*) FILTER (WHERE groupid = 0) AS coordinators,"
    " count(*) FILTER (WHERE shouldhaveshards AND isactive) AS with_shards FROM pg_dist_node"
)
# Version 0.2 could divide entries on one server.
_partitions = text("SELECT count(*) FROM pg_inherits WHERE inhparent = CAST('entries' AS regclass)")
_database = text("SELECT quote_ident(current_database())")
_shards = text("SELECT count(*) FROM pg_dist_shard WHERE logicalrelid = CAST(CAST(:table AS text) AS regclass)")
_select_places = text(
    "SELECT user_id, groupid, shardid FROM ("
    " SELECT user_id, get_shard_id_for_distribution_column(logicalrelid, user_id) AS shard"
    " FROM (SELECT logicalrelid FROM pg_dist_partition WHERE partmethod = 'h' ORDER BY 1 LIMIT 1) AS first,"
    " unnest(CAST(:users AS integer[])) AS user_id"
    ") AS placed JOIN pg_dist_placement ON shardid = shard"
)
_keys = text(
    "SELECT conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint"
    " WHERE conrelid = CAST(:table AS regclass) AND contype IN ('p', 'u') ORDER BY contype, conname"
)
_unique_indexes = text(
    "SELECT CAST(CAST(indexrelid AS regclass) AS text) AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index"
    " WHERE indrelid = CAST(:table AS regclass) AND indisunique"
    " AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid) ORDER BY indexrelid"
)
_references = text(
    "SELECT conname AS name, CAST(CAST(conrelid AS regclass) AS text) AS referring,"
    " CAST(CAST(confrelid AS regclass) AS text) AS referred, pg_get_constraintdef(oid) AS definition"
    " FROM pg_constraint WHERE contype = 'f' AND connamespace = CAST('public' AS regnamespace) ORDER BY conname"
)


def distributed_tables(metadata: MetaData) -> list[Table]:
    """Return the tables that are distributed by user, each after those to which it refers."""
    return [one for one in metadata.sorted_tables if is_placed_by_user(one) and one.info.get("engine") != "sqlite"]


def copied_tables(metadata: MetaData) -> list[Table]:
    """Return the tables of which each node has a copy."""
    return [one for one in metadata.sorted_tables if COPIED.items() <= one.info.items()]


class Distribution(Struct, frozen=True):
    """How tables were distributed."""

    by_user: int
    """Number of tables that are divided by user."""
    copied: int
    """Number of tables of which each node has a copy."""
    shards: int
    nodes: int
    """Number of nodes with rows of users."""


def distribute(db: Write, metadata: MetaData, shards: int) -> Distribution:
    """Distribute tables over the nodes, permanently.

    shards: into how many parts each is divided, of which each node gets some. The tables are locked until the
    transaction ends; if it fails, nothing has changed.
    Raises StartError, before anything is changed, if the database cannot be distributed, already is, or is in use.
    """
    nodes = _nodes_of_extension(db)
    spread, copied = distributed_tables(metadata), copied_tables(metadata)
    first = spread[0].name
    if existing := number_of_shards(db, metadata):
        raise StartError(
            f"The database is already distributed, into {existing} shards: `tidings move` into another distributed"
            " database changes their number"
        )
    if db.scalar(_partitions):
        raise StartError("Entries are divided into partitions: move the data into an empty database to distribute it")
    _require_unused(db)
    # Otherwise the tables of one transaction are written over several connections, which do not see each other's rows.
    run(db, "SET LOCAL citus.multi_shard_modify_mode TO 'sequential'")
    names = {table.name for table in spread}
    references = [row for row in db.rows(_references) if names & {row["referring"], row["referred"]}]
    for reference in references:
        run(db, f"ALTER TABLE {reference['referring']} DROP CONSTRAINT {reference['name']}")
    for table in copied:
        run(db, f"SELECT create_reference_table('{table.name}')")
    for table in spread:
        _add_user_to_keys(db, table.name)
        place = (
            f"shard_count => {shards}, colocate_with => 'none'"
            if table.name == first
            else f"colocate_with => '{first}'"
        )
        run(db, f"SELECT create_distributed_table('{table.name}', 'user_id', {place})")
    _set_planner_of_nodes(db)
    kept = names | {table.name for table in copied}
    for reference in references:
        # Statements do it instead (`clear_references`): the extension has no ON DELETE SET NULL for keys with the user.
        if reference["referred"] in kept and not (
            reference["referred"] in names and "SET NULL" in reference["definition"]
        ):
            is_spread = reference["referred"] in names
            definition = reference_with_user(reference["definition"]) if is_spread else reference["definition"]
            run(db, f"ALTER TABLE {reference['referring']} ADD CONSTRAINT {reference['name']} {definition}")
    return Distribution(by_user=len(spread), copied=len(copied), shards=shards, nodes=nodes)


def number_of_shards(db: Read, metadata: MetaData) -> int:
    """Return into how many shards users are distributed; 0 if they are not, or the server has no such extension."""
    if is_sqlite(db.connection) or db.scalar(_version) is None:
        return 0
    return int(db.scalar(_shards, table=distributed_tables(metadata)[0].name))


class Place(Struct, frozen=True, order=True):
    """Where the rows of a user are."""

    node: int
    shard: int
    """Of one of the tables; users with the same one have the same shards of all tables."""


def places_of(db: Read, users: Collection[int]) -> dict[int, Place]:
    """Return where the rows of users are, by user; {} on a database that is not distributed.

    Asks the coordinator alone. A node may give a shard to another one at any time.
    """
    if not users or not is_distributed(db.connection):
        return {}
    return {user: Place(node, shard) for user, node, shard in db.tuples(_select_places, users=list(users))}


def clear_references(db: Write, table: Table, user_id: int, ids: Collection[int]) -> None:
    """Set references to rows of the user to NULL before these are deleted, as ON DELETE SET NULL does elsewhere.

    Does nothing on a database that is not distributed.
    """
    if ids and is_distributed(db.connection):
        for column in _columns_to_clear(table):
            owner = column.table.c.user_id
            db.run(update(column.table).where(owner == user_id, column.in_(ids)).values({column: None}))


@cache
def _columns_to_clear(table: Table) -> list[Column[Any]]:
    """Return the columns of tables distributed by user that a foreign key to this table would set to NULL."""
    return [
        reference.parent
        for other in distributed_tables(table.metadata)
        for reference in other.foreign_keys
        if reference.ondelete == "SET NULL" and reference.column.table is table
    ]


def _nodes_of_extension(db: Read) -> int:
    """Return how many nodes can have rows of users.

    Raises StartError unless the database has the extension in a version that was tested, and such nodes.
    """
    if is_sqlite(db.connection):
        raise StartError("--distribute needs PostgreSQL with the extension Citus: the database is SQLite")
    version = db.scalar(_version)
    if version is None:
        raise StartError(
            "--distribute needs the extension Citus, which this database does not have: install it on each node and run"
            " `CREATE EXTENSION citus` there"
        )
    number = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if not MIN_VERSION <= number < NEXT_VERSION:
        wanted = f"{'.'.join(map(str, MIN_VERSION))} or later, before {NEXT_VERSION[0]}"
        raise StartError(f"--distribute needs the extension Citus in version {wanted}: the database has {version}")
    nodes = db.row(_nodes)
    assert nodes
    if not nodes["coordinators"] or not nodes["with_shards"]:
        raise StartError(
            "--distribute needs nodes: name this server with `SELECT citus_set_coordinator_host('its address')`, and"
            " the others with `SELECT citus_add_node('address', 5432)`"
        )
    return int(nodes["with_shards"])


def _require_unused(db: Read) -> None:
    if others := integrity.other_sessions(db):
        raise StartError(
            f"--distribute needs the database for itself, but other programs use it, over {others} connections: stop"
            " Tidings on all hosts, then run this command again"
        )


def _set_planner_of_nodes(db: Write) -> None:
    """Let each node plan as the coordinator does, whose sessions set this themselves; nodes added later get it, too.

    Statements come to a node with their values, and are planned for them. What is planned once there are the look-ups
    of foreign keys, which is most of the time of an insert if it is done for each row (`plan_cache_mode`).
    """
    name = db.scalar(_database)
    for setting, value in PLANNER_SETTINGS.items():
        run(db, f"ALTER ROLE CURRENT_USER IN DATABASE {name} SET {setting} = {value}")


def _add_user_to_keys(db: Write, table: str) -> None:
    for key in db.rows(_keys, table=table):
        definition = key_with_user(key["definition"])
        if definition != key["definition"]:
            run(db, f"ALTER TABLE {table} DROP CONSTRAINT {key['name']}, ADD CONSTRAINT {key['name']} {definition}")
    for index in db.rows(_unique_indexes, table=table):
        definition = key_with_user(index["definition"])
        if definition != index["definition"]:
            run(db, f"DROP INDEX {index['name']}")
            run(db, definition)


def key_with_user(definition: str) -> str:
    """Return the definition of a unique key with `user_id` as its last column, if it does not have that one."""
    found = re.search(r"\(([^()]*)\)", definition)
    assert found, definition
    if "user_id" in found[1].split(", "):
        return definition
    return f"{definition[: found.end(1)]}, user_id{definition[found.end(1) :]}"


def reference_with_user(definition: str) -> str:
    """Return a foreign key that names the user on both sides."""
    found = re.fullmatch(r"FOREIGN KEY \((.*?)\) REFERENCES (\w+)\((.*?)\)(.*)", definition)
    assert found, definition
    own, table, others, action = found.groups()
    if "user_id" in own.split(", "):
        return definition
    return f"FOREIGN KEY ({own}, user_id) REFERENCES {table}({others}, user_id){action}"


def run(db: Write, statement: str) -> None:
    """Execute a statement with names of our schema and no parameters: a colon stands for itself."""
    db.run(text(statement.replace(":", r"\:")))
