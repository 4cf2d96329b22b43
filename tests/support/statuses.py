"""Records the statuses that tests receive, per route. The OpenAPI document and docs/api.md list all of them.

python -m support.statuses RECORD      writes the table of docs/api.md from the file that `make statuses` recorded
"""

from __future__ import annotations

import os
import sys
from functools import cache, lru_cache
from pathlib import Path

from starlette.routing import Match, Route

from tidings.api.openapi import failures, operations_of, successes
from tidings.http.endpoints import Endpoint
from tidings.wiring.routes import DOCUMENTED_ROUTES

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
BEGIN, END = "<!-- statuses: written by `make statuses` -->\n", "<!-- end of statuses -->\n"

_noted: set[tuple[str, str, int]] = set()


@cache
def table() -> list[tuple[Route, Endpoint]]:
    """Return the routes in the order in which the service matches them: fixed names before ids."""
    ordered = sorted(DOCUMENTED_ROUTES, key=lambda endpoint: "{" in endpoint.path)
    return [(Route(endpoint.path, endpoint.handler, methods=[endpoint.method]), endpoint) for endpoint in ordered]


@lru_cache(maxsize=10_000)
def find(method: str, path: str) -> Endpoint | None:
    scope = {"type": "http", "method": method, "path": path}
    return next((endpoint for route, endpoint in table() if route.matches(scope)[0] is Match.FULL), None)


def documented(route: Endpoint) -> list[int]:
    return sorted({*successes(route), *failures(route)})


def note(method: str, path: str, status: int) -> None:
    """Record a response. Fails when the OpenAPI document does not list its status."""
    route = find(method, path.partition("?")[0])
    if route is None or status == 307:  # 307 redirects any path to its normal form
        return
    assert status in documented(route), f"{route.method} {route.path} returned {status}, which it does not declare"
    record = os.environ.get("RECORD_STATUSES")
    if record and (route.method, route.path, status) not in _noted:
        _noted.add((route.method, route.path, status))
        with Path(record).open("a") as file:
            file.write(f"{route.method} {route.path} {status}\n")


def rows(record: str) -> list[str]:
    met = set(record.splitlines())
    lines = ["| endpoint | received by tests | documented, but not received |", "|---|---|---|"]
    for route in operations_of(DOCUMENTED_ROUTES).values():
        name = f"{route.method} {route.path}"
        tested = [status for status in documented(route) if f"{name} {status}" in met]
        missing = [status for status in documented(route) if status not in tested]
        lines.append(f"| {name} | {_joined(tested)} | {_joined(missing)} |")
    return lines


def _joined(statuses: list[int]) -> str:
    return " ".join(map(str, statuses)) or "–"


def main() -> None:
    record = Path(sys.argv[1])
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + BEGIN + "\n".join(rows(record.read_text())) + "\n" + END + after)


if __name__ == "__main__":
    main()
