"""The arrows of docs/architecture.md, checked on every import; and the proof that the check can fail."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tidings.wiring.slices import NAMES

SOURCE = Path(__file__).parents[1] / "src"

# The kinds of rooms (docs/architecture.md), and the rooms that each room may import besides itself.
LIBRARIES: dict[str, frozenset[str]] = {
    "base": frozenset(),
    "metrics": frozenset(),
    "content": frozenset({"base"}),
    # Words are folded, and expressions compiled, as everywhere else.
    "query": frozenset({"base", "content"}),
    "net": frozenset({"base", "metrics"}),
    # Full-text search uses the parsed query.
    "engine": frozenset({"base", "metrics", "content"}),
    "http": frozenset({"base", "metrics"}),
}
ALL_LIBRARIES = frozenset(LIBRARIES)
CORE: dict[str, frozenset[str]] = {
    # Of `net` only the errors: ERRORS_OF_NET_ONLY.
    "domain": frozenset({"base", "content", "net", "query"}),
    "storage": frozenset({"domain", "base", "content", "engine", "metrics", "query"}),
    "services": ALL_LIBRARIES - {"http"} | {"domain", "storage"},
    "worker": frozenset({"base", "metrics", "domain", "services"}),
}
MAX_MUTUAL = 2
# For names that other libraries also have; ours are clear by themselves.
MAX_ALIASES = 10
THEMES = frozenset({"accounts", "entries", "feeds", "polling"})
SLICES = frozenset(NAMES)
# What every slice may import. Its endpoints and pages also use what a surface offers to handlers, but never its routes
# or its handlers (FOR_HANDLERS); its workers use the loops of `worker`.
FOR_SLICES = ALL_LIBRARIES | {"domain", "storage", "services"}
# The module `wiring` of a slice, which only `wiring` imports, is a part of it: it also knows settings, and what the
# folder `wiring` has for slices. Other slices it reaches through `Joins`.
WIRING_OF_SLICE = re.compile(rf"tidings\.({'|'.join(sorted(SLICES))})\.wiring")
FOR_WIRING_OF_SLICE = frozenset({
    "tidings.settings", "tidings.settings.values", "tidings.wiring.arguments", "tidings.wiring.slice",
})  # fmt: skip
# Maintenance looks after the whole database: its statements also use the tables of other slices.
TABLES_OF_SLICE = re.compile(rf"tidings\.({'|'.join(sorted(SLICES))})\.tables")
USES_ALL_TABLES = "tidings.maintenance.store."
SURFACES = frozenset({"agents", "api", "web", "greader", "fever"})
FOR_SURFACES = ALL_LIBRARIES | {"domain", "storage", "services"} | SLICES
HANDLERS = ("tidings.api.endpoints", "tidings.api.routes", "tidings.web.pages", "tidings.web.routes")
# They handle errors of requests, and send none.
ERRORS_OF_NET_ONLY = frozenset({"domain", *SURFACES})
OUTERMOST = frozenset({"__main__", "asgi", "cli", "commands", "runtime", "wiring"})
ROOMS: dict[str, frozenset[str]] = {
    **LIBRARIES,
    **CORE,
    **dict.fromkeys(SLICES, FOR_SLICES | {"api", "web", "worker"}),
    **dict.fromkeys(SURFACES, FOR_SURFACES),
    # What is set is decided without knowing who uses it; choices are enumerations of the slice that has them.
    "settings": frozenset({"base", "content", "domain", "media"}),
}

# Modules that have SQL: storage, and of each slice `tables` and `store`. Importers read databases of others.
SQL_ROOMS = ("tidings.engine.", "tidings.storage.")
SQL_IN_SLICES = re.compile(r"tidings\.\w+\.((\w+\.)?(\w+_)?store(\.\w+)?|tables)|tidings\.archives\.readers\.\w+")
# Third-party library, or a part of the standard library with a door to the outside: the rooms that may use it.
# A new dependency is entered here, and in docs/decisions/001-dependencies.md.
USERS: dict[str, frozenset[str]] = {
    "aiohttp": frozenset({"net"}),
    "aiohttp_socks": frozenset({"net"}),
    "aiosmtpd": frozenset({"newsletters"}),
    "python_socks": frozenset({"net"}),
    "yarl": frozenset({"net"}),
    "ssl": frozenset({"net"}),
    "brotli": frozenset({"net", "http"}),
    "backports": frozenset({"net", "http", *SURFACES}),
    "compression": frozenset({"net", "http", *SURFACES}),
    "zstandard": frozenset({"engine", "http", "storage", "maintenance"}),
    "sqlalchemy": frozenset({"engine", "storage", *SLICES}),
    "alembic": frozenset({"storage"}),
    "psycopg": frozenset({"engine", "archives"}),
    "sqlite3": frozenset({"engine", "storage", "archives", "maintenance"}),
    "argon2": frozenset({"services"}),
    "lxml": frozenset({"content", "domain", "archives", "media"}),
    "selectolax": frozenset({"content", "domain", "archives", "media", "deliveries"}),
    "re2": frozenset({"content"}),
    "readability": frozenset({"content"}),
    "snowballstemmer": frozenset({"content"}),
    "PIL": frozenset({"content", "media"}),
    "jinja2": frozenset({"web"}),
    "markupsafe": frozenset({"web", "archives", "deliveries", "history", "media"}),
    "babel": frozenset({"web"}),
    "segno": frozenset({"web", "sign_in"}),
    "joserfc": frozenset({"sign_in"}),
    "webauthn": frozenset({"sign_in"}),
    "pyotp": frozenset({"sign_in"}),
    "msgspec": frozenset({*ROOMS, *OUTERMOST}),
    "structlog": frozenset({*ROOMS, *OUTERMOST}) - {"base", "content", "domain", "query"},
    "prometheus_client": frozenset({"metrics"}),
    "apprise": frozenset({"deliveries"}),
    "granian": frozenset({"runtime"}),
    "python_multipart": frozenset({"http"}),
    "starlette": frozenset({"http", *SURFACES, *SLICES, "asgi", "wiring"}),
    "cyclopts": frozenset({"cli", "commands"}),
    "rich": frozenset({"commands"}),
    "platformdirs": frozenset({"settings"}),
    "subprocess": OUTERMOST,
    "multiprocessing": OUTERMOST,
    "resource": OUTERMOST,
    "signal": OUTERMOST,
}
# Entry points of child processes, and what starts them, in the folder of their slice.
PROCESSES = frozenset({
    "tidings.archives.cleaning_process", "tidings.archives.import_process", "tidings.archives.import_runner",
    "tidings.deliveries.apprise_process",
})  # fmt: skip
# Time, chance and the world reach these rooms as arguments.
PURE_ROOMS = frozenset({"base", "content", "domain", "query"})
PURE_IN_SLICES = re.compile(
    r"tidings\.(archives\.(formats\.\w+|import_runs|records|source|validation)"
    r"|deliveries\.(events|integration_changes|notification_text|provider|providers\.\w+|registry|requests"
    r"|retries|sample_events|placeholders)|media\.(policy|rewrite|signatures|transcripts)|websub\.model)"
)
NOT_IN_PURE = frozenset({
    "asyncio", "concurrent", "http", "importlib", "io", "logging", "multiprocessing", "os", "pathlib", "random",
    "secrets", "shutil", "signal", "socket", "sqlite3", "ssl", "subprocess", "sys", "tempfile", "threading", "time",
    "urllib.request", "uuid",
})  # fmt: skip
FUNCTIONS_NOT_IN_PURE = frozenset({"open", "print", "input"})
METHODS_NOT_IN_PURE = frozenset({"now", "utcnow", "today"})
# (module, import): why it is right there all the same.
EXCEPTIONS = {
    ("tidings.content", "importlib"): "the front page loads each of its names when it is first used",
    ("tidings.content.search", "threading"): "a stemmer keeps its word: each thread has its own",
    ("tidings.content.rules.regex", "time"): "the processor time that an expression may take, not a clock",
    ("tidings.content.rules.evaluation", "time"): "the processor time that all rules may take, not a clock",
    ("tidings.content.icons", "io"): "a picture in memory, in the form that Pillow takes and gives",
    ("tidings.content.pictures.scaling", "io"): "a picture in memory, in the form that Pillow takes and gives",
    ("tidings.media.transcripts", "time"): "the processor time that a transcript may take, not a clock",
    ("tidings.deliveries.registry", "importlib"): "providers are found by looking into their folder",
    ("tidings.runtime.certificates", "ssl"): "a handshake in memory checks our own certificate, without a connection",
    ("tidings.services.worker_pool", "subprocess"): "child processes do what must not be done here",
}
ENVIRONMENT = frozenset({"environ", "environb", "getenv", "putenv", "unsetenv"})


@cache
def nodes(text: str) -> tuple[ast.AST, ...]:
    """Return all parts of a module. Finding them takes as long as parsing, and several tests look at each."""
    return tuple(ast.walk(ast.parse(text)))


def part_of(module: str) -> str:
    """`tidings.api.endpoints.feeds` is part of `api`; `tidings` itself of nothing."""
    return [*module.split("."), ""][1]


def imported(parts: Iterable[ast.AST]) -> Iterator[str]:
    """Every module that is imported anywhere, also inside functions and for type checking only."""
    for node in parts:
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield "a relative import"
            elif node.module in {"tidings", "urllib"}:
                yield from (f"{node.module}.{name.name}" for name in node.names)
            else:
                yield node.module or ""


def violations(module: str, text: str) -> list[str]:
    """Return every rule that a module breaks, in words."""
    parts = nodes(text)
    room = part_of(module)
    found = []
    if room and room not in ROOMS and room not in OUTERMOST:
        found.append(f"{room} is not a known room: add it to this test and to the docs")
    for name in imported(parts):
        if (module, name) in EXCEPTIONS:
            continue
        found += [f"{module} imports {name}: {why}" for why in _import_rules(module, room, name)]
    found += [f"{module} {why}" for why in _use_rules(module, room, parts)]
    return found


def is_pure(module: str) -> bool:
    """Return whether a module decides without touching the world."""
    return part_of(module) in PURE_ROOMS or PURE_IN_SLICES.fullmatch(module) is not None


def _import_rules(module: str, room: str, name: str) -> Iterator[str]:
    top = name.split(".", maxsplit=1)[0]
    if top == "a relative import":
        yield "say where from"
    elif top == "tidings":
        yield from _room_rules(module, room, name)
    elif top not in USERS and top not in sys.stdlib_module_names:
        yield "a library that this test does not know"
    elif top in USERS and room not in USERS[top] and not (module in PROCESSES and USERS[top] == OUTERMOST):
        yield f"only {', '.join(sorted(USERS[top]))} may"
    elif top == "sqlalchemy" and room in SLICES and not SQL_IN_SLICES.fullmatch(module):
        yield "SQL of a slice is in its modules tables and store"
    if is_pure(module) and (top in NOT_IN_PURE or name in NOT_IN_PURE):
        yield "it does not touch the world"


def _room_rules(module: str, room: str, name: str) -> Iterator[str]:
    other = part_of(name)
    is_room = other in ROOMS or other in OUTERMOST
    if module in PROCESSES and other in {*OUTERMOST, "settings"}:
        return
    if WIRING_OF_SLICE.fullmatch(module) and name in FOR_WIRING_OF_SLICE:
        return
    if module.startswith(USES_ALL_TABLES) and TABLES_OF_SLICE.fullmatch(name):
        return
    if WIRING_OF_SLICE.fullmatch(name) and room != "wiring":
        yield "only wiring knows how a slice is joined to the rest"
    if is_room and room in ROOMS and other != room and other not in ROOMS[room]:
        yield f"{room} may only know {', '.join(sorted(ROOMS[room])) or 'itself'}"
    elif room in ERRORS_OF_NET_ONLY and other == "net" and not name.startswith("tidings.net.errors"):
        yield f"{room} may only know the errors of net"
    elif room in SLICES and name.startswith(HANDLERS):
        yield "a slice does not know the routes and handlers of surfaces"
    elif room in SURFACES and other in SURFACES and other != room:
        yield "surfaces do not know each other"


def _use_rules(module: str, room: str, parts: Iterable[ast.AST]) -> Iterator[str]:
    for node in parts:
        if room != "settings" and _touches_environment(node):
            yield "reads the environment: only settings does"
        if room in SURFACES and isinstance(node, ast.ImportFrom) and node.module == "tidings.engine.database":
            yield from (
                "takes a writing connection: surfaces change things through services"
                for name in node.names
                if name.name == "Write"
            )
        if is_pure(module) and isinstance(node, ast.Call) and _touches_world(node.func):
            yield f"calls {ast.unparse(node.func)}(): it does not touch the world"


def _touches_environment(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id == "os" and node.attr in ENVIRONMENT
    return isinstance(node, ast.ImportFrom) and node.module == "os" and any(n.name in ENVIRONMENT for n in node.names)


def _touches_world(function: ast.expr) -> bool:
    match function:
        case ast.Name(id=name):
            return name in FUNCTIONS_NOT_IN_PURE
        case ast.Attribute(attr=name):
            return name in METHODS_NOT_IN_PURE
    return False


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.slow
def test_every_module_stays_in_its_room() -> None:
    found = [one for path in modules() for one in violations(name_of(path), path.read_text(encoding="utf-8"))]
    assert found == []


def theme_of(module: str) -> str:
    """`tidings.storage.feeds.icons` belongs to the theme `feeds`, `tidings.storage.migrate` to none."""
    _, room, theme, *_ = [*module.split("."), "", ""]
    return theme if room in CORE and theme in THEMES else ""


@pytest.mark.slow
def test_themes_of_one_room_depend_on_each_other_in_at_most_two_cases() -> None:
    """Mutual dependencies make two themes one: neither can be read without the other."""
    known: set[tuple[str, str, str]] = set()
    for path in modules():
        module = name_of(path)
        for name in imported(nodes(path.read_text(encoding="utf-8"))):
            one, other = theme_of(module), theme_of(name)
            if one and other and one != other and part_of(module) == part_of(name):
                known.add((part_of(module), one, other))
    mutual = {(room, *sorted((one, other))) for room, one, other in known if (room, other, one) in known}
    assert len(mutual) <= MAX_MUTUAL, sorted(mutual)


def test_migrations_import_nothing_of_tidings() -> None:
    """What they need of it is copied into them: a later change of the code must not change an old migration."""
    versions = sorted((SOURCE / "tidings" / "storage" / "migrations" / "versions").glob("*.py"))
    found = [
        f"{path.name}: {name}"
        for path in versions
        for name in imported(nodes(path.read_text("utf-8")))
        if name.partition(".")[0] == "tidings"
    ]
    assert versions
    assert found == []


def aliases(parts: Iterable[ast.AST]) -> Iterator[str]:
    """Every import under another name; `import x as x` only marks a name as public."""
    for node in parts:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (f"{one.name} as {one.asname}" for one in node.names if one.asname not in {None, one.name})


@pytest.mark.slow
def test_imports_need_aliases_in_at_most_ten_places() -> None:
    """A name is the same wherever it is used: what is called otherwise at each import has the wrong name."""
    found = [f"{name_of(path)}: {one}" for path in modules() for one in aliases(nodes(path.read_text("utf-8")))]
    assert len(found) <= MAX_ALIASES, found


def test_an_alias_is_found() -> None:
    text = "import numpy as np\nfrom x import a, b as b\ndef late():\n    from x import c, d as e"
    assert list(aliases(nodes(text))) == ["numpy as np", "d as e"]


def test_the_check_covers_every_room() -> None:
    assert ROOMS.keys() | OUTERMOST == {part_of(name_of(path)) for path in modules()} - {""}


@pytest.mark.parametrize(
    ("module", "text", "says"),
    [
        ("tidings.domain.entries.entries", "from tidings.storage import entries", "domain may only know"),
        ("tidings.domain.entries.entries", "from tidings import storage", "domain may only know"),
        ("tidings.domain.entries.entries", "import tidings.settings", "domain may only know"),
        ("tidings.domain.entries.entries", "from tidings import metrics", "domain may only know"),
        ("tidings.storage.feeds.feeds", "from tidings.net.fetch import Fetcher", "storage may only know"),
        ("tidings.storage.feeds.feeds", "def late():\n    from tidings.services import feeds", "storage may only know"),
        ("tidings.net.fetch", "from tidings.storage import feeds", "net may only know base"),
        ("tidings.services.feeds.feeds", "from tidings.api import feeds", "services may only know"),
        ("tidings.api.endpoints.feeds", "from tidings.web import pages", "api may only know"),
        ("tidings.api.endpoints.feeds", "from tidings.net import fetch", "api may only know the errors of net"),
        ("tidings.worker.poller", "from tidings.storage import feeds", "worker may only know"),
        ("tidings.services.feeds.feeds", "from tidings.wiring import build", "services may only know"),
        ("tidings.api.endpoints.feeds", "from tidings.engine.database import Read, Write", "through services"),
        ("tidings.services.feeds.feeds", "import sqlalchemy as sa", "storage, sync, views, websub may"),
        ("tidings.services.feeds.feeds", "from aiohttp import ClientSession", "only net may"),
        ("tidings.wiring.services", "import sqlite3", "storage may"),
        ("tidings.worker.poller", "import subprocess", "may"),
        ("tidings.services.feeds.feeds", "import requests", "does not know"),
        ("tidings.services.feeds.feeds", "from . import entries", "say where from"),
        ("tidings.domain.entries.entries", "import socket", "does not touch the world"),
        ("tidings.domain.entries.entries", "from urllib.request import urlopen", "does not touch the world"),
        ("tidings.domain.entries.entries", "from urllib import request", "does not touch the world"),
        ("tidings.domain.entries.entries", "import time", "does not touch the world"),
        ("tidings.domain.entries.entries", "def f(d):\n    return d.now()", "does not touch the world"),
        ("tidings.domain.entries.entries", "open('x')", "does not touch the world"),
        ("tidings.wiring.services", "import os\nos.environ['X']", "only settings does"),
        ("tidings.services.feeds.feeds", "from os import getenv", "only settings does"),
        ("tidings.attic", "", "not a known room"),
        (
            "tidings.content.cleaning.sanitize",
            "from tidings.domain.feeds.feeds import Feed",
            "content may only know base",
        ),
        ("tidings.services.feeds.feeds", "from tidings.websub import store", "services may only know"),
        ("tidings.media.proxy", "from tidings.websub import store", "media may only know"),
        ("tidings.media.queue", "from sqlalchemy import select", "SQL of a slice is in its modules tables and store"),
        ("tidings.media.proxy_pages", "from tidings.web.pages import entry", "routes and handlers of surfaces"),
        ("tidings.media.policy", "import time", "does not touch the world"),
        ("tidings.media.store", "from tidings.websub.tables import websub_topics", "media may only know"),
        ("tidings.maintenance.status", "from tidings.deliveries.tables import deliveries", "maintenance may only know"),
        ("tidings.maintenance.store.status", "from tidings.deliveries import store", "maintenance may only know"),
        ("tidings.storage.polling.sources", "from tidings.websub.tables import websub_topics", "storage may only know"),
        ("tidings.media.proxy", "from tidings.settings import Settings", "media may only know"),
        ("tidings.media.proxy", "from tidings.wiring.slice import Slice", "media may only know"),
        ("tidings.media.wiring", "from tidings.wiring.services import AllServices", "media may only know"),
        ("tidings.media.wiring", "from tidings.websub.services import WebSubServices", "media may only know"),
        ("tidings.media.proxy", "from tidings.media.wiring import SLICE", "only wiring knows"),
        ("tidings.api.app", "from tidings.media.wiring import SLICE", "only wiring knows"),
        ("tidings.web.app", "from tidings.api import replies", "web may only know"),
        ("tidings.engine.statements", "from tidings.storage.schema import users", "engine may only know"),
        ("tidings.http.surface", "from tidings.domain.accounts.users import User", "http may only know"),
    ],
)
def test_a_module_that_leaves_its_room_is_found(module: str, text: str, says: str) -> None:
    assert any(says in found for found in violations(module, text)), violations(module, text)


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("tidings.api.endpoints.feeds", "from tidings import __version__\nfrom tidings.domain import feeds"),
        ("tidings.api.endpoints.feeds", "from tidings.engine.database import Read"),
        ("tidings.media.proxy_pages", "from tidings.web.context import RequestContext"),
        ("tidings.media.store", "from sqlalchemy import select"),
        ("tidings.media.tables", "from sqlalchemy import Table"),
        ("tidings.maintenance.store.status", "from tidings.deliveries.tables import deliveries"),
        ("tidings.media.wiring", "from tidings.settings import Settings\nfrom tidings.wiring.slice import Slice"),
        ("tidings.wiring.slices", "from tidings.media.wiring import SLICE"),
        ("tidings.storage.feeds.feeds", "from sqlalchemy import select"),
        ("tidings.settings.loading", "import os\nos.environ['X']"),
        ("tidings.domain.entries.entries", "from urllib.parse import urlsplit\nfrom datetime import datetime"),
        ("tidings.content.pictures.scaling", "from PIL import Image\nImage.open(picture)"),
    ],
)
def test_a_module_that_stays_in_its_room_breaks_no_rule(module: str, text: str) -> None:
    assert violations(module, text) == []


# Third-party libraries that open connections or databases.
OUTSIDE = frozenset({"aiohttp", "psycopg", "sqlalchemy", "starlette"})


@pytest.mark.slow
@pytest.mark.parametrize("library", sorted(LIBRARIES))
def test_a_library_is_imported_without_the_core(library: str) -> None:
    """In a fresh interpreter, so that what its dependencies import counts as well."""
    names = [name_of(path) for path in modules() if part_of(name_of(path)) == library]
    code = (
        f"import sys; from importlib import import_module\nfor one in {names}: import_module(one)\nprint(*sys.modules)"
    )

    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()

    assert {part_of(one) for one in loaded if one.startswith("tidings.")} <= {library} | LIBRARIES[library]
    if library in {"base", "content", "query"}:
        assert OUTSIDE & {one.partition(".")[0] for one in loaded} == set()
