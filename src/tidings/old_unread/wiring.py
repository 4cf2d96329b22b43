"""How old unread entries are joined to the rest: endpoints, page, and a task of the cleanup."""

from __future__ import annotations

from tidings.base.messages import msg
from tidings.old_unread.archiving import DaysArchiver
from tidings.old_unread.old_unread import OldUnread, mark_old
from tidings.old_unread.services import OldUnreadServices
from tidings.services.listeners import CleanupTask
from tidings.web.settings_menu import MenuItem
from tidings.wiring.slice import Parts, Slice


def build(parts: Parts) -> OldUnreadServices:
    parts.listeners.cleanup_tasks.append(CleanupTask("old unread entries", mark_old))
    parts.joins.old_unread = DaysArchiver()
    return OldUnreadServices(OldUnread(parts.database))


SLICE = Slice(
    build=build,
    endpoints=("endpoints",),
    pages=("pages",),
    settings_menu=(MenuItem("/settings/old-entries", msg("Old unread entries"), after="/settings/filters"),),
)
