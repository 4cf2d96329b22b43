"""How media are joined to the rest: their services, endpoints and pages."""

from __future__ import annotations

from tidings.media.cache import MediaCache
from tidings.media.episode_parts import EpisodeParts
from tidings.media.policy import MediaPolicy
from tidings.media.proxy import MAX_PICTURE_BYTES, TIMEOUT_S, MediaProxy
from tidings.media.queue import MediaQueue
from tidings.media.services import MediaServices
from tidings.net.fetch import Fetcher, FetchSettings
from tidings.net.relay import MediaRelay
from tidings.wiring.slice import Parts, Slice


def build(parts: Parts) -> MediaServices:
    """Return the proxy, the queue of episodes, and what belongs to an episode."""
    return MediaServices(
        proxy=build_proxy(parts),
        queue=MediaQueue(parts.database),
        episode_parts=EpisodeParts(parts.database, parts.fetcher),
    )


def build_proxy(parts: Parts) -> MediaProxy:
    """Return the proxy for pictures and sounds, with its cache on disk."""
    settings = parts.settings
    fetch_settings = FetchSettings(
        user_agent=settings.http_client_user_agent,
        allow_private_networks=settings.fetcher_allow_private_networks,
        max_body_size=MAX_PICTURE_BYTES,
        timeout_s=TIMEOUT_S,
    )
    cache = MediaCache(settings.data_dir / "media", limit=settings.media_proxy_cache_size)
    policy = MediaPolicy(settings.media_proxy_mode, settings.media_proxy_resource_types)
    fetcher, relay = Fetcher(fetch_settings), MediaRelay(fetch_settings)
    return MediaProxy(parts.database, fetcher, relay, parts.pictures, cache, parts.clock, policy)


SLICE = Slice(
    build=build,
    endpoints=("episode_endpoints", "queue_endpoints"),
    pages=("proxy_pages", "episode_pages", "queue_pages"),
)
