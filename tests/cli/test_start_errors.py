"""Errors at the start of a command: one clear line, an exit code, and nothing changed."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import inspect, text

from cli.commands import Tidings, error_line
from support import distributed
from support.people import PASSWORD
from support.ports import free_port
from support.postgres import postgres_server
from tidings.engine.database import Database
from tidings.storage import migrate
from tidings.wiring.services import AllServices

pytestmark = pytest.mark.slow

KEEPS_RUNNING = ["serve", "web", "worker"]


@pytest.fixture
def empty(tmp_path: Path, empty_database_url: str) -> Tidings:
    """A command line with a database without tables, on both engines."""
    return Tidings(tmp_path, {"DATABASE_URL": empty_database_url, "LISTEN_ADDR": f"127.0.0.1:{free_port()}"})


@pytest.fixture(params=[False, True], ids=["", "and shared"])
def taken_address(request: pytest.FixtureRequest) -> Iterator[str]:
    """A port in use. "and shared": with SO_REUSEPORT, as the web workers of another Tidings use it."""
    with socket.socket() as other:
        if request.param:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield f"127.0.0.1:{other.getsockname()[1]}"


def test_migrate_prints_the_migrations_and_repeating_it_changes_nothing(empty: Tidings) -> None:
    url = empty.settings["DATABASE_URL"]
    before, first, second = empty("user", "list"), empty("migrate"), empty("migrate")

    assert "run `tidings migrate` first" in error_line(before, 1)
    assert first.returncode == 0
    assert re.fullmatch(r"Migrations applied: 0036(, \d{4})*\n", first.stdout)
    assert (second.returncode, second.stdout) == (0, "The database was up to date.\n")
    opened = Database(url)
    migrate.check(opened)
    opened.close()


def test_migrate_says_what_to_use_instead_of_partitions(empty: Tidings) -> None:
    empty("migrate")

    assert "--partitions has been removed: " in error_line(empty("migrate", "--partitions", "4"), 1)
    assert "--partitions" not in empty("migrate", "--help").stdout


def test_migrate_distributes_no_database_without_the_extension(empty: Tidings) -> None:
    empty("migrate")
    is_sqlite = empty.settings["DATABASE_URL"].startswith("sqlite")
    if not is_sqlite and distributed.server():
        pytest.skip("the databases have the extension")

    wanted = "PostgreSQL with the extension Citus: the database is SQLite" if is_sqlite else "the extension Citus"
    assert f"--distribute needs {wanted}" in error_line(empty("migrate", "--distribute"), 1)
    assert "--shards goes with --distribute" in error_line(empty("migrate", "--shards", "4"), 1)
    assert "--shards" in error_line(empty("migrate", "--distribute", "--shards", "1"), 2)
    assert empty("migrate").stdout == "The database was up to date.\n"


def test_migrate_distributes_a_database_and_says_what_it_did(empty: Tidings) -> None:
    if empty.settings["DATABASE_URL"].startswith("sqlite") or not distributed.server():
        pytest.skip(f"{distributed.VARIABLE} is not set, or the database is SQLite")
    assert "run `tidings migrate` first" in error_line(empty("migrate", "--distribute"), 1)
    empty("migrate")

    first, second = empty("migrate", "--distribute", "--shards", "4"), empty("migrate", "--distribute")

    said = r"Distributed \d+ tables by user over 4 shards on \d servers, and copied 3 to each server, in \d+ s\.\n"
    assert re.fullmatch(said, first.stdout), first
    assert "already distributed, into 4 shards" in error_line(second, 1)


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_that_cannot_store_all_text_is_refused_with_what_to_do(tmp_path: Path, encoding: str) -> None:
    with postgres_server() as server, psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE narrow ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
        url = server.replace("/postgres?", "/narrow?")
        tidings = Tidings(tmp_path, {"DATABASE_URL": url})
        for command in ("migrate", "serve", "web"):
            refusal = error_line(tidings(command), 1)
            assert f"has the encoding {encoding}" in refusal
            assert "createdb --template=template0 --encoding=UTF8" in refusal
        with psycopg.connect(url) as narrow:
            assert narrow.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone() == (0,)


def test_the_embedded_database_is_readable_by_its_owner_only(bare: Tidings) -> None:
    assert bare("migrate").returncode == 0

    assert (bare.folder / "tidings.db").stat().st_mode & 0o077 == 0, "others on this machine could read it"


@pytest.mark.parametrize("command", ["web", "worker"])
def test_web_and_worker_refuse_a_database_that_is_not_migrated_and_do_not_change_it(
    empty: Tidings, command: str
) -> None:
    assert "run `tidings migrate` first" in error_line(empty(command), 1)

    opened = Database(empty.settings["DATABASE_URL"])
    assert inspect(opened.engine).get_table_names() == []
    opened.close()


@pytest.mark.parametrize("command", KEEPS_RUNNING)
def test_a_database_from_a_newer_version_is_refused_and_not_changed(
    tidings: Tidings, database: Database, command: str
) -> None:
    with database.writing() as db:
        db.run(text("UPDATE alembic_version SET version_num = '9999'"))

    error = error_line(tidings(command, LISTEN_ADDR=f"127.0.0.1:{free_port()}"), 1)

    assert "newer version of Tidings (schema 9999)" in error
    with database.reading() as db:
        assert db.scalars(text("SELECT version_num FROM alembic_version")) == ["9999"]


@pytest.mark.parametrize("command", KEEPS_RUNNING)
def test_the_error_names_an_unreachable_database_without_its_password(bare: Tidings, engine: str, command: str) -> None:
    port = free_port()
    url, named = {
        "sqlite": (f"sqlite:///{bare.folder}/missing/tidings.db", f"{bare.folder}/missing"),
        "postgresql": (f"postgresql://alice:hunter22@127.0.0.1:{port}/tidings", f"127.0.0.1:{port}/tidings"),
    }[engine]

    given = {"DATABASE_URL": url, "LISTEN_ADDR": f"127.0.0.1:{free_port()}", "DATABASE_WAIT": "0"}
    error = error_line(bare(command, **given), 1)

    assert named in error
    assert re.search("does not exist|refused", error)
    assert "hunter22" not in error
    assert "not expected" not in error


@pytest.mark.parametrize("command", KEEPS_RUNNING)
def test_a_data_folder_that_cannot_be_written_is_named(bare: Tidings, command: str) -> None:
    file = bare.folder / "file"
    file.touch()

    error = error_line(bare(command, DATA_DIR=str(file / "data"), LISTEN_ADDR=f"127.0.0.1:{free_port()}"), 1)

    assert f"{file / 'data'} cannot be made: Not a directory" in error


@pytest.mark.parametrize("command", ["serve", "web"])
def test_a_port_in_use_is_reported_before_any_file_is_created(bare: Tidings, taken_address: str, command: str) -> None:
    error = error_line(bare(command, LISTEN_ADDR=taken_address), 1)

    assert f"cannot listen on {taken_address}: something is listening there already" in error
    assert list(bare.folder.iterdir()) == []


@pytest.mark.parametrize("command", ["serve", "web"])
def test_the_error_names_an_address_that_this_machine_does_not_have(bare: Tidings, command: str) -> None:
    assert "203.0.113.7:80: this machine has no such address" in error_line(
        bare(command, LISTEN_ADDR="203.0.113.7:80"), 1
    )


def test_an_unexpected_error_is_one_line_and_debug_shows_the_trace(tidings: Tidings, services: AllServices) -> None:
    services.accounts.users.create("alice", PASSWORD)
    with services.database.writing() as db:
        db.run(text("ALTER TABLE feeds RENAME TO elsewhere"))

    error = error_line(tidings("refresh"), 1)
    in_full = tidings("refresh", LOG_LEVEL="debug")

    assert re.search(r"Error: .*(no such table: feeds|relation \"feeds\" does not exist)", error)
    assert "TIDINGS_LOG_LEVEL=debug" in error
    assert "SELECT" not in error
    assert in_full.returncode == 1
    assert "storage/feeds/feeds.py" in in_full.stderr
    assert "Traceback" not in in_full.stderr
    assert in_full.stderr.endswith(error)


def test_a_worker_ends_at_an_unexpected_error_so_that_the_supervisor_restarts_it(
    tidings: Tidings, services: AllServices
) -> None:
    with services.database.writing() as db:
        db.run(text("ALTER TABLE sources RENAME TO elsewhere"))

    ended = tidings("worker", LOG_LEVEL="error")

    assert ended.returncode == 1
    assert "sources" in ended.stderr


def test_the_debug_log_does_not_show_rows_of_the_database(tidings: Tidings, services: AllServices) -> None:
    services.accounts.users.create("alice", PASSWORD)

    listed = tidings("user", "list", LOG_LEVEL="debug")

    assert "alice" in listed.stdout
    assert "argon2" not in listed.stdout + listed.stderr


def test_the_error_names_a_file_that_is_no_database(bare: Tidings) -> None:
    (bare.folder / "tidings.db").write_bytes(b"words, words, words" * 100)

    for command in ("migrate", "worker"):
        assert "cannot be used: file is not a database" in error_line(bare(command), 1)


def test_errors_are_json_if_the_log_is_json(bare: Tidings) -> None:
    ended = bare("web", LOG_FORMAT="json")
    refused = bare("web", LOG_FORMAT="json", LISTEN_ADDR="nowhere")

    for done, says in ((ended, "run `tidings migrate` first"), (refused, "TIDINGS_LISTEN_ADDR")):
        (line,) = [json.loads(line) for line in done.stderr.splitlines()]
        assert line["level"] == "error"
        assert says in line["event"]
        assert line["time"].endswith("Z")


def test_errors_are_json_if_the_settings_file_sets_it(bare: Tidings) -> None:
    file = bare.folder / "settings"
    file.write_text("LOG_FORMAT=json\nLISTEN_ADDR=nowhere\n")

    done = bare("--config", str(file), "web")

    assert done.returncode == 2
    assert "TIDINGS_LISTEN_ADDR" in json.loads(done.stderr)["event"]
