"""Moves everything into another database, of either engine. A move that was interrupted continues where it stopped.

    empty target ─► schema, marked as moving ─► page after page, each in its transaction ─► digests equal ─► unmarked

Until the digests of all tables are equal, the target has a revision that no version of Tidings works with.
"""

from __future__ import annotations

from sqlalchemy import bindparam, text

from tidings.base.errors import StartError
from tidings.engine import full_text, sequences
from tidings.engine.database import Database, Read, is_distributed
from tidings.maintenance.store import table_copy
from tidings.maintenance.store.table_copy import Progress, TableDigest
from tidings.storage import migrate, schema_revision
from tidings.storage.schema import metadata, users

_set_revision = text("UPDATE alembic_version SET version_num = :revision").bindparams(bindparam("revision"))
_drop_revision = text("DROP TABLE alembic_version")


def move(source: Database, target: Database, *, restart: bool, progress: Progress) -> dict[str, TableDigest]:
    """Copy all tables, compare both databases, and return the digest of each table.

    restart: delete what an earlier move has copied, and begin again. progress: copying is the first half.
    Raises StartError if the target holds something else, or if the source changed while it was copied.
    """
    if source.url == target.url:
        raise StartError("The two databases are the same: --to names another one")
    migrate.check(source)
    migrate.require_answer(target)
    _prepare(target, restart=restart)
    with source.snapshot(of_all_users=True) as original:
        _copy(original, target, lambda done, total: progress(done, 2 * total))
    compared = _compare(source, target, lambda done, total: progress(total + done, 2 * total))
    with target.writing() as db:
        table_copy.request_indexing(db)
        db.run(_set_revision, revision=schema_revision.current())
    return compared


def _prepare(target: Database, *, restart: bool) -> None:
    """Create the schema in an empty target and mark it; leave a target as it is that was marked before."""
    if restart and _is_marked(target):
        _begin_again(target)
    if _is_marked(target):
        return
    migrate.upgrade(target)
    with target.writing() as db:
        if table_copy.count_rows(db, users):
            raise StartError(
                f"The database {migrate.describe(target)} is not empty: make a new one, or remove what it holds"
            )
        for table in reversed(table_copy.tables()):
            # What a new, unused service has written automatically, such as its scheduled jobs.
            db.run(table.delete())
        db.run(_set_revision, revision=_mark())


def _begin_again(target: Database) -> None:
    with target.writing() as db:
        if is_distributed(db.connection):
            # The tables stay, as they are distributed.
            table_copy.remove_rows(db)
            return
        metadata.drop_all(db.connection)
        db.run(_drop_revision)
        full_text.drop(db)


def _mark() -> str:
    return migrate.MOVING + schema_revision.current()


def _is_marked(target: Database) -> bool:
    with target.reading() as db:
        revision = migrate.current_revision(db)
    if revision is not None and revision.startswith(migrate.MOVING) and revision != _mark():
        raise StartError(
            f"The move into {migrate.describe(target)} was begun by another version of Tidings: run that version, or"
            " begin again with an empty database"
        )
    return revision == _mark()


def _copy(source: Read, target: Database, progress: Progress) -> None:
    """Copy the rows after the last one of each table that the target has. Each page is one transaction."""
    total = sum(table_copy.count_rows(source, table) for table in table_copy.tables())
    done = 0
    for table in table_copy.tables():
        with target.reading() as db:
            reached = table_copy.last_key(db, table)
            done += table_copy.count_rows(db, table) if reached else 0
        for page in table_copy.pages(source, table, reached):
            with target.writing() as db:
                table_copy.add_rows(db, table, page)
            done += len(page)
            progress(done, total)
    with target.writing() as db:
        sequences.write(db, table_copy.last_ids(source))


def _compare(source: Database, target: Database, progress: Progress) -> dict[str, TableDigest]:
    """Return the digests of all tables. Raises StartError if a table differs.

    The source is read again, as it is now: what was written while it was copied would otherwise be missing.
    """
    originals = _digests(source, progress)
    copies = _digests(target, lambda *_: None)
    different = [name for name, digest in originals.items() if copies[name] != digest]
    different += [] if different or _last_ids(source) == _last_ids(target) else ["the last ids"]
    if different:
        raise StartError(
            f"The databases differ in {', '.join(different)}: something was written while they were copied. Stop"
            " Tidings, then run the same command with --restart"
        )
    return originals


def _last_ids(database: Database) -> dict[str, int]:
    with database.reading() as db:
        return table_copy.last_ids(db)


def _digests(database: Database, progress: Progress) -> dict[str, TableDigest]:
    digests = {}
    with database.snapshot(of_all_users=True) as db:
        total = sum(table_copy.count_rows(db, table) for table in table_copy.tables())
        done = 0
        for table in table_copy.tables():
            digests[table.name] = table_copy.digest(db, table)
            done += digests[table.name].rows
            progress(done, total)
    return digests
