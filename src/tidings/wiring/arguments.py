"""Converts settings into the arguments of the parts that are built here."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

from tidings.content.cleaning import CleaningPolicy
from tidings.domain.polling.check_times import Schedule
from tidings.domain.polling.entry_policy import InstanceSettings
from tidings.maintenance.metrics_endpoint import Access
from tidings.net.fetch import FetchSettings
from tidings.settings import Settings
from tidings.web.context import SiteConfig

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


def fetch_settings(settings: Settings) -> FetchSettings:
    return FetchSettings(
        user_agent=settings.http_client_user_agent,
        allow_private_networks=settings.fetcher_allow_private_networks,
        allow_private_proxies=settings.fetcher_allow_private_feed_proxy,
        max_body_size=settings.http_client_max_body_size,
        timeout_s=settings.http_client_timeout.total_seconds(),
        proxy_url=settings.http_client_proxy or "",
    )


def import_folder(settings: Settings) -> Path:
    """Return the folder of uploaded files."""
    return settings.data_dir / "imports"


def site_config(settings: Settings) -> SiteConfig:
    base_url = settings.base_url.rstrip("/")
    return SiteConfig(
        base_path=urlsplit(base_url).path,
        base_url=base_url,
        is_secure=base_url.startswith("https:"),
        player_hosts=instance_settings(settings).policy.embed_hosts,
    )


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
