"""docs/clients.md and the page "Connect an app" name the same apps with the same APIs and addresses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tidings.web.pages.settings.client_apps import APPS, ClientApp

HANDBOOK = (Path(__file__).parents[1] / "docs" / "clients.md").read_text()


def rows() -> dict[str, list[str]]:
    """By the name of the app: platforms, APIs, what to enter, what was tried."""
    table = HANDBOOK.partition("| app | runs on |")[2].partition("\n\n")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    return {re.sub(r"\[(.+)\]\(.+\)", r"\1", name): cells for name, *cells in lines}


def test_the_same_apps_are_listed_in_the_same_order() -> None:
    assert list(rows()) == [app.name for app in APPS]


@pytest.mark.parametrize("app", APPS, ids=lambda app: app.slug)
def test_both_say_the_same_of_an_app(app: ClientApp) -> None:
    platforms, apis, entered, tried = rows()[app.name]

    assert platforms.replace("e-readers", "e-reader") == ", ".join(app.platforms)
    assert apis.split(", ")[0] == app.api.value.removesuffix(" API")
    assert tried.partition(" ")[0].rstrip(",") in ("program", "replayed", "no")
    if app.config:
        assert all(line in HANDBOOK for line in app.config.splitlines() if "{" not in line)
    else:
        assert f"`{app.address('…')}`" in entered.partition(" or ")[0]
        assert app.account_type in entered
