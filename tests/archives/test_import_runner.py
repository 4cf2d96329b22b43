"""The processes of imports, when they end before they have begun."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tidings.archives.import_runner import ProcessImportRunner
from tidings.archives.import_runs import ImportTask
from tidings.settings.loading import load

# More than a pipe holds: the writer notices that the reader has ended.
TASK = ImportTask("miniflux", "example.org", secret="x" * 2**20)


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProcessImportRunner:
    program = tmp_path / "ends at once"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    return ProcessImportRunner(load({"TIDINGS_DATA_DIR": str(tmp_path)}))


def test_a_process_that_ends_at_once_is_named_with_its_exit_code(runner: ProcessImportRunner) -> None:
    with pytest.raises(RuntimeError, match="exit code 3"):
        runner.run("alice", TASK, lambda _done, _total: None)
