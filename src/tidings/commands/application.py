"""What commands share: the settings they take, the preparation of the process, and opening the application."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from tidings.runtime import allocator, logs, preflight
from tidings.settings import Loaded, Settings

if TYPE_CHECKING:
    from tidings.wiring.application import Application

# A parameter that `cli.launch` fills; it is not an option of the command line.
LoadedSettings = Annotated[Loaded, Parameter(parse=False)]


def prepare(settings: Settings) -> None:
    """Set up logs and create the data folder, readable by its owner only. Raises StartError if it cannot be used."""
    logs.configure(settings.log_level, settings.log_format)
    allocator.share_one_arena()
    os.umask(0o077)
    preflight.check_folders(settings)


def open_application(settings: Settings) -> AbstractContextManager[Application]:
    """Return a context manager that opens the application and closes it at the end."""
    # Imported here, so that `--help` does not wait for the import of the whole service.
    from tidings.wiring.application import build

    return build(settings)
