"""Feeds that RSS-Bridge makes of pages: discovery asks it with `findfeed`, and feeds at its addresses are fetched.

page ── findfeed ── addresses, each signed ── subscribe, check: is the signature right? ── fetch from the bridge

A bridge is asked only for what it has offered itself, since it may be in a private network. The signature, in the
fragment of the address, says so: it is an HMAC-SHA-256 with the secret of this installation, its first 16 bytes. The
bridge of a user has signatures of its own, so that lists of feeds from others name none of it.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import parse_qs, quote, urlsplit

import msgspec
from msgspec import Struct

from tidings.base.messages import msg
from tidings.bridges.bridge import Bridge
from tidings.bridges.named_hosts import NamedHosts
from tidings.content.model import FeedFormat
from tidings.domain.feeds.feed_changes import MAX_URL
from tidings.domain.feeds.own_bridges import OFFER_MARK
from tidings.net.errors import AddressRefused, FetchError, HttpError
from tidings.net.fetch import Fetcher, FetchRequest, FetchResponse
from tidings.net.guard import parse_target
from tidings.services.listeners import OfferedFeed

FIND_TIMEOUT_S: Final = 10.0
MAX_ANSWER_BYTES: Final = 2**20
MAX_OFFERED: Final = 20
MAX_NAME_CHARS: Final = 200
# What `findfeed` answers if no bridge knows the page (404), or if the request lacks something (400).
_NOTHING_FOUND: Final = frozenset({400, 404})

_HINT: Final = msg("It fetches only what it offers for a page: enter the address of the page to find its feeds.")
_SIGNED_BYTES: Final = 16


class _Meta(Struct, frozen=True):
    name: str = ""


class _Found(Struct, frozen=True):
    """A feed in the answer of `findfeed`. Source: RSS-Bridge, actions/FindfeedAction.php."""

    url: str
    """Relative to the bridge; older versions write a whole address."""
    bridge_meta: _Meta = msgspec.field(name="bridgeMeta", default=_Meta())


_answer = msgspec.json.Decoder(list[_Found])


class RssBridge:
    """A detour to RSS-Bridge, and a finder of feeds. key: returns the secret of this installation."""

    def __init__(self, bridge: Bridge, hosts: NamedHosts, fetcher: Fetcher, key: Callable[[], bytes]) -> None:
        self._bridge = bridge
        self._hosts = hosts
        self._fetcher = fetcher
        self._key = key

    async def find(self, page_url: str) -> Sequence[OfferedFeed]:
        """Return the feeds that the bridge makes of a page. Raises FetchError, which names the bridge.

        Nothing is found for a page that names a host which the address guard refuses.
        """
        page = str(parse_target(page_url))
        try:
            await self._hosts.ensure_public([page])
        except AddressRefused:
            return []
        query = f"?action=findfeed&format=Atom&url={quote(page, safe='')}"
        request = FetchRequest(
            url=self._bridge.prefix + query,
            accept="application/json",
            max_body_size=MAX_ANSWER_BYTES,
            timeout_s=FIND_TIMEOUT_S,
        )
        try:
            response = await self._bridge.get(request, self._fetcher, query)
        except HttpError as error:
            if error.status in _NOTHING_FOUND:
                return []
            raise
        try:
            found = _answer.decode(response.body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise FetchError(
                msg("{bridge} does not answer as RSS-Bridge does.", bridge=self._bridge.name), url=request.url
            ) from error
        key = await asyncio.to_thread(self._key)
        queries = {query: one for one in found if _is_feed(query := urlsplit(one.url).query)}
        offered = [self._offer(query, one.bridge_meta.name, key) for query, one in queries.items()]
        return [one for one in offered if len(one.url.encode()) <= MAX_URL][:MAX_OFFERED]

    def takes(self, request: FetchRequest) -> bool:
        return request.url.startswith(f"{self._bridge.prefix}?")

    def asked_url(self, request: FetchRequest) -> str:
        return request.url

    async def get(self, request: FetchRequest, fetcher: Fetcher) -> FetchResponse:
        """Return a feed that the bridge has offered; another one as any address, which a private bridge is not."""
        url, _, signature = request.url.partition(OFFER_MARK)
        query = url.removeprefix(f"{self._bridge.prefix}?")
        expected = self._signature(query, await asyncio.to_thread(self._key))
        if not hmac.compare_digest(signature.encode(), expected.encode()):
            return await self._bridge.get_directly(request, fetcher, _HINT)
        await self._hosts.ensure_public([query])
        return await self._bridge.get(request, fetcher, f"?{query}")

    def _offer(self, query: str, name: str, key: bytes) -> OfferedFeed:
        url = f"{self._bridge.prefix}?{query}{OFFER_MARK}{self._signature(query, key)}"
        title = f"{name[:MAX_NAME_CHARS].strip()} ({self._bridge.name})" if name.strip() else self._bridge.name
        return OfferedFeed(url, title, FeedFormat.ATOM)

    def _signature(self, query: str, key: bytes) -> str:
        purpose = f"feed of RSS-Bridge of {self._bridge.user_id}" if self._bridge.is_own else "feed of RSS-Bridge"
        digest = hmac.digest(key, f"{purpose}\0{query}".encode("utf-8", "replace"), hashlib.sha256)
        return urlsafe_b64encode(digest[:_SIGNED_BYTES]).rstrip(b"=").decode()


def _is_feed(query: str) -> bool:
    """Return whether a query asks for a feed and for nothing else of the bridge."""
    values = parse_qs(query)
    return values.get("action") == ["display"] and len(values.get("bridge", ())) == 1
