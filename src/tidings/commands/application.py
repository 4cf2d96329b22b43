"""What a command needs before it can do its work, and how it gets the joined service."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from tidings.runtime import logs, preflight
from tidings.settings import Settings

if TYPE_CHECKING:
    from tidings.wiring import Application


def prepare(settings: Settings) -> None:
    """Set up logs, and see to it that the data folder can be used, by its owner only."""
    logs.configure(settings.log_level, settings.log_format)
    os.umask(0o077)
    preflight.check_folders(settings)


def open_application(settings: Settings) -> AbstractContextManager[Application]:
    # Imported when it is needed: the help of a command should not wait for the whole service.
    from tidings import wiring

    return wiring.build(settings)
