"""PgBouncer with transaction pooling: statements of one client meet another server connection each time."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import text

from support import debian
from support.databases import PostgresDatabases
from support.event_reader import reading_events
from support.people import PASSWORD, Cast, rss
from support.postgres import ordinary_user
from support.publisher import Publisher
from support.running import environment_for, running, running_service
from tidings.base.times import Instant
from tidings.engine import notify
from tidings.engine.database import Database
from tidings.engine.notify import Listener
from tidings.storage.accounts import users

pytestmark = pytest.mark.slow

CONFIGURATION = """
[databases]
* = host={server}
[pgbouncer]
unix_socket_dir = {folder}
listen_port = 6432
auth_type = trust
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = 3
"""


@pytest.fixture(scope="module")
def pooler(request: pytest.FixtureRequest) -> Iterator[str]:
    """The folder with PgBouncer's socket, in front of the test server."""
    if request.config.getoption("--without-postgresql"):
        pytest.skip("without PostgreSQL")
    server = request.getfixturevalue("postgres_url").partition("host=")[2]
    try:
        program = debian.program("pgbouncer")
    except debian.ProgramMissing as reason:
        pytest.skip(str(reason))
    with tempfile.TemporaryDirectory(prefix="tidings-bouncer-") as folder:
        (Path(folder) / "users").write_text('"tidings" ""\n')
        configuration = Path(folder) / "pgbouncer.ini"
        configuration.write_text(CONFIGURATION.format(server=server, folder=folder))
        if user := ordinary_user():
            shutil.chown(folder, user)
        process = subprocess.Popen([program, "-q", configuration], user=user, stdin=subprocess.DEVNULL)
        try:
            _wait_for(f"postgresql://tidings@/postgres?host={folder}&port=6432", process)
            yield folder
        finally:
            process.terminate()
            process.wait(30)


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(1_200):
        assert process.poll() is None
        try:
            psycopg.connect(url).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError("PgBouncer did not answer")


@pytest.fixture
def url(pooler: str, postgres_url: str) -> Iterator[str]:
    """The URL of a migrated database, by way of the pooler."""
    with closing(PostgresDatabases(postgres_url)) as databases, databases.migrated() as direct:
        yield f"{direct.partition('?')[0]}?host={pooler}&port=6432"


def test_statements_of_many_connections_meet_on_few_server_connections(url: str) -> None:
    database, failed = Database(url, pool_size=8), []

    def work(number: int) -> None:
        try:
            for turn in range(20):
                with database.writing() as db:
                    users.add(db, username=f"{number}-{turn}", password_hash="x", is_admin=False, now=Instant(0))
                with database.reading() as db:
                    assert users.by_name(db, f"{number}-{turn}") is not None
        except Exception as error:  # noqa: BLE001 - told by the test
            failed.append(error)

    threads = [threading.Thread(target=work, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    database.close()

    assert failed == []


def test_settings_hold_in_each_transaction_and_do_not_stay_with_the_server_connection(url: str) -> None:
    database = Database(url)
    database.ping()
    settings = text("SELECT current_setting('random_page_cost'), current_setting('jit')")

    with database.reading() as db:
        read = db.tuples(settings)
    with database.writing() as db:
        written = db.tuples(settings)
    database.close()
    with psycopg.connect(url, autocommit=True, prepare_threshold=None) as plain:
        others = plain.execute("SHOW random_page_cost").fetchone()

    assert [tuple(row) for row in (*read, *written)] == [("1.1", "off")] * 2
    assert others == ("4",)


def test_a_listener_hears_nothing_and_disturbs_nothing(url: str) -> None:
    database = Database(url)
    listener = Listener(database, notify.FEEDS)
    with database.writing() as db:
        notify.notify(db, notify.FEEDS)

    assert not listener.wait()

    listener.close()
    listener.disconnect()
    database.close()


def test_a_service_polls_and_answers(url: str, tmp_path: Path, site: Publisher) -> None:
    feed_url = site.serve("/feed.xml", rss(["Rain"], site.url("/feed.xml")))
    environment = environment_for(url, tmp_path, admin_username="admin", admin_password=PASSWORD)
    with running("serve", environment, tmp_path) as service:
        service.wait_until_ready()
        alice = Cast(service).person("alice")
        category = alice.post("/v1/categories", {"title": "News"})
        feed = alice.post("/v1/feeds", {"feed_url": feed_url, "category_id": category["id"]})
        site.serve("/feed.xml", rss(["Rain", "Wind"], site.url("/feed.xml")))
        for number in range(30):
            alice.post("/v1/categories", {"title": f"Category {number}"})
        _make_due(alice.service.services.database)

        for _ in range(1_200):
            if alice.get(f"/v1/feeds/{feed['feed_id']}/entries")["total"] == 2:
                break
            time.sleep(0.1)
        else:
            raise AssertionError(service.log)

    assert "database unavailable" not in service.log
    assert "prepared statement" not in service.log


def test_live_events_tell_what_another_process_wrote(url: str, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    with running_service(url, folders[0]) as one, running_service(url, folders[1]) as two:
        alice = Cast(one).person("alice")
        with reading_events(two.url, {"X-Auth-Token": alice.token}) as events:
            events.until("ready")

            alice.has_category("Weather")

            assert events.changes() == {"lists": ["categories"]}


def _make_due(database: Database) -> None:
    with database.writing() as db:
        db.run(text("UPDATE feeds SET next_check_at = 0"))
        db.run(text("UPDATE sources SET next_check_at = 0"))
