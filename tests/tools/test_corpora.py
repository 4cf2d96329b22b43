"""Tools find published test data where the tests find it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TOOLS = Path(__file__).parents[2] / "tools"


def test_tools_read_corpora_from_the_folder_that_the_environment_names(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from scoring.archives import archive_path; print(archive_path('feeds'))"]
    environment = os.environ | {"PYTHONPATH": str(TOOLS), "TIDINGS_CORPORA": str(tmp_path)}

    told = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)

    assert Path(told.stdout.strip()) == tmp_path / "feeds.tar.xz"
