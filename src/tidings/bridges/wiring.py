"""How bridges are joined to the rest: they are detours of the fetcher, and discovery asks one of them."""

from __future__ import annotations

from tidings.base.messages import msg
from tidings.bridges.bridge import Bridge
from tidings.bridges.flaresolverr import PATIENCE_S, TURN_S, FlareSolverr
from tidings.bridges.named_hosts import NamedHosts
from tidings.bridges.rss_bridge import RssBridge
from tidings.bridges.rsshub import RssHub
from tidings.bridges.services import BridgeServices
from tidings.bridges.turns import Turns
from tidings.net.fetch import Fetcher
from tidings.net.guard import AddressGuard, SystemLookup
from tidings.services.accounts.server_secret import ServerSecret
from tidings.wiring.arguments import fetch_settings
from tidings.wiring.slice import Parts, Slice


def build(parts: Parts) -> BridgeServices:
    settings, detours = parts.settings, parts.fetcher.detours
    lookup, fetcher = SystemLookup(threads=8), Fetcher(fetch_settings(settings))
    guard = AddressGuard(allow_private_networks=settings.fetcher_allow_private_networks)
    hosts = NamedHosts(guard, lookup)
    if settings.rssbridge_url:
        bridge = Bridge("RSS-Bridge", settings.rssbridge_url)
        rss_bridge = RssBridge(bridge, hosts, fetcher, ServerSecret(parts.database).get)
        detours.append(rss_bridge)
        parts.listeners.feed_finders.append(rss_bridge.find)
    rsshub = RssHub(Bridge("RSSHub", settings.rsshub_url) if settings.rsshub_url else None, hosts)
    detours.append(rsshub)
    parts.listeners.feed_checks.append(rsshub.check_feed)
    if settings.flaresolverr_url:
        turns = Turns(parts.database, parts.clock, "flaresolverr", length_s=TURN_S, patience_s=PATIENCE_S)
        flaresolverr = Bridge("FlareSolverr", settings.flaresolverr_url)
        size = settings.http_client_max_body_size
        detours.append(FlareSolverr(flaresolverr, guard, lookup, turns, max_body_size=size))
        parts.fetcher.challenge_hint = msg("You can also have the feed fetched through FlareSolverr.")
    return BridgeServices(lookup, fetcher)


SLICE = Slice(build=build)
