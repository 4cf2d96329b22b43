"""The services of this slice, for its pages, its workers and the commands."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.maintenance.cleanup import Cleanup
from tidings.maintenance.clock_repair import ClockRepair
from tidings.maintenance.lock_watch import LockWatch
from tidings.maintenance.readiness import Readiness
from tidings.maintenance.scheduled_backup import ScheduledBackup
from tidings.maintenance.status import StatusReader
from tidings.services import SliceServices
from tidings.services.clock import Clock


@dataclass(frozen=True, slots=True)
class MaintenanceServices(SliceServices):
    """What keeps an instance healthy and reports its state."""

    clock: Clock
    cleanup: Cleanup
    clock_repair: ClockRepair
    lock_watch: LockWatch
    readiness: Readiness
    scheduled_backup: ScheduledBackup
    status: StatusReader
