"""The bridges that users set up for themselves: they come before the operator's, and are guarded as any other host.

change ── checked ── stored, and the feeds get other sources, in one transaction
request with `bridges_of` ── the user's detours ── the operator's
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import asdict

from tidings.base.errors import InvalidField, InvalidInput
from tidings.base.messages import Message, msg
from tidings.bridges import store
from tidings.bridges.bridge import Bridge
from tidings.bridges.flaresolverr import PATIENCE_S, TURN_S, FlareSolverr
from tidings.bridges.named_hosts import NamedHosts
from tidings.bridges.rss_bridge import RssBridge
from tidings.bridges.rsshub import RssHub
from tidings.bridges.turns import Turns
from tidings.domain.feeds.feed_changes import normalize_scheme, validate_web_url
from tidings.domain.feeds.health import BROWSER_OFFER
from tidings.domain.feeds.own_bridges import BRIDGE_SETTINGS, OwnBridges
from tidings.engine.database import Database, Write
from tidings.net.fetch import Fetcher
from tidings.net.guard import AddressGuard, Lookup, parse_target
from tidings.services.clock import Clock
from tidings.services.listeners import OfferedFeed
from tidings.services.publisher_requests import Detour
from tidings.storage.accounts import users
from tidings.storage.feeds import feeds, own_bridges

# Bytes. What a bridge offers begins with its address, and has to be shorter than the addresses of feeds may be.
MAX_ADDRESS: Final = 500
NAMES: Final = tuple(one.name for one in BRIDGE_SETTINGS)
# Users whose bridges a process keeps in memory, with the cookies of the pages that they have passed.
_MAX_USERS: Final = 200


class OwnBridgeSettings:
    """What users set about their own bridges. guard: says which addresses they may have."""

    def __init__(self, database: Database, guard: AddressGuard) -> None:
        self._database = database
        self._guard = guard

    def get(self, user_id: int) -> OwnBridges:
        with self._database.reading() as db:
            return own_bridges.of_user(db, user_id)

    def update(self, user_id: int, addresses: Mapping[str, str]) -> OwnBridges:
        """Set addresses, and return all. addresses: by name; "" removes one, and the operator's is used again.

        Raises InvalidInput for an address that cannot be used.
        """
        checked = {name: self.check(name, address) for name, address in addresses.items()}
        with self._database.writing() as db:
            return self.store(db, user_id, checked)

    def store(self, db: Write, user_id: int, checked: Mapping[str, str]) -> OwnBridges:
        """Store addresses that `check` has returned, and let the user's feeds follow."""
        # Two changes at the same time: the second one sees what the first has left.
        users.lock(db, user_id)
        before = own_bridges.of_user(db, user_id)
        after = OwnBridges(**{**asdict(before), **checked})
        if after != before:
            store.put(db, user_id, after)
            feeds.follow_bridges(db, user_id)
        return after

    def check(self, field: str, address: str) -> str:
        """Return an address in the form in which it is stored; "" stays. Raises InvalidInput."""
        url = normalize_scheme(address)
        if not url:
            return ""
        if len(url.encode()) > MAX_ADDRESS:
            raise InvalidField(field, msg("this address is too long, {max} bytes at most.", max=MAX_ADDRESS))
        validate_web_url(url, field=field)
        if "?" in url or "#" in url:
            raise InvalidField(field, msg("give the address of the service itself, without a query or a fragment."))
        try:
            host = parse_target(url).host
        except InvalidInput as error:
            raise error.with_field(field) from error
        if not self._guard.allows_through_proxy(host):
            raise InvalidField(field, self._guard.refusal(host).text)
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


class _UserDetours(Struct, frozen=True):
    """The ways through the bridges of a user; None for what the user does not have."""

    rss_bridge: RssBridge | None = None
    rsshub: RssHub | None = None
    flaresolverr: FlareSolverr | None = None

    @property
    def all(self) -> list[Detour]:
        return [one for one in (self.rss_bridge, self.rsshub, self.flaresolverr) if one is not None]


