"""The services of this slice, for its endpoints, pages and worker."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.services import SliceServices
from tidings.snooze.snooze import Snooze


@dataclass(frozen=True, slots=True)
class SnoozeServices(SliceServices):
    """What users have put off."""

    snooze: Snooze
