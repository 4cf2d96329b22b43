"""What every test may ask for: both engines, a database, a running service, and a cast of users.

def test_starring(alice): …            runs once on SQLite and once on PostgreSQL, against a real server process
def test_counting(database): …         the same with the storage ring alone
"""

from __future__ import annotations

import gc
import os
import re
import shutil
import signal
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import structlog
from hypothesis import settings

from support import (
    cheap_hashes,
    compiled_statements,
    compiled_tests,
    distributed,
    file_scheduler,
    forked_command,
    postgres,
    random_examples,  # noqa: F401 - registers the profiles of hypothesis
    shared,
    temporary_folder,
)
from support.databases import Databases, PostgresDatabases, SqliteDatabases
from support.distributed import DistributedDatabases
from support.file_scheduler import FileScheduler
from support.people import Cast, Person
from support.ports import free_port
from support.publisher import Publisher
from support.running import RunningService, running_service
from support.visitors import Visitor
from tidings.engine.database import Database
from tidings.wiring.services import AllServices

# What is logged in the process of the tests. structlog's own way shows the variables of every frame, which takes
# minutes where one of them is a document.
structlog.configure(
    processors=[
        structlog.processors.add_log_level,
        structlog.dev.set_exc_info,
        structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
    ]
)

# A shell starts background jobs with interrupts ignored, and a process hands that on to the processes it starts. With a
# handler here, those start with the default, as they do from a terminal: tests press Ctrl-C in them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

forked_command.is_used = True
cheap_hashes.use()
compiled_statements.use()
# What is imported and collected stays: the garbage collector need not look at it until all is there.
gc.disable()

