"""What web workers and workers have in memory after their start: nothing that most of them never use."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

# Migrations, push services, icons, QR codes, ways to sign in, LMTP; the SDK for agents takes 56 MB.
LOADED_WHEN_NEEDED = frozenset(
    {
        "alembic",
        "mako",
        "apprise",
        "PIL",
        "segno",
        "joserfc",
        "webauthn",
        "cryptography",
        "pyotp",
        "mcp",
        "pydantic",
        "aiosmtpd",
    }
)

# What the supervisor imports, and what each kind of process does before it waits for work.
START = """
import sys
from pathlib import Path
from tidings import cli, settings
from tidings.wiring import application as wiring, surfaces
from tidings.runtime import children, supervisor

loaded = settings.load({"TIDINGS_DATA_DIR": sys.argv[1]})

def prepare():
    application = wiring.Application(loaded)
    application.migrate()
    application.close()
    return 0

def start_worker():
    application = wiring.Application(loaded)
    application.check()
    application.expect_schema()
    return report("worker")

def start_web():
    surfaces.asgi_app(loaded)
    return report("web worker")

def report(role):
    print(role, *sorted({name.partition(".")[0] for name in sys.modules}), flush=True)
    return 0

assert not any(map(children.run_once, (prepare, start_worker, start_web)))
"""


def test_heavy_libraries_are_not_loaded_at_the_start(tmp_path: object) -> None:
    done = subprocess.run([sys.executable, "-c", START, str(tmp_path)], check=True, capture_output=True, text=True)

    worker, web = [set(line.split()) for line in done.stdout.splitlines()]
    assert {"worker", "sqlalchemy"} <= worker
    assert {"web", "sqlalchemy"} <= web
    assert worker & LOADED_WHEN_NEEDED == set()
    assert web & LOADED_WHEN_NEEDED == set()
