"""`tidings config` and `version`: what is set, and what is running."""

from __future__ import annotations

from tidings import __version__
from tidings.commands.running import Here
from tidings.commands.terminal import say
from tidings.settings import OPTIONS


def config(*, loaded: Here) -> int:
    """Show every setting as it is in force, and where it comes from. Secrets are masked.

    A good way to try a change: what could not be used is named, and the exit code is 2.
    """
    for option in OPTIONS:
        shown = loaded.shown[option.field]
        say(f"{option.name}={'' if shown is None else shown}  ({loaded.origins[option.field]})")
    return 0


def version() -> int:
    """Show which version this is."""
    say(f"tidings {__version__}")
    return 0
