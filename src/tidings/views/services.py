"""The services of this slice, for its endpoints and pages."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.services import SliceServices
from tidings.views.saved_views import SavedViews


@dataclass(frozen=True, slots=True)
class ViewServices(SliceServices):
    """Saved views."""

    views: SavedViews
