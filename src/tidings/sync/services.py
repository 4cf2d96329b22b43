"""The services of this slice, for its endpoint."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.services import SliceServices
from tidings.sync.sync import Sync


@dataclass(frozen=True, slots=True)
class SyncServices(SliceServices):
    """What has changed for clients."""

    sync: Sync
