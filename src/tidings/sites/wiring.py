"""How the sites are joined to the rest: their readers are detours of the fetcher, and some know the feeds of pages."""

from __future__ import annotations

from tidings.sites.bluesky import Bluesky
from tidings.sites.mastodon import Mastodon
from tidings.sites.podcast_index import PodcastIndex
from tidings.sites.reddit import Reddit
from tidings.sites.watch_times import WatchTimes
from tidings.wiring.slice import Parts, Slice


def build(parts: Parts) -> None:
    settings, clock, fetcher = parts.settings, parts.clock, parts.fetcher
    timeout_s = settings.http_client_timeout.total_seconds()
    fetcher.detours.append(Mastodon(timeout_s=timeout_s))
    fetcher.detours.append(Bluesky(clock, timeout_s=timeout_s))
    if settings.reddit_client_id:
        client = {"client_id": settings.reddit_client_id, "secret": settings.reddit_client_secret or ""}
        reddit = Reddit(clock, **client, timeout_s=timeout_s)
        fetcher.detours.append(reddit)
        parts.listeners.page_feeds.append(reddit.feeds)
    if settings.podcastindex_key and settings.podcastindex_secret:
        keys = {"key": settings.podcastindex_key, "secret": settings.podcastindex_secret}
        parts.listeners.page_feeds.append(PodcastIndex(fetcher, clock, **keys).feeds)
    if settings.fetch_youtube_watch_time:
        watch_times = WatchTimes(fetcher, api_key=settings.youtube_api_key or "")
        parts.listeners.duration_sources.append(watch_times)


SLICE = Slice(build=build)
