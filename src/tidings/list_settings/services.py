"""The services of this slice, for its endpoints and pages."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.list_settings.list_settings import ListSettings
from tidings.services import SliceServices


@dataclass(frozen=True, slots=True)
class ListSettingServices(SliceServices):
    """Order and layout of single lists."""

    list_settings: ListSettings
