"""What each part is given of the settings."""

from __future__ import annotations

from urllib.parse import urlsplit

from tidings.api.metrics import Access
from tidings.domain.cleaning import CleaningPolicy
from tidings.domain.ingestion import Instance
from tidings.domain.retention import Retention
from tidings.domain.scheduling import Schedule
from tidings.net.hubs import is_public_address
from tidings.services.tidying import TidyingSettings
from tidings.settings import Settings
from tidings.settings.values import WebSubMode
from tidings.web.visits import Home


def instance_of(settings: Settings) -> Instance:
    """Frames of our own pages could script them; the other players are those the operator named."""
    invidious, youtube = settings.invidious_instance, settings.youtube_embed_url_override
    named = (urlsplit(f"//{invidious}").hostname or "", urlsplit(youtube).hostname or "")
    policy = CleaningPolicy(
        own_host=urlsplit(settings.base_url).hostname or "",
        embed_hosts=frozenset(host.removeprefix("www.") for host in named),
        youtube_embed=youtube,
    )
    return Instance(policy, invidious)


def home_of(settings: Settings) -> Home:
    base_url = settings.base_url.rstrip("/")
    return Home(
        base_path=urlsplit(base_url).path,
        base_url=base_url,
        is_secure=base_url.startswith("https:"),
        player_hosts=instance_of(settings).policy.embed_hosts,
    )


def callback_base(settings: Settings) -> str:
    """Below which hubs find us; "" when they could not, or should not."""
    is_on = settings.websub is WebSubMode.ON
    if settings.websub is WebSubMode.AUTO:
        is_on = is_public_address(settings.base_url)
    return settings.base_url.rstrip("/") if is_on else ""


def schedule_of(settings: Settings) -> Schedule:
    return Schedule(
        scheduler=settings.polling_scheduler,
        usual=settings.polling_frequency,
        shortest=settings.scheduler_entry_frequency_min_interval,
        longest=settings.scheduler_entry_frequency_max_interval,
        factor=settings.scheduler_entry_frequency_factor,
        even_shortest=settings.scheduler_round_robin_min_interval,
        even_longest=settings.scheduler_round_robin_max_interval,
        error_limit=settings.polling_parsing_error_limit,
    )


def tidying_of(settings: Settings) -> TidyingSettings:
    return TidyingSettings(
        retention=Retention(settings.cleanup_archive_read_days, settings.cleanup_archive_unread_days),
        every=settings.cleanup_frequency_hours,
        most_entries=settings.cleanup_archive_batch_size,
    )


def access_to_metrics(settings: Settings) -> Access | None:
    if not settings.metrics_collector:
        return None
    return Access(
        networks=settings.metrics_allowed_networks,
        trusted=settings.trusted_reverse_proxy_networks,
        username=settings.metrics_username or "",
        password=settings.metrics_password or "",
    )
