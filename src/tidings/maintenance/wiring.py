"""How maintenance is joined to the rest: services, pages and workers. Health checks and metrics are mounted apart."""

from __future__ import annotations

from tidings.base.messages import msg
from tidings.domain.entries.retention import Retention
from tidings.maintenance.backup_worker import BackupWorker
from tidings.maintenance.cleanup import Cleanup, CleanupSettings
from tidings.maintenance.cleanup_worker import CleanupWorker
from tidings.maintenance.clock_repair import ClockRepair, ScheduleLimits
from tidings.maintenance.clock_watch import ClockWatch
from tidings.maintenance.lock_watch import LockWatch
from tidings.maintenance.readiness import Readiness
from tidings.maintenance.scheduled_backup import BackupSettings, ScheduledBackup
from tidings.maintenance.services import MaintenanceServices
from tidings.maintenance.status import StatusReader
from tidings.settings import Settings
from tidings.web.settings_menu import MenuItem
from tidings.wiring.arguments import check_schedule, source_lease
from tidings.wiring.slice import Parts, Slice
from tidings.worker.loops import Loop


def build(parts: Parts) -> MaintenanceServices:
    """Return cleanup, backups and status."""
    settings, database, clock = parts.settings, parts.database, parts.clock
    cleaning, backups = cleanup_settings(settings), backup_settings(settings)
    limits = ScheduleLimits(
        schedule=check_schedule(settings),
        source_lease=source_lease(settings),
        receiver_lease=parts.joins.receiver_lease,
        push_lease=parts.joins.push_lease,
        host_gap=settings.polling_gap_per_host,
        job_interval=max(cleaning.interval, backups.interval),
        delivery_retry=parts.joins.delivery_retry,
    )
    return MaintenanceServices(
        clock=clock,
        cleanup=Cleanup(database, clock, cleaning, parts.listeners.cleanup_tasks),
        clock_repair=ClockRepair(database, clock, limits),
        lock_watch=LockWatch(database),
        readiness=Readiness(database, clock),
        scheduled_backup=ScheduledBackup(database, clock, backups),
        status=StatusReader(database, clock, cache_for=settings.metrics_refresh_interval),
    )


def cleanup_settings(settings: Settings) -> CleanupSettings:
    return CleanupSettings(
        retention=Retention(settings.cleanup_archive_read_days, settings.cleanup_archive_unread_days),
        interval=settings.cleanup_frequency_hours,
        max_entries=settings.cleanup_archive_batch_size,
    )


def backup_settings(settings: Settings) -> BackupSettings:
    return BackupSettings(settings.backup_folder, settings.backup_frequency_hours, settings.backup_keep)


def loops(services: MaintenanceServices, worker: str) -> tuple[Loop, ...]:
    return (
        CleanupWorker(services.cleanup, worker),
        BackupWorker(services.scheduled_backup, worker),
        ClockWatch(services.clock_repair, services.clock),
        services.lock_watch,
    )


SLICE = Slice(
    build=build,
    endpoints=("instance_endpoints",),
    pages=("instance_pages",),
    settings_menu=(MenuItem("/instance", msg("This instance"), after="/users", is_for_admins=True),),
    loops=loops,
)
