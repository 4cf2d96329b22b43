"""The settings of the service: read once at the start, typed, and never changed afterwards.

    environment, file ─► loading ─► values ─► Settings

`options` declares every setting once; the command line and docs/configuration.md show the same declarations.
"""

from __future__ import annotations

from tidings.settings.loading import Loaded, load, load_process, load_with_origins, wanted_log_format
from tidings.settings.option import PREFIX, Option
from tidings.settings.options import OPTIONS, Settings
from tidings.settings.values import (
    ByteCount,
    DatabaseEngine,
    ListenAddress,
    LogFormat,
    LogLevel,
    Network,
    engine_of,
    mask_password,
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
    "mask_password",
    "wanted_log_format",
]
