"""The endpoint for the state of the instance: the numbers of the instance page and of `tidings status`."""

from __future__ import annotations

from msgspec import Struct

from tidings.api.struct_copy import StructCopy
from tidings.base.errors import Forbidden
from tidings.http.endpoints import Routes
from tidings.maintenance.services import MaintenanceServices

routes = Routes("Instance", after="Version")


class InstanceOut(Struct, frozen=True):
    """Of all users together. due, overdue, claimed: sources (documents that several feeds may share) that wait for
    a check, that have waited for more than five minutes, and that are checked now. oldest_overdue_s, oldest_delivery_s:
    how long the first in the queue has waited, in seconds, 0 if none waits. workers: those that check now.

    polls_last_hour: feeds that were checked. entries_read: that are still stored. last_cleanup_s, last_backup_s:
    seconds since; null before the first.
    """

    database_engine: str
    database_bytes: int
    users: int
    feeds: int
    feeds_disabled: int
    feeds_failing: int
    entries_unread: int
    entries_read: int
    due: int
    overdue: int
    oldest_overdue_s: int
    claimed: int
    workers: int
    polls_last_hour: int
    deliveries_pending: int
    deliveries_failed: int
    oldest_delivery_s: int
    last_cleanup_s: int | None
    last_backup_s: int | None


_copy = StructCopy(InstanceOut)


@routes.get("/v1/instance", admin=True, raises=(Forbidden,))
def get_instance(maintenance: MaintenanceServices) -> InstanceOut:
    """Get the state of the service: what it has, and how long its queues of checks and deliveries are."""
    return _copy(maintenance.status.cached())
