"""A client for TypeScript, generated from the OpenAPI document by others' generator, compiles."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from support import node
from support.contracts import FOLDER as CONTRACTS
from support.debian import ProgramMissing

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent / "typescript"


def test_a_script_with_generated_types_compiles(tmp_path: Path) -> None:
    """The script names what has to compile, and what must not."""
    try:
        program, installed = node.node(), node.installed(FOLDER)
    except ProgramMissing as error:
        pytest.skip(str(error))
    (tmp_path / "node_modules").symlink_to(installed / "node_modules")
    for name in ("example.ts", "tsconfig.json", "package.json"):
        shutil.copy(FOLDER / name, tmp_path)

    # As a module of its own, since the compiler is asked to skip declarations.
    run(tmp_path, program, "openapi-typescript/bin/cli.js", CONTRACTS / "openapi.json", "--output", "api.ts")
    run(tmp_path, program, "typescript/bin/tsc", "--project", ".")

    types = (tmp_path / "api.ts").read_text(encoding="utf-8")
    operations = re.findall(r'"operationId": "(\w+)"', (CONTRACTS / "openapi.json").read_text(encoding="utf-8"))
    assert len(operations) > 100
    assert [name for name in operations if f"    {name}: {{" not in types] == []


def run(folder: Path, program: Path, script: str, *arguments: str | Path) -> None:
    done = subprocess.run(
        [program, folder / "node_modules" / script, *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"{script}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
