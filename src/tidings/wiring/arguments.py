"""Converts settings into the arguments of the parts that are built here."""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import urlsplit

from tidings.content.cleaning import CleaningPolicy
from tidings.domain.entries.retention import Retention
from tidings.domain.polling.check_times import Schedule
from tidings.domain.polling.entry_policy import InstanceSettings
from tidings.maintenance.cleanup import CleanupSettings
from tidings.maintenance.metrics_endpoint import Access
from tidings.maintenance.scheduled_backup import BackupSettings
from tidings.settings import Settings
from tidings.settings.values import WebSubMode
from tidings.web.context import SiteConfig
from tidings.websub.hubs import is_public_address

# A claim lasts longer than the longest fetch and the write after it; claims of a dead worker expire soon after.
LEASE_BEYOND_TIMEOUT = timedelta(seconds=15)


def instance_settings(settings: Settings) -> InstanceSettings:
    """Return the settings that decide how entries are cleaned and which players they may embed."""
    invidious, youtube = settings.invidious_instance, settings.youtube_embed_url_override
    player_hosts = (urlsplit(f"//{invidious}").hostname or "", urlsplit(youtube).hostname or "")
    policy = CleaningPolicy(
        # Frames of this host are removed from entries: they could run scripts in our own pages.
        own_host=urlsplit(settings.base_url).hostname or "",
        embed_hosts=frozenset(host.removeprefix("www.") for host in player_hosts),
        youtube_embed=youtube,
    )
    return InstanceSettings(policy, invidious)


def site_config(settings: Settings) -> SiteConfig:
    base_url = settings.base_url.rstrip("/")
    return SiteConfig(
        base_path=urlsplit(base_url).path,
        base_url=base_url,
        is_secure=base_url.startswith("https:"),
        player_hosts=instance_settings(settings).policy.embed_hosts,
    )


def websub_callback_base(settings: Settings) -> str:
    """Return the URL below which hubs reach this service; "" if WebSub is off or hubs could not reach it."""
    is_on = settings.websub is WebSubMode.ON
    if settings.websub is WebSubMode.AUTO:
        is_on = is_public_address(settings.base_url)
    return settings.base_url.rstrip("/") if is_on else ""


def check_schedule(settings: Settings) -> Schedule:
    return Schedule(
        scheduler=settings.polling_scheduler,
        default_interval=settings.polling_frequency,
        min_interval=settings.scheduler_entry_frequency_min_interval,
        max_interval=settings.scheduler_entry_frequency_max_interval,
        factor=settings.scheduler_entry_frequency_factor,
        round_robin_min=settings.scheduler_round_robin_min_interval,
        round_robin_max=settings.scheduler_round_robin_max_interval,
        error_limit=settings.polling_parsing_error_limit,
    )


def cleanup_settings(settings: Settings) -> CleanupSettings:
    return CleanupSettings(
        retention=Retention(settings.cleanup_archive_read_days, settings.cleanup_archive_unread_days),
        interval=settings.cleanup_frequency_hours,
        max_entries=settings.cleanup_archive_batch_size,
    )


def backup_settings(settings: Settings) -> BackupSettings:
    return BackupSettings(settings.backup_folder, settings.backup_frequency_hours, settings.backup_keep)


def metrics_access(settings: Settings) -> Access | None:
    """Return who may read /metrics, or None if metrics are off."""
    if not settings.metrics_collector:
        return None
    return Access(
        networks=settings.metrics_allowed_networks,
        trusted=settings.trusted_reverse_proxy_networks,
        username=settings.metrics_username or "",
        password=settings.metrics_password or "",
    )


def source_lease(settings: Settings) -> timedelta:
    """Return how long a claim of a source lasts unless it is renewed."""
    return settings.http_client_timeout + LEASE_BEYOND_TIMEOUT
