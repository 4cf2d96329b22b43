"""The table of scopes in docs/api.md, which is written from the routes."""

from __future__ import annotations

from collections import defaultdict

from support.statuses import PAGE
from tidings.api.scopes import scope_of
from tidings.domain.accounts.rights import KeyScope
from tidings.wiring.routes import API_ROUTES

BEGIN, END = "<!-- scopes: written by `make contracts` -->\n", "<!-- end of scopes -->\n"


def table() -> str:
    """Return a line for each address that does not only take GET with the scope read."""
    methods: defaultdict[str, defaultdict[KeyScope, list[str]]] = defaultdict(lambda: defaultdict(list))
    for route in API_ROUTES:
        if (scope := scope_of(route)) is not None:
            methods[route.path][scope].append(route.method)
    lines = [f"| address | {' | '.join(KeyScope)} |", "|---" * (len(KeyScope) + 1) + "|"]
    for path, by_scope in methods.items():
        if set(by_scope) != {KeyScope.READ} or by_scope[KeyScope.READ] != ["GET"]:
            cells = (" ".join(by_scope.get(scope, ())) for scope in KeyScope)
            lines.append(f"| {path} | {' | '.join(cells)} |".replace("|  |", "| |").replace("|  |", "| |"))
    return "\n".join([*lines, ""])


def compare(*, write: bool) -> None:
    """write: write the table instead (`make contracts`)."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    shown, _, after = rest.partition(END)
    if write:
        PAGE.write_text(f"{before}{BEGIN}{table()}{END}{after}", encoding="utf-8")
        return
    assert shown == table(), "the table of scopes in docs/api.md is not true any more: run `make contracts`"
