"""`tidings categories …`: makes a tree of names that are paths."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from tidings.commands.application import LoadedSettings, open_application, prepare
from tidings.commands.terminal import confirm, say

categories = App(name="categories", help="Arrange the categories of a user.")


@categories.command
def tree(name: str, /, *, yes: Annotated[bool, Parameter(negative="")] = False, loaded: LoadedSettings) -> int:
    """Make a tree of the categories whose names are paths, such as "News / Europe".

    Feeds stay in their categories, and apps go on showing the same titles.

    Parameters
    ----------
    name
        The username.
    yes
        Do not ask for confirmation.
    """
    prepare(loaded.settings)
    with open_application(loaded.settings) as application:
        application.check()
        services = application.services
        user_id = services.accounts.users.find(name).id
        split = services.feeds.categories.paths_in_names(user_id)
        if not split:
            say(f"No category of {name} has a name that is a path.")
            return 0
        for one in split:
            say("\t".join((one.title, *one.path)))
        if not yes and not confirm(f"Make a tree of these {len(split)} names?"):
            say("Nothing was changed.")
            return 1
        made = services.feeds.categories.make_tree(user_id)
    say(f"Categories moved into a tree: {len(made)}.")
    return 0
