"""The table of statuses in docs/api.md."""

from __future__ import annotations

from support.statuses import BEGIN, END, PAGE, documented
from tidings.api.openapi import operations_of
from tidings.wiring.routes import DOCUMENTED_ROUTES


def test_the_table_of_statuses_lists_every_documented_status() -> None:
    """Run `make statuses` when this fails."""
    table = PAGE.read_text().partition(BEGIN)[2].partition(END)[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    listed = {
        name: sorted(int(status) for status in f"{received} {missing}".split() if status != "–")
        for name, received, missing in rows
    }
    endpoints = operations_of(DOCUMENTED_ROUTES).values()
    assert listed == {f"{one.method} {one.path}": documented(one) for one in endpoints}
