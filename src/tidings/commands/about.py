"""`tidings config` shows the settings in force; `tidings version` shows the version."""

from __future__ import annotations

from tidings import __version__
from tidings.commands.application import LoadedSettings
from tidings.commands.terminal import say
from tidings.settings import OPTIONS


def config(*, loaded: LoadedSettings) -> int:
    """Show every setting with its value and where the value comes from. Secrets are masked.

    Use it to check a change: a value that cannot be used is named, and the exit code is 2.
    """
    for option in OPTIONS:
        shown = loaded.shown[option.field]
        say(f"{option.name}={'' if shown is None else shown}  ({loaded.origins[option.field]})")
    return 0


def version() -> int:
    """Show the version of Tidings."""
    say(f"tidings {__version__}")
    return 0
