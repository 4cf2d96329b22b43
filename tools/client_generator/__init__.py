"""Writes the client for Python, clients/python, from the OpenAPI document.

    document ─► types.py ─► models.py │ operations.py ─► _async_client.py ─► blocking.py ─► _client.py

`make client` runs it on contracts/openapi.json. What is the same for every operation is written by hand:
`_exchange.py`, and `_async_connection.py`, of which the blocking one is derived.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from client_generator import blocking, client, errors, models
from client_generator.operations import operations_of
from client_generator.types import Types

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "clients" / "python" / "src" / "tidings_client"
DOCUMENT = ROOT / "contracts" / "openapi.json"


def generated(document: dict[str, Any]) -> dict[str, str]:
    """Return the text of each file that is derived from the document. The order of its members does not matter."""
    # As it is in contracts/, for a document that the service has just made as well.
    document = json.loads(json.dumps(document, sort_keys=True))
    types = Types(document)
    operations = operations_of(document, types)
    async_client = formatted(client.text(operations))
    async_connection = (PACKAGE / "_async_connection.py").read_text(encoding="utf-8")
    return {
        "models.py": formatted(models.text(types, operations)),
        "errors.py": formatted(errors.text(document)),
        "_async_client.py": async_client,
        "_client.py": formatted(blocking.derived(async_client)),
        "_connection.py": formatted(blocking.derived(async_connection)),
    }


def formatted(text: str) -> str:
    """Return code as `make format` leaves it."""
    return _ruff("format", text=_ruff("check", "--fix-only", "--unsafe-fixes", text=text))


def _ruff(*command: str, text: str) -> str:
    options = ("--quiet", "--no-cache", f"--stdin-filename={PACKAGE / 'generated.py'}", "-")
    return subprocess.run(
        [sys.executable, "-m", "ruff", *command, *options],
        input=text,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
