"""What keeps a command from its work: one clear line, an exit code, and nothing begun."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import inspect, text

from cli.commands import Tidings, complaint
from support.people import PASSWORD
from support.running import free_port
from tidings.services import Services
from tidings.storage import migrate
from tidings.storage.engine.database import Database

KEEPS_RUNNING = ["serve", "web", "worker"]


@pytest.fixture
def empty(tmp_path: Path, empty_database_url: str) -> Tidings:
    """Over a database without any table, on both engines."""
    return Tidings(tmp_path, {"DATABASE_URL": empty_database_url, "LISTEN_ADDR": f"127.0.0.1:{free_port()}"})


@pytest.fixture(params=[False, True], ids=["", "and shared"])
def taken_address(request: pytest.FixtureRequest) -> Iterator[str]:
    """shared: as the web workers of another Tidings would, which share a port among themselves."""
    with socket.socket() as other:
        if request.param:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield f"127.0.0.1:{other.getsockname()[1]}"


def test_migrate_tells_what_it_did_and_repeating_it_does_no_harm(empty: Tidings) -> None:
    url = empty.settings["DATABASE_URL"]
    before, first, second = empty("user", "list"), empty("migrate"), empty("migrate")

    assert "run `tidings migrate` first" in complaint(before, 1)
    assert first.returncode == 0
    assert re.fullmatch(r"The database is up to date now, after: 0001(, \d{4})*\n", first.stdout)
    assert (second.returncode, second.stdout) == (0, "The database was up to date.\n")
    opened = Database(url)
    migrate.check(opened)
    opened.close()


def test_the_embedded_database_is_readable_by_its_owner_only(bare: Tidings) -> None:
    assert bare("migrate").returncode == 0

    assert (bare.folder / "tidings.db").stat().st_mode & 0o077 == 0, "others on this machine could read it"


@pytest.mark.parametrize("command", ["web", "worker"])
def test_a_database_that_is_not_up_to_date_is_left_to_whoever_migrates(empty: Tidings, command: str) -> None:
    assert "run `tidings migrate` first" in complaint(empty(command), 1)

    opened = Database(empty.settings["DATABASE_URL"])
    assert inspect(opened.engine).get_table_names() == []
    opened.close()


@pytest.mark.parametrize("command", KEEPS_RUNNING)
def test_a_database_from_a_newer_version_is_refused_and_left_alone(
    tidings: Tidings, database: Database, command: str
) -> None:
    with database.writing() as db:
        db.run(text("UPDATE alembic_version SET version_num = '9999'"))

    told = complaint(tidings(command, LISTEN_ADDR=f"127.0.0.1:{free_port()}"), 1)

    assert "newer version of Tidings (schema 9999)" in told
    with database.reading() as db:
        assert db.scalars(text("SELECT version_num FROM alembic_version")) == ["9999"]


@pytest.mark.parametrize("command", KEEPS_RUNNING)
def test_a_database_out_of_reach_is_named_without_its_password(bare: Tidings, engine: str, command: str) -> None:
    port = free_port()
    url, named = {
        "sqlite": (f"sqlite:///{bare.folder}/missing/tidings.db", f"{bare.folder}/missing"),
        "postgresql": (f"postgresql://alice:hunter22@127.0.0.1:{port}/tidings", f"127.0.0.1:{port}/tidings"),
    }[engine]

    given = {"DATABASE_URL": url, "LISTEN_ADDR": f"127.0.0.1:{free_port()}", "DATABASE_WAIT": "0"}
    told = complaint(bare(command, **given), 1)

    assert named in told
    assert re.search("does not exist|refused", told)
    assert "hunter22" not in told
    assert "not expected" not in told


@pytest.mark.parametrize("command", KEEPS_RUNNING)
def test_a_data_folder_that_cannot_be_written_is_named(bare: Tidings, command: str) -> None:
    file = bare.folder / "file"
    file.touch()

    told = complaint(bare(command, DATA_DIR=str(file / "data"), LISTEN_ADDR=f"127.0.0.1:{free_port()}"), 1)

    assert f"{file / 'data'} cannot be made: Not a directory" in told


@pytest.mark.parametrize("command", ["serve", "web"])
def test_a_port_in_use_is_told_before_anything_begins(bare: Tidings, taken_address: str, command: str) -> None:
    told = complaint(bare(command, LISTEN_ADDR=taken_address), 1)

    assert f"cannot listen on {taken_address}: something is listening there already" in told
    assert list(bare.folder.iterdir()) == []


@pytest.mark.parametrize("command", ["serve", "web"])
def test_an_address_that_this_machine_does_not_have_is_named(bare: Tidings, command: str) -> None:
    assert "203.0.113.7:80: this machine has no such address" in complaint(
        bare(command, LISTEN_ADDR="203.0.113.7:80"), 1
    )


def test_a_surprise_is_one_line_too_unless_asked_for_more(tidings: Tidings, services: Services) -> None:
    services.users.create("alice", PASSWORD)
    with services.database.writing() as db:
        db.run(text("ALTER TABLE feeds RENAME TO elsewhere"))

    told = complaint(tidings("refresh"), 1)
    in_full = tidings("refresh", LOG_LEVEL="debug")

    assert re.search(r"Error: .*(no such table: feeds|relation \"feeds\" does not exist)", told)
    assert "TIDINGS_LOG_LEVEL=debug" in told
    assert "SELECT" not in told
    assert in_full.returncode == 1
    assert "storage/feeds/feeds.py" in in_full.stderr
    assert "Traceback" not in in_full.stderr
    assert in_full.stderr.endswith(told)


def test_a_poller_that_meets_a_surprise_ends_so_that_it_can_be_started_again(
    tidings: Tidings, services: Services
) -> None:
    with services.database.writing() as db:
        db.run(text("ALTER TABLE sources RENAME TO elsewhere"))

    ended = tidings("worker", LOG_LEVEL="error")

    assert ended.returncode == 1
    assert "sources" in ended.stderr


def test_not_even_the_debug_log_shows_what_the_database_holds(tidings: Tidings, services: Services) -> None:
    services.users.create("alice", PASSWORD)

    listed = tidings("user", "list", LOG_LEVEL="debug")

    assert "alice" in listed.stdout
    assert "argon2" not in listed.stdout + listed.stderr


def test_a_file_that_is_no_database_is_told_as_such(bare: Tidings) -> None:
    (bare.folder / "tidings.db").write_bytes(b"words, words, words" * 100)

    for command in ("migrate", "worker"):
        assert "cannot be used: file is not a database" in complaint(bare(command), 1)


def test_errors_are_json_where_the_log_is(bare: Tidings) -> None:
    ended = bare("web", LOG_FORMAT="json")
    refused = bare("web", LOG_FORMAT="json", LISTEN_ADDR="nowhere")

    for done, says in ((ended, "run `tidings migrate` first"), (refused, "TIDINGS_LISTEN_ADDR")):
        (line,) = [json.loads(line) for line in done.stderr.splitlines()]
        assert line["level"] == "error"
        assert says in line["event"]
        assert line["time"].endswith("Z")


def test_errors_are_json_where_a_file_asks_for_it(bare: Tidings) -> None:
    file = bare.folder / "settings"
    file.write_text("LOG_FORMAT=json\nLISTEN_ADDR=nowhere\n")

    done = bare("--config", str(file), "web")

    assert done.returncode == 2
    assert "TIDINGS_LISTEN_ADDR" in json.loads(done.stderr)["event"]
