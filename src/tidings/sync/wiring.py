"""How sync is joined to the rest: its service, its cleanup, and its endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from tidings.api.objects import categories_of, labels_of, settings_of
from tidings.domain.accounts.users import User
from tidings.engine.database import Read
from tidings.services.listeners import CleanupTask, Listeners
from tidings.storage.accounts.change_log import Kind
from tidings.sync.services import SyncServices
from tidings.sync.sync import ReadAll, Sync, remove_old
from tidings.wiring.slice import Parts, Slice


def build(parts: Parts) -> SyncServices:
    """Return the service, which reads the objects of other slices by what these have registered."""
    parts.listeners.cleanup_tasks.append(CleanupTask("changes", remove_old))
    return SyncServices(Sync(parts.database, _readers(parts.listeners)))


def _readers(listeners: Listeners) -> dict[Kind, ReadAll]:
    """Return how the objects are read of which a client gets all when one has changed."""
    return {
        Kind.SETTINGS: settings_of,
        Kind.CATEGORY: categories_of,
        Kind.LABEL: labels_of,
        Kind.VIEW: partial(_of_slice, listeners, Kind.VIEW),
        Kind.RULE: partial(_of_slice, listeners, Kind.RULE),
    }


def _of_slice(listeners: Listeners, kind: Kind, db: Read, user: User) -> Mapping[int, Any]:
    return {one["id"]: one for one in listeners.synced[kind](db, user.id)}


SLICE = Slice(build=build, endpoints=("endpoints",))
