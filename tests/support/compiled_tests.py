"""Test files of which each process of a run compiles a share before it collects them all.

pytest rewrites the assertions of a file when it is imported first. In a new checkout, each process would do that with
all of them at the same time: 11 s of processor time for each, more than half of what collecting takes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from _pytest.assertion import rewrite


def compile_share(config: pytest.Config, files: Sequence[Path]) -> None:
    """Compile what falls to this process of xdist; nothing in a run of a single process.

    files: the same in each process, in the same order.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None or sys.dont_write_bytecode:
        return
    number = int(worker["workerid"].removeprefix("gw"))
    for file in files[number :: worker["workercount"]]:
        # pytest says what is wrong with it when it is collected.
        with suppress(SyntaxError):
            _compile(config, file)


def _compile(config: pytest.Config, file: Path) -> None:
    """Do what pytest does before it runs a module, where it has not been done."""
    folder = rewrite.get_cache_dir(file)
    compiled = folder / f"{file.stem}{rewrite.PYC_TAIL}"
    if rewrite._read_pyc(file, compiled) is None and rewrite.try_makedirs(folder):
        digest, code = rewrite._rewrite_test(file, config)
        rewrite._write_pyc(config.stash[rewrite.assertstate_key], code, digest, compiled)
