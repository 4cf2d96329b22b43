"""A test process that ends in the middle of a test is replaced, and the run goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parents[1]
SCHEDULER = """
from support.file_scheduler import FileScheduler

def pytest_xdist_make_scheduler(config, log):
    return FileScheduler(config, log)
"""
KILLED = """
import os, signal

def test_before(): pass
def test_killed(): os.kill(os.getpid(), signal.SIGKILL)
def test_after(): pass
"""


def test_a_test_that_ends_its_process_fails_and_the_others_pass(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(SCHEDULER)
    for number in range(8):
        (tmp_path / f"test_{number}.py").write_text(KILLED if number == 3 else "def test_alone(): pass")

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "xdist", "-p", "no:cacheprovider", "-n1", "-q"],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(TESTS), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )

    assert "1 failed, 9 passed" in done.stdout, done.stdout + done.stderr
    assert "crashed while running 'test_3.py::test_killed'" in done.stdout
