"""How bridges are joined to the rest: they are detours of the fetcher, and discovery asks one of them."""

from __future__ import annotations

from tidings.base.messages import msg
from tidings.bridges.archiving import OwnBridgeArchiver
from tidings.bridges.bridge import Bridge
from tidings.bridges.flaresolverr import PATIENCE_S, TURN_S, FlareSolverr
from tidings.bridges.named_hosts import NamedHosts
from tidings.bridges.own_bridges import NAMES, OwnBridgeSettings, OwnDetours
from tidings.bridges.rss_bridge import RssBridge
from tidings.bridges.rsshub import RssHub
from tidings.bridges.services import BridgeServices
from tidings.bridges.store import ServiceTurn
from tidings.bridges.turns import Turns
from tidings.net.fetch import Fetcher
from tidings.net.guard import AddressGuard, SystemLookup
from tidings.services.accounts.server_secret import ServerSecret
from tidings.web.settings_menu import MenuItem
from tidings.wiring.arguments import fetch_settings
from tidings.wiring.slice import Parts, Slice


def build(parts: Parts) -> BridgeServices:
    settings, detours, listeners = parts.settings, parts.fetcher.detours, parts.listeners
    lookup, fetcher = SystemLookup(threads=8), Fetcher(fetch_settings(settings))
    guard = AddressGuard(allow_private_networks=settings.fetcher_allow_private_networks)
    hosts, key = NamedHosts(guard, lookup), ServerSecret(parts.database).get
    size = settings.http_client_max_body_size
    rss_bridge = None
    if settings.rssbridge_url:
        rss_bridge = RssBridge(Bridge("RSS-Bridge", settings.rssbridge_url), hosts, fetcher, key)
        detours.append(rss_bridge)
    rsshub = RssHub(Bridge("RSSHub", settings.rsshub_url) if settings.rsshub_url else None, hosts)
    detours.append(rsshub)
    if settings.flaresolverr_url:
        turn = ServiceTurn("flaresolverr")
        turns = Turns(parts.database, parts.clock, turn, length_s=TURN_S, patience_s=PATIENCE_S)
        flaresolverr = Bridge("FlareSolverr", settings.flaresolverr_url)
        detours.append(FlareSolverr(flaresolverr, guard, lookup, turns, max_body_size=size))
    own = OwnDetours(
        parts.database,
        parts.clock,
        hosts,
        guard,
        lookup,
        fetcher,
        key,
        max_body_size=size,
        rss_bridge=rss_bridge,
        rsshub=rsshub,
        has_browser=bool(settings.flaresolverr_url),
    )
    parts.fetcher.own_detours = own.of
    parts.fetcher.challenge_hint = own.challenge_hint
    listeners.feed_finders.append(own.find)
    listeners.feed_checks.append(own.check_feed)
    own_settings = OwnBridgeSettings(parts.database, guard)
    parts.joins.bridges = OwnBridgeArchiver(own_settings)
    of_server = [name for name in NAMES if getattr(settings, name)]
    return BridgeServices(lookup, fetcher, own_settings, of_server)


SLICE = Slice(
    build=build,
    endpoints=("endpoints",),
    pages=("pages",),
    settings_menu=(MenuItem("/settings/bridges", msg("Bridges"), after="/settings/deliveries"),),
)
