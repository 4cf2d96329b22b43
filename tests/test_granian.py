"""The private functions of Granian that the web process uses are those of the version that is installed.

When one of these tests fails, a newer Granian was allowed. Read what changed in its `server/common.py` and
`server/mp.py` since the version below, correct `src/tidings/runtime/granian_internals.py`, run
`tests/test_supervisor.py`, `tests/test_connections.py` and `tests/test_logs.py`, and then raise READ and the bound in
`pyproject.toml`.
"""

from __future__ import annotations

import ast
import inspect
import re
import signal
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from importlib.metadata import version
from pathlib import Path
from typing import cast

import pytest
from granian import _signals
from granian.constants import Interfaces
from granian.http import HTTP1Settings
from granian.log import LOGGING_CONFIG

from tidings.runtime import granian_internals
from tidings.settings import LogLevel

ROOT = Path(__file__).parents[1]
# The minor version whose source was read.
READ = "2.8"
WHAT_TO_DO = __doc__


def test_only_the_version_that_was_read_is_allowed() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    major, minor = map(int, READ.split("."))

    assert f"granian>={READ},<{major}.{minor + 1}" in declared, WHAT_TO_DO
    assert version("granian").startswith(f"{READ}."), WHAT_TO_DO


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("_init_shared_socket", ["self"]),
        ("_spawn_worker", ["self", "idx", "target", "callback_loader"]),
        ("_spawn_asgi_lifespan_worker", ["worker_id", "callback", "sock"]),
    ],
)
def test_private_functions_have_the_arguments_that_we_pass(name: str, arguments: list[str]) -> None:
    found = getattr(granian_internals.Server, name, None)

    assert found is not None, WHAT_TO_DO
    assert [*inspect.signature(found).parameters][: len(arguments)] == arguments, WHAT_TO_DO


def test_a_worker_is_described_by_a_process_with_the_arguments_that_we_replace() -> None:
    """The address comes first in the sockets, and building it gives a listener with a descriptor."""
    server = granian_internals.Server("", address="127.0.0.1", port=0, interface=Interfaces.ASGI)
    granian_internals.bind(server)
    worker = server._spawn_worker(0, print, print)
    ((address, _listener), _shared) = worker.inner._args[3]

    assert callable(worker.inner.run), WHAT_TO_DO
    assert worker.inner._args[2] is print, WHAT_TO_DO
    assert address is None or address.build().get_fd() > 0, WHAT_TO_DO


def test_the_certificate_is_in_the_settings_that_workers_get() -> None:
    server = granian_internals.Server("", address="127.0.0.1", port=0, interface=Interfaces.ASGI)
    is_tls, certificate, key, *rest = server.ssl_ctx

    granian_internals.set_certificate(server, Path("/certificate"), Path("/key"))

    assert (is_tls, certificate, key) == (False, None, None), WHAT_TO_DO
    assert server.ssl_ctx == (True, "/certificate", "/key", *rest), WHAT_TO_DO
    granian_internals.bind(server)
    assert server.ssl_ctx in server._spawn_worker(0, print, print).inner._args, WHAT_TO_DO


def test_granian_waits_for_the_signals_that_we_handle() -> None:
    found = _signals.set_loop_signals

    assert [*inspect.signature(found).parameters] == ["loop"], WHAT_TO_DO
    assert {*_signals._get_signals()} == {signal.SIGINT, signal.SIGTERM}, WHAT_TO_DO  # type: ignore[no-untyped-call]
    assert "import set_loop_signals" in inspect.getsource(granian_internals.Server._spawn_asgi_lifespan_worker)


def test_the_configured_loggers_are_those_of_granian() -> None:
    configured = granian_internals.logging_config(LogLevel.INFO)["loggers"]

    assert configured.keys() == cast("dict[str, object]", LOGGING_CONFIG["loggers"]).keys(), WHAT_TO_DO


def test_granian_cannot_answer_a_client_that_has_closed_its_sending_side() -> None:
    """hyper can (`half_close`), and Granian does not offer it. Once it does: set it in `web_process`, correct
    "Connections" in docs/operations.md, and test that such a client gets its answer.
    """
    assert "half_close" not in {field.name for field in fields(HTTP1Settings)}


@pytest.mark.slow
def test_no_other_module_uses_what_is_private_in_granian() -> None:
    found = [
        (path.name, name)
        for path in (ROOT / "src" / "tidings").rglob("*.py")
        for name in _imported_from_granian(path)
        if path.name != "granian_internals.py"
    ]

    assert found
    assert [(path, name) for path, name in found if re.search(r"(^|\.)_|granian\.server", name)] == []


def _imported_from_granian(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    # Parsing every module takes two seconds, and most do not even contain the name.
    if "granian" not in text:
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "granian":
            yield from (f"{node.module}.{one.name}" for one in node.names)
        elif isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name.partition(".")[0] == "granian")