ENGINES = ("sqlite", "postgresql")
FOLDER = Path(__file__).parent
# Their questions are not about the engine. With --long they run on both.
ONE_ENGINE = frozenset({"browser", "cli", "client_libraries", "clients", "tools", "web"})
# APIs that other programs have defined. What they show and change has tests with the native API, too.
READER_APPS = frozenset({"fever", "greader"})
SLOW_FILE = re.compile(r"^pytestmark = .*\bpytest\.mark\.slow\b", re.MULTILINE)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Run five tests on two cores: most of them wait for the processes that they started. Of quick ones, run three."""
    cores = len(os.sched_getaffinity(0))
    return cores + 1 if config.getoption("--fast") else 5 * cores // 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FileScheduler:
    return FileScheduler(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--without-postgresql", action="store_true", help="leave PostgreSQL out, where it cannot be had at all"
    )
    parser.addoption("--fast", action="store_true", help="leave out PostgreSQL, pages and slow tests: `make test-fast`")
    parser.addoption(
        "--long",
        action="store_true",
        help="more random examples, and browsers on both engines and all screens: `make test-long`",
    )
    parser.addoption(
        "--write-contracts", action="store_true", help="write the files in contracts/ instead of comparing"
    )
    parser.addoption(
        "--verify-databases",
        action="store_true",
        help="compare each emptied database of PostgreSQL with a new one before the next test uses it",
    )
    parser.addoption("--fuzz-requests", type=int, default=40, help="how many to make from the OpenAPI document")
    parser.addoption("--fuzz-seed", type=int, default=0, help="which ones; other than 0 it also tells what was done")


def pytest_configure(config: pytest.Config) -> None:
    # Processes of xdist inherit the places from the first one.
    if not hasattr(config, "workerinput"):
        if folder := temporary_folder.use_memory():
            config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        config.add_cleanup(shared.begin())
        config.add_cleanup(postgres.stop_shared)
    settings.load_profile("long" if config.getoption("--long") else "tests")


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Share the compiling of all files in the folders that were asked for. A single file is compiled at its import."""
    config = session.config
    folders = filter(Path.is_dir, map(config.invocation_params.dir.joinpath, config.args))
    files = {file for folder in folders for file in folder.rglob("test_*.py")}
    compiled_tests.compile_share(config, sorted(file for file in files if not pytest_ignore_collect(file, config)))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files of --fast before they are imported: their imports take longer than many fast tests."""
    if not config.getoption("--fast") or not collection_path.name.startswith("test_"):
        return None
    is_left_out = (
        collection_path.relative_to(FOLDER).parts[0] in READER_APPS
        or _is_about_pages(collection_path)
        or SLOW_FILE.search(collection_path.read_text(encoding="utf-8"))
    )
    return True if is_left_out else None


def _is_about_pages(file: Path) -> bool:
    """Tell whether a file's tests sign in and load web pages. Slices have such tests in their own folders."""
    return file.is_relative_to(FOLDER / "web" / "pages") or file.name.endswith("_pages.py")


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name bytes by their parameter: compressed ones hold the time, and all workers must collect the same tests."""
    return argname if isinstance(val, bytes) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [
        marker
        for marker, runs in (("slow", not config.getoption("--fast")), ("long", config.getoption("--long")))
        if not runs
    ]
    chosen: list[pytest.Item] = []
    deselected: list[pytest.Item] = []
    for item in items:
        (deselected if any(map(item.get_closest_marker, left_out)) else chosen).append(item)
    config.hook.pytest_deselected(items=deselected)
    items[:] = file_scheduler.in_order(chosen)
    gc.freeze()
    # Python's default of 700 new objects costs a fifth of the time of quick tests.
    gc.set_threshold(10_000, 20, 50)
    gc.enable()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "engine" in metafunc.fixturenames:
        options = ("--without-postgresql", "--fast")
        left_out = {"postgresql"} if any(map(metafunc.config.getoption, options)) else set()
        if not metafunc.config.getoption("--long") and _is_not_about_the_engine(metafunc.definition):
            left_out = {"postgresql"}
        chosen = [engine for engine in ENGINES if engine not in left_out]
        metafunc.parametrize("engine", chosen, scope="session")


def _is_not_about_the_engine(test: pytest.Item) -> bool:
    return _is_on_one_engine(test.path) or test.get_closest_marker("one_engine") is not None


@cache
def _is_on_one_engine(file: Path) -> bool:
    return file.relative_to(FOLDER).parts[0] in ONE_ENGINE or _is_about_pages(file)


@pytest.fixture(scope="session")
def engine(request: pytest.FixtureRequest) -> str:
    """sqlite or postgresql: a test that uses this fixture, or one below, runs on both."""
    return str(request.param)


@pytest.fixture(scope="session")
def postgres_url() -> str:
    """The URL of a server started for the tests. Without one, the tests fail and say how to install it."""
    return postgres.shared_server()


@pytest.fixture(scope="session")
def databases(
    engine: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Databases]:
    if engine == "sqlite":
        yield SqliteDatabases(tmp_path_factory.mktemp("sqlite"))
        return
    options = request.config.option
    databases: PostgresDatabases | DistributedDatabases
    if coordinator := distributed.server():
        databases = DistributedDatabases(coordinator)
    else:
        server = request.getfixturevalue("postgres_url")
        databases = PostgresDatabases(server, is_verified=options.verify_databases)
    yield databases
    databases.close()


@pytest.fixture
def empty_database_url(databases: Databases) -> Iterator[str]:
    """A database without any table."""
    with databases.empty() as url:
        yield url


@pytest.fixture
def database_url(databases: Databases) -> Iterator[str]:
    """A database of its own with today's schema."""
    with databases.migrated() as url:
        yield url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    opened = Database(database_url)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def service(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A real web process over a real database, shared by the tests of one engine: users are strangers to each other."""
    with databases.migrated() as url, running_service(url, tmp_path_factory.mktemp("service")) as running:
        yield running


@pytest.fixture
def socket_folder() -> Iterator[Path]:
    """A folder with a short path: that of a Unix socket has at most 107 bytes."""
    with tempfile.TemporaryDirectory(prefix="s") as folder:
        yield Path(folder)


@pytest.fixture
def cast(service: RunningService) -> Cast:
    return Cast(service)


@pytest.fixture
def alice(cast: Cast) -> Person:
    """Owns things."""
    return cast.person("alice")


@pytest.fixture
def bob(cast: Cast) -> Person:
    """Has things of his own."""
    return cast.person("bob")


@pytest.fixture
def charlie(cast: Cast) -> Person:
    """An administrator, and a stranger to everybody's things."""
    return cast.person("charlie", is_admin=True)


@pytest.fixture
def services(service: RunningService) -> AllServices:
    """The use cases over the database of the running service, for what the API has no way to set up."""
    return service.services


@pytest.fixture
def site() -> Iterator[Publisher]:
    """A publisher for this test alone."""
    with Publisher() as publisher:
        yield publisher


@pytest.fixture(scope="session")
def corpora() -> Path:
    """Other people's feeds and pages, beside the project where they are at hand."""
    folder = Path(os.environ.get("TIDINGS_CORPORA", Path(__file__).parents[2] / "shared" / "corpora"))
    if not folder.is_dir():
        pytest.skip("the corpora are not beside the project")
    return folder


@pytest.fixture
def visitor(service: RunningService) -> Visitor:
    """A browser without a session."""
    return Visitor(service)


@pytest.fixture
def reader(service: RunningService, alice: Person) -> Visitor:
    """Alice, signed in."""
    return Visitor(service, alice).begin_session()


@pytest.fixture
def other_site() -> Iterator[Publisher]:
    """A second publisher, with another address and another port than `site`."""
    with Publisher("127.0.0.2") as publisher:
        yield publisher


@pytest.fixture(scope="session")
def patient_service(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service that waits ten minutes for a publisher: a request that ends earlier has a limit of its own."""
    folder = tmp_path_factory.mktemp("patient")
    with databases.migrated() as url, running_service(url, folder, http_client_timeout="600") as running:
        yield running


@pytest.fixture
def patient_alice(patient_service: RunningService) -> Person:
    """A user of the patient service."""
    return Cast(patient_service).person("alice")


@pytest.fixture(scope="session")
def guarded_service(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service at which passkeys work, below a path, and where administrators need a second factor."""
    port = free_port()
    settings = {
        "listen_addr": f"127.0.0.1:{port}",
        "base_url": f"http://localhost:{port}/reader",
        "require_admin_second_factor": "1",
    }
    folder = tmp_path_factory.mktemp("guarded")
    with databases.migrated() as url, running_service(url, folder, **settings) as running:
        yield running


@pytest.fixture
def guarded_alice(guarded_service: RunningService) -> Person:
    """A user of the guarded service."""
    return Cast(guarded_service).person("alice")


@pytest.fixture
def guarded_reader(guarded_alice: Person) -> Visitor:
    """Alice, who has just signed in."""
    return Visitor(guarded_alice.service, guarded_alice, "/reader").begin_session()


@pytest.fixture
def guarded_charlie(guarded_service: RunningService) -> Person:
    """An administrator, who has no second factor yet."""
    return Cast(guarded_service).person("charlie", is_admin=True)
