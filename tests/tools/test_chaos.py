"""`make chaos` in its short form: everything is killed once while clients write."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_nothing_that_was_acknowledged_is_lost_when_everything_is_killed(engine: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "chaos", "--short", "--seconds", "8", "--recovery", "600", "--engine", engine],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT / 'tools'}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
