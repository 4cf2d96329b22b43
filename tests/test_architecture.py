"""The arrows of docs/architecture.md, checked on every import; and the proof that the check can fail."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
MAX_FILE_LINES = 500

SURFACES = frozenset({"api", "web", "greader", "fever"})
# ring: the rings that it may import besides itself.
RINGS: dict[str, frozenset[str]] = {
    "domain": frozenset(),
    # Told by everybody what happened, and knows nobody.
    "metrics": frozenset(),
    "storage": frozenset({"domain", "metrics"}),
    "net": frozenset({"domain", "metrics"}),
    "services": frozenset({"domain", "metrics", "storage", "net"}),
    # What the surfaces share of HTTP; it knows neither them nor what they are for.
    "http": frozenset({"domain", "metrics"}),
    "worker": frozenset({"domain", "metrics", "services"}),
    **dict.fromkeys(SURFACES, frozenset({"domain", "metrics", "storage", "services", "http"})),
    # What is set is decided without knowing who uses it.
    "settings": frozenset({"domain"}),
}
OUTERMOST = frozenset({"__main__", "asgi", "cli", "commands", "runtime", "settings_views", "wiring"})

# Inside domain, storage and services, modules are grouped by theme; a theme has the same name in each ring.
# theme: the other themes that it may import, in any ring.
THEMES: dict[str, frozenset[str]] = {
    "accounts": frozenset({"entries", "feeds", "rules"}),
    "feeds": frozenset({
        "accounts", "articles", "discovery", "entries", "formats", "icons", "polling", "rules", "websub"
    }),
    "entries": frozenset({"accounts", "articles", "cleaning", "deliveries", "feeds", "polling"}),
    "polling": frozenset({
        "accounts", "articles", "cleaning", "deliveries", "entries", "feeds", "rules", "websub"
    }),
    "websub": frozenset({"accounts", "feeds", "polling"}),
    "deliveries": frozenset({"accounts", "entries", "feeds", "integrations", "polling"}),
    "maintenance": frozenset({"accounts", "deliveries", "entries", "feeds", "polling", "websub"}),
    "articles": frozenset({"cleaning", "formats", "rules"}),
    "cleaning": frozenset(),
    "discovery": frozenset({"cleaning", "feeds", "formats"}),
    "formats": frozenset({"cleaning", "feeds"}),
    "icons": frozenset({"cleaning", "discovery", "formats"}),
    "integrations": frozenset({"deliveries", "feeds"}),
    "media": frozenset({"accounts", "cleaning", "icons", "polling"}),
    "archives": frozenset({"accounts", "cleaning", "deliveries", "entries", "feeds", "integrations", "polling"}),
    "rules": frozenset({"feeds"}),
}  # fmt: skip
GROUPED_RINGS = frozenset({"domain", "storage", "services"})
# Folders of storage that every theme needs; they know entries only, for the search index.
SHARED_FOLDERS = {"engine": frozenset({"entries"}), "schema": frozenset[str](), "migrations": frozenset[str]()}
MAX_MODULES_PER_FOLDER = 20

# Third-party library, or a part of the standard library with a door to the outside: the parts that may use it.
# A new dependency is entered here, and in docs/decisions/001-dependencies.md.
USERS: dict[str, frozenset[str]] = {
    "aiohttp": frozenset({"net"}),
    "aiohttp_socks": frozenset({"net"}),
    "python_socks": frozenset({"net"}),
    "yarl": frozenset({"net"}),
    "ssl": frozenset({"net"}),
    "brotli": frozenset({"net", "http"}),
    "backports": frozenset({"net", *SURFACES}),
    "compression": frozenset({"net", *SURFACES}),
    "zstandard": frozenset({"storage", "http"}),
    "sqlalchemy": frozenset({"storage"}),
    "alembic": frozenset({"storage"}),
    "psycopg": frozenset({"storage"}),
    "sqlite3": frozenset({"storage"}),
    "argon2": frozenset({"services"}),
    "lxml": frozenset({"domain"}),
    "selectolax": frozenset({"domain"}),
    "re2": frozenset({"domain"}),
    "readability": frozenset({"domain"}),
    "snowballstemmer": frozenset({"domain"}),
    "PIL": frozenset({"domain"}),
    "jinja2": frozenset({"web"}),
    "markupsafe": frozenset({"web"}),
    "babel": frozenset({"web"}),
    "segno": frozenset({"web"}),
    "msgspec": frozenset({*RINGS, *OUTERMOST}),
    "structlog": frozenset({*RINGS, *OUTERMOST}) - {"domain"},
    "prometheus_client": frozenset({"metrics"}),
    "apprise": frozenset({"runtime"}),
    "granian": frozenset({"runtime"}),
    "minify": frozenset({"runtime"}),
    "python_multipart": frozenset({"http"}),
    "starlette": frozenset({"http", *SURFACES, "asgi", "wiring"}),
    "cyclopts": frozenset({"cli", "commands"}),
    "rich": frozenset({"commands"}),
    "platformdirs": frozenset({"settings"}),
    "subprocess": OUTERMOST,
    "multiprocessing": OUTERMOST,
    "resource": OUTERMOST,
    "signal": OUTERMOST,
}
# Time, chance and the world reach the domain as arguments.
NOT_IN_DOMAIN = frozenset({
    "asyncio", "concurrent", "http", "importlib", "io", "logging", "multiprocessing", "os", "pathlib", "random",
    "secrets", "shutil", "signal", "socket", "sqlite3", "ssl", "subprocess", "sys", "tempfile", "threading", "time",
    "urllib.request", "uuid",
})  # fmt: skip
NOT_CALLED_IN_DOMAIN = frozenset({"open", "print", "input", "now", "utcnow", "today"})
# (module, import): why it is right there all the same.
EXCEPTIONS = {
    ("tidings.content.search.stemming", "threading"): "a stemmer holds its word: each thread has its own",
    ("tidings.content.rules.regex", "time"): "the processor time that an expression may take, not a clock",
    ("tidings.content.rules.budget", "time"): "the processor time that all rules may take, not a clock",
    ("tidings.content.icons.raster", "io"): "a picture in memory, in the form that Pillow takes and gives",
    ("tidings.media.scaling", "io"): "a picture in memory, in the form that Pillow takes and gives",
    ("tidings.content.icons.app_icon", "io"): "a picture in memory, in the form that Pillow gives",
    ("tidings.deliveries.registry", "importlib"): "leaves are found by looking into their folder",
    ("tidings.services.worker_pool", "subprocess"): "helpers do what must not be done here, such as looking at pages",
}
ENVIRONMENT = frozenset({"environ", "environb", "getenv", "putenv", "unsetenv"})


def part_of(module: str) -> str:
    """`tidings.api.endpoints.feeds` is part of `api`; `tidings` itself of nothing."""
    return [*module.split("."), ""][1]


def imported(tree: ast.AST) -> Iterator[str]:
    """Every module that is imported anywhere, also inside functions and for type checking only."""
    for node in ast.walk(tree):
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
    """Every rule that a module breaks, in words."""
    tree = ast.parse(text)
    part = part_of(module)
    found = []
    if part and part not in RINGS and part not in OUTERMOST:
        found.append(f"{part} has no ring yet: name one in this test and in the docs")
    found += _theme_rules(module, tree)
    for name in imported(tree):
        if (module, name) in EXCEPTIONS:
            continue
        found += [f"{module} imports {name}: {why}" for why in _import_rules(part, name)]
    found += [f"{module} {why}" for why in _use_rules(part, tree)]
    return found


def _import_rules(part: str, name: str) -> Iterator[str]:
    top = name.split(".", maxsplit=1)[0]
    other = part_of(name)
    if top == "a relative import":
        yield "say where from"
    elif top == "tidings":
        is_module = other in RINGS or other in OUTERMOST
        if is_module and part in RINGS and other != part and other not in RINGS[part]:
            yield f"{part} may only know {', '.join(sorted(RINGS[part])) or 'itself'}"
    elif top in USERS and part not in USERS[top]:
        yield f"only {', '.join(sorted(USERS[top]))} may"
    elif top not in USERS and top not in sys.stdlib_module_names:
        yield "a library that this test does not know"
    if part == "domain" and (top in NOT_IN_DOMAIN or name in NOT_IN_DOMAIN):
        yield "the domain does not touch the world"


def theme_of(module: str) -> str:
    """`tidings.storage.feeds.icons` belongs to the theme `feeds`, `tidings.base.times` to none."""
    _, part, theme, *more = [*module.split("."), "", ""]
    return theme if part in GROUPED_RINGS and (more[0] or theme in {*THEMES, *SHARED_FOLDERS}) else ""


def _theme_rules(module: str, tree: ast.AST) -> Iterator[str]:
    theme = theme_of(module)
    if theme not in {"", *THEMES, *SHARED_FOLDERS}:
        yield f"{theme} is no theme yet: enter it in THEMES"
    if part_of(module) not in GROUPED_RINGS or not theme:
        return
    allowed = {"", theme, *SHARED_FOLDERS} | THEMES.get(theme, SHARED_FOLDERS.get(theme, frozenset()))
    for name in imported(tree):
        if theme_of(name) not in allowed:
            yield f"{module} imports {name}: {theme} may not know {theme_of(name)}"


def _use_rules(part: str, tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if part != "settings" and _touches_environment(node):
            yield "reads the environment: only settings does"
        if part in SURFACES and isinstance(node, ast.ImportFrom) and node.module == "tidings.engine.database":
            yield from (
                "takes a writing connection: surfaces change things through services"
                for name in node.names
                if name.name == "Write"
            )
        if part == "domain" and isinstance(node, ast.Call) and _called(node) in NOT_CALLED_IN_DOMAIN:
            yield f"calls {_called(node)}(): the domain does not touch the world"


def _touches_environment(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id == "os" and node.attr in ENVIRONMENT
    return isinstance(node, ast.ImportFrom) and node.module == "os" and any(n.name in ENVIRONMENT for n in node.names)


def _called(node: ast.Call) -> str:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_a_module_stays_in_its_ring(path: Path) -> None:
    assert violations(name_of(path), path.read_text(encoding="utf-8")) == []


def test_no_file_is_too_long() -> None:
    lengths = {
        name_of(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in modules()
        if "migrations" not in path.parts  # written once, then never touched again
    }
    assert {name: length for name, length in lengths.items() if length > MAX_FILE_LINES} == {}


def test_no_folder_has_too_many_modules() -> None:
    counts: dict[str, int] = {}
    for path in modules():
        if path.name != "__init__.py" and "providers" not in path.parts and "versions" not in path.parts:
            counts[str(path.parent.relative_to(SOURCE))] = counts.get(str(path.parent.relative_to(SOURCE)), 0) + 1
    assert {folder: count for folder, count in counts.items() if count > MAX_MODULES_PER_FOLDER} == {}


def test_the_check_covers_every_ring() -> None:
    parts = {part_of(name_of(path)) for path in modules()}
    assert {"domain", "storage", "net", "services", "api", "worker", "settings", "cli"} <= parts


@pytest.mark.parametrize(
    ("module", "text", "says"),
    [
        ("tidings.domain.entries.entries", "from tidings.storage import entries", "may only know itself"),
        ("tidings.domain.entries.entries", "from tidings import storage", "may only know itself"),
        ("tidings.domain.entries.entries", "import tidings.settings", "may only know itself"),
        ("tidings.domain.entries.entries", "from tidings import metrics", "may only know itself"),
        ("tidings.storage.feeds.feeds", "from tidings.net.fetch import Fetcher", "may only know domain"),
        ("tidings.storage.feeds.feeds", "def late():\n    from tidings.services import feeds", "may only know domain"),
        ("tidings.net.fetch", "from tidings.storage import feeds", "may only know domain"),
        ("tidings.services.feeds.feeds", "from tidings.api import feeds", "services may only know"),
        ("tidings.api.endpoints.feeds", "from tidings.web import pages", "api may only know"),
        ("tidings.api.endpoints.feeds", "from tidings.net import fetch", "api may only know"),
        ("tidings.worker.poller", "from tidings.storage import feeds", "worker may only know"),
        ("tidings.services.feeds.feeds", "from tidings.wiring import build", "services may only know"),
        ("tidings.api.endpoints.feeds", "from tidings.engine.database import Read, Write", "through services"),
        ("tidings.services.feeds.feeds", "import sqlalchemy as sa", "only storage may"),
        ("tidings.services.feeds.feeds", "from aiohttp import ClientSession", "only net may"),
        ("tidings.wiring", "import sqlite3", "only storage may"),
        ("tidings.worker.poller", "import subprocess", "may"),
        ("tidings.services.feeds.feeds", "import requests", "does not know"),
        ("tidings.services.feeds.feeds", "from . import entries", "say where from"),
        ("tidings.domain.entries.entries", "import socket", "does not touch the world"),
        ("tidings.domain.entries.entries", "from urllib.request import urlopen", "does not touch the world"),
        ("tidings.domain.entries.entries", "from urllib import request", "does not touch the world"),
        ("tidings.domain.entries.entries", "import time", "does not touch the world"),
        ("tidings.domain.entries.entries", "def f(d):\n    return d.now()", "does not touch the world"),
        ("tidings.domain.entries.entries", "open('x')", "does not touch the world"),
        ("tidings.wiring", "import os\nos.environ['X']", "only settings does"),
        ("tidings.services.feeds.feeds", "from os import getenv", "only settings does"),
        ("tidings.attic", "", "no ring"),
        ("tidings.storage.accounts.users", "from tidings.storage.polling import claims", "may not know polling"),
        ("tidings.content.cleaning.sanitize", "from tidings.domain.feeds.feeds import Feed", "may not know feeds"),
        ("tidings.services.attic.boxes", "", "no theme yet"),
    ],
)
def test_a_module_that_leaves_its_ring_is_found(module: str, text: str, says: str) -> None:
    assert any(says in found for found in violations(module, text)), violations(module, text)


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("tidings.api.endpoints.feeds", "from tidings import __version__\nfrom tidings.domain import feeds"),
        ("tidings.api.endpoints.feeds", "from tidings.engine.database import Read"),
        ("tidings.storage.feeds.feeds", "from sqlalchemy import select"),
        ("tidings.settings.loading", "import os\nos.environ['X']"),
        ("tidings.domain.entries.entries", "from urllib.parse import urlsplit\nfrom datetime import datetime"),
    ],
)
def test_a_module_that_stays_in_its_ring_breaks_no_rule(module: str, text: str) -> None:
    assert violations(module, text) == []
