"""Writes errors.py: an exception for each status that the document names, and the codes."""

from __future__ import annotations

import json
from typing import Any

from client_generator.text import GENERATED, docstring

HEAD = f'''"""What the service answers when it refuses a request: a class for each status.

All are an `ApiError`, with `status`, `code`, `field`, `detail` and `retry_after_s`.

{GENERATED}
"""

from __future__ import annotations

from typing import Final, Literal

from tidings_client._failures import ApiError, TidingsError, Unreachable

'''
RESPONSES = "#/components/responses/"


def text(document: dict[str, Any]) -> str:
    """Return the module."""
    statuses = _statuses(document)
    codes = document["x-error-codes"]
    names = sorted([*statuses.values(), "ApiError", "ErrorCode", "TidingsError", "Unreachable"])
    parts = [HEAD, f"__all__ = [{', '.join(map(json.dumps, names))}]\n"]
    parts += [f"ErrorCode = Literal[{', '.join(json.dumps(code) for code in sorted(codes))}]\n"]
    for name in statuses.values():
        about = document["components"]["responses"][name]["description"]
        parts += [f"class {name}(ApiError):\n{docstring(about, indent='    ')}"]
    classes = ", ".join(f"{status}: {name}" for status, name in statuses.items())
    parts += [f"BY_STATUS: Final[dict[int, type[ApiError]]] = {{{classes}}}\n"]
    return "\n\n".join(parts)


def _statuses(document: dict[str, Any]) -> dict[int, str]:
    """Return the name of each error by status."""
    found = {
        int(status): response["$ref"].removeprefix(RESPONSES)
        for operations in document["paths"].values()
        for operation in operations.values()
        for status, response in operation["responses"].items()
        if "$ref" in response
    }
    return dict(sorted(found.items()))
