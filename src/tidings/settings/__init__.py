"""What an operator can set: read once at the start, typed, and never changed afterwards.

    environment, file ─► sources ─► values ─► Settings

`options` declares every setting once; the command line and docs/configuration.md show the same declarations.
"""

from __future__ import annotations

from tidings.settings.declaring import PREFIX, Option
from tidings.settings.options import OPTIONS, Settings
from tidings.settings.sources import Loaded, load, load_process, load_with_origins
from tidings.settings.values import (
    ByteCount,
    DatabaseEngine,
    ListenAddress,
    LogFormat,
    LogLevel,
    Network,
    engine_of,
    without_password,
)

__all__ = [
    "OPTIONS",
    "PREFIX",
    "ByteCount",
    "DatabaseEngine",
    "ListenAddress",
    "Loaded",
    "LogFormat",
    "LogLevel",
    "Network",
    "Option",
    "Settings",
    "engine_of",
    "load",
    "load_process",
    "load_with_origins",
    "without_password",
]
