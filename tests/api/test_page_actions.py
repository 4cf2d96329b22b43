"""The tables in docs/api.md of what pages do, and with which endpoints programs do it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from support.statuses import PAGE
from tidings.wiring.routes import API_DOCUMENT, PAGE_ROUTES

SECTION = "\n## What pages do\n"


def tables() -> tuple[list[list[str]], list[list[str]]]:
    """Return the rows of actions (what, pages, endpoints), and those of what only pages have (pages, reason)."""
    text = PAGE.read_text(encoding="utf-8").partition(SECTION)[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:2] == "| "]
    named = [row for row in rows if any(row[1:]) and row[1] not in ("on pages", "why")]
    return [row for row in named if len(row) == 3], [row for row in named if len(row) == 2]


def routes_of(cell: str) -> Iterator[tuple[str, str]]:
    """Yield methods and paths: of "GET /a; GET POST /b /c", all methods with all paths before the next semicolon."""
    for part in cell.split(";"):
        methods, paths = re.findall(r"\b[A-Z]{3,}\b(?![/}])", part.partition("/")[0]), re.findall(r"/\S*", part)
        assert methods, cell
        assert paths, cell
        for path in paths:
            yield from ((method, path) for method in methods)


def test_every_route_of_a_page_is_in_one_of_the_tables() -> None:
    """Add a row for a new page or form to "What pages do" in docs/api.md: its endpoint, or why it needs none."""
    actions, exceptions = tables()
    listed = Counter(route for row in actions for route in routes_of(row[1]))
    listed += Counter(route for row in exceptions for route in routes_of(row[0]))
    known = {(route.method, route.path) for route in PAGE_ROUTES}

    assert sorted(known - listed.keys()) == []
    assert sorted(listed.keys() - known) == []
    assert [route for route, count in listed.items() if count > 1] == []


def test_every_endpoint_of_the_tables_exists() -> None:
    paths = API_DOCUMENT.at()["paths"]
    actions, exceptions = tables()
    assert len(actions) > 40

    for what, _pages, endpoints in actions:
        for method, path in routes_of(endpoints):
            assert method.lower() in paths.get(path, {}), f"{what}: {method} {path}"
    for pages, reason in exceptions:
        assert len(reason.split()) > 5, pages


def test_an_action_that_changes_something_has_an_endpoint_that_does() -> None:
    for what, pages, endpoints in tables()[0]:
        changes = any(method != "GET" for method, _path in routes_of(pages))
        # A read that stores what it fetched, or offers ids for a change, is enough.
        if changes and "fetch-content" not in endpoints:
            assert any(method != "GET" for method, _path in routes_of(endpoints)), what