_NONE: Final = _UserDetours()


class OwnDetours:
    """The ways through the bridges of users, and what the operator's does for users without one.

    rss_bridge, rsshub: the operator's. has_browser: the operator has a FlareSolverr.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        hosts: NamedHosts,
        guard: AddressGuard,
        lookup: Lookup,
        fetcher: Fetcher,
        key: Callable[[], bytes],
        *,
        max_body_size: int,
        rss_bridge: RssBridge | None,
        rsshub: RssHub,
        has_browser: bool,
    ) -> None:
        self._database = database
        self._clock = clock
        self._hosts = hosts
        self._guard = guard
        self._lookup = lookup
        self._fetcher = fetcher
        self._key = key
        self._max_body_size = max_body_size
        self._rss_bridge = rss_bridge
        self._rsshub = rsshub
        self._has_browser = has_browser
        self._known: OrderedDict[tuple[int, OwnBridges], _UserDetours] = OrderedDict()

    async def of(self, user_id: int) -> Sequence[Detour]:
        """Return the ways through the bridges of a user, as they are set now."""
        return (await self._of(user_id)).all

    async def find(self, user_id: int, page_url: str) -> Sequence[OfferedFeed]:
        """Return what RSS-Bridge makes of a page: the user's own, or else the operator's. Raises FetchError."""
        bridge = (await self._of(user_id)).rss_bridge or self._rss_bridge
        return [] if bridge is None else await bridge.find(page_url)

    def check_feed(self, user_id: int, values: Mapping[str, object]) -> None:
        """Raise InvalidInput for the address of a route which cannot be fetched for this user."""
        if not RssHub.is_route(values):
            return
        with self._database.reading() as db:
            address = own_bridges.of_user(db, user_id).rsshub_url
        (RssHub(Bridge("RSSHub", address, user_id), self._hosts) if address else self._rsshub).check_feed(values)

    async def challenge_hint(self, user_ids: Collection[int]) -> Message | None:
        """Return what these users can do about a challenge: a browser can fetch the feed, if all of them have one."""
        if self._has_browser:
            return BROWSER_OFFER

        def look() -> bool:
            with self._database.reading() as db:
                return store.all_have_browser(db, user_ids)

        return BROWSER_OFFER if await asyncio.to_thread(look) else None

    async def _of(self, user_id: int) -> _UserDetours:
        def read() -> OwnBridges:
            with self._database.reading() as db:
                return own_bridges.of_user(db, user_id)

        bridges = await asyncio.to_thread(read)
        if not bridges:
            return _NONE
        known = self._known.pop((user_id, bridges), None) or self._made(user_id, bridges)
        self._known[user_id, bridges] = known
        while len(self._known) > _MAX_USERS:
            self._known.popitem(last=False)
        return known

    def _made(self, user_id: int, bridges: OwnBridges) -> _UserDetours:
        rss_bridge = rsshub = flaresolverr = None
        if bridges.rssbridge_url:
            bridge = Bridge("RSS-Bridge", bridges.rssbridge_url, user_id)
            rss_bridge = RssBridge(bridge, self._hosts, self._fetcher, self._key)
        if bridges.rsshub_url:
            rsshub = RssHub(Bridge("RSSHub", bridges.rsshub_url, user_id), self._hosts)
        if bridges.flaresolverr_url:
            turns = Turns(self._database, self._clock, store.OwnTurn(user_id), length_s=TURN_S, patience_s=PATIENCE_S)
            bridge = Bridge("FlareSolverr", bridges.flaresolverr_url, user_id)
            size = self._max_body_size
            flaresolverr = FlareSolverr(bridge, self._guard, self._lookup, turns, max_body_size=size)
        return _UserDetours(rss_bridge, rsshub, flaresolverr)
