"""Settings of cleanup, of backups, of imports and of /metrics; `options.Settings` inherits them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from tidings.domain.entries.retention import MAX_DAYS, NEVER
from tidings.settings import values
from tidings.settings.option import option
from tidings.settings.values import ByteCount, Network


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceSettings:
    cleanup_frequency_hours: timedelta = option(
        values.hours(1, 8760),
        "Hours between two cleanups. One of the workers runs them, in small steps.",
        allowed="a whole number from 1 to 8760",
        default="24",
    )
    cleanup_archive_read_days: timedelta | None = option(
        values.days_or_never,
        "Days after which read entries are deleted, counted from their last change; -1 for never. Starred,"
        " shared and labelled entries are kept, and a feed may have its own limit.",
        allowed=f"a whole number from 1 to {MAX_DAYS}, or {NEVER}",
        default="60",
    )
    cleanup_archive_unread_days: timedelta | None = option(
        values.days_or_never,
        "Days after which unread entries are deleted, counted from their last change; -1 for never. Starred,"
        " shared and labelled entries are kept, and a feed may have its own limit.",
        allowed=f"a whole number from 1 to {MAX_DAYS}, or {NEVER}",
        default="180",
    )
    cleanup_archive_batch_size: int = option(
        values.integer(100, 1_000_000),
        "Largest number of entries that one cleanup deletes. If more are old enough, the next cleanup follows a minute"
        " later.",
        allowed="a whole number from 100 to 1000000",
        default="10000",
    )
    backup_folder: Path | None = option(
        values.folder,
        "Folder into which a worker writes backups of the whole database at regular times; without it, none are"
        " written. It is created if it does not exist.",
        allowed="a path; ~ is your home folder",
    )
    backup_frequency_hours: timedelta = option(
        values.hours(1, 8760),
        "Hours between two backups. The first one is written after the start.",
        allowed="a whole number from 1 to 8760",
        default="24",
    )
    backup_keep: int = option(
        values.integer(1, 10_000),
        "Number of backups that are kept in TIDINGS_BACKUP_FOLDER. After a new one is complete, the oldest are deleted;"
        " files with other names stay.",
        allowed="a whole number from 1 to 10000",
        default="14",
    )
    import_max_size: ByteCount = option(
        values.mebibytes(1, 1_048_576),
        "Largest file in MiB that a user may upload for an import. It is kept in TIDINGS_DATA_DIR until the import has"
        " ended.",
        allowed="a whole number from 1 to 1048576",
        default="1024",
    )
    metrics_collector: bool = option(
        values.boolean,
        "Whether /metrics serves metrics for Prometheus.",
        allowed="1, true, yes, on or 0, false, no, off",
        default="0",
    )
    metrics_allowed_networks: tuple[Network, ...] = option(
        values.network_list,
        "Addresses that may read /metrics.",
        allowed="addresses and networks like 192.0.2.7 or 10.0.0.0/8, separated by commas, or none",
        default="127.0.0.0/8,::1",
    )
    metrics_refresh_interval: timedelta = option(
        values.seconds(1, 3600),
        "Seconds for which /metrics caches values read from the database, such as feeds due and deliveries pending.",
        allowed="a whole number from 1 to 3600",
        default="60",
    )
    metrics_username: str | None = option(
        values.line,
        "User name that /metrics requires (HTTP Basic), together with TIDINGS_METRICS_PASSWORD.",
        allowed="text without line breaks",
        has_file_variant=True,
    )
    metrics_password: str | None = option(
        values.line,
        "Password that /metrics requires, together with TIDINGS_METRICS_USERNAME.",
        allowed="text without line breaks",
        mask=values.mask_all,
    )
