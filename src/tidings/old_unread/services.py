"""The services of this slice, for its endpoints and page."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.old_unread.old_unread import OldUnread
from tidings.services import SliceServices


@dataclass(frozen=True, slots=True)
class OldUnreadServices(SliceServices):
    """When old unread entries become read."""

    old_unread: OldUnread
