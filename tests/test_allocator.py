"""Memory that was needed for a moment is given back. Garbage is collected in processes that end with the test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tidings.engine.database import Database
from tidings.runtime import allocator
from tidings.settings import load
from tidings.wiring.surfaces import asgi_app

COLLECTS = """
import gc, threading, weakref
from tidings.runtime import allocator

class Cycle:
    def __init__(self):
        self.itself = self

def release():
    calls.release()
    return little_to_do

little_to_do, calls = {little_to_do}, threading.Semaphore(0)
gc.disable()
garbage = weakref.ref(Cycle())
allocator.TRIM_INTERVAL_S = 0.001
allocator.release_regularly(release)
allocator.keep_trimming()
for _ in range(3):
    calls.acquire()
print("collected" if garbage() is None else "kept")
"""


@pytest.mark.parametrize(("little_to_do", "says"), [(True, "collected"), (False, "kept")])
def test_a_process_with_little_to_do_collects_garbage(little_to_do: bool, says: str) -> None:
    script = COLLECTS.format(little_to_do=little_to_do)

    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)

    assert printed.stdout.strip() == says


@pytest.mark.slow
def test_a_web_worker_closes_unused_connections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registered: list[object] = []
    monkeypatch.setattr(allocator, "_releases", registered)

    asgi_app(load({"TIDINGS_DATA_DIR": str(tmp_path)}, None))

    assert [getattr(release, "__func__", None) for release in registered] == [Database.close_unused]
