"""`tidings categories tree`: names that are paths become a tree."""

from __future__ import annotations

import pytest

from cli.commands import Tidings, error_line
from support.people import PASSWORD
from tidings.wiring.services import AllServices

pytestmark = pytest.mark.slow


def test_names_that_are_paths_become_a_tree_after_a_question(tidings: Tidings, services: AllServices) -> None:
    user, other = (services.accounts.users.create(name, PASSWORD) for name in ("alice", "bob"))
    for title in ("News / Europe", "News / Asia / Japan", "Tech"):
        services.feeds.categories.create(user.id, title)
    theirs = services.feeds.categories.create(other.id, "News / Europe")

    assert "--yes" in error_line(tidings("categories", "tree", "alice"), 1)
    with tidings.on_a_terminal("categories", "tree", "alice") as terminal:
        terminal.answer("Make a tree of these 2 names?", "n")
        assert terminal.exit_code() == 1
    assert len(services.feeds.categories.paths_in_names(user.id)) == 2

    done = tidings("categories", "tree", "alice", "--yes")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "News / Asia / Japan\tNews\tAsia\tJapan\nNews / Europe\tNews\tEurope\nCategories moved into a tree: 2.\n"
    )
    again = tidings("categories", "tree", "alice")
    assert (again.returncode, again.stdout) == (0, "No category of alice has a name that is a path.\n")
    assert [one.id for one in services.feeds.categories.paths_in_names(other.id)] == [theirs.id]
    assert "There is no user" in error_line(tidings("categories", "tree", "carol"), 1)
