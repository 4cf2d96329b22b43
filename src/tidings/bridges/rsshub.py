"""Feeds of RSSHub: rsshub://github/issue/DIYgod/RSSHub is a route of the RSSHub that is set up.

The address is stored as it is, and resolved with each request: a changed setting is followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.bridges.bridge import Bridge
from tidings.bridges.named_hosts import NamedHosts, decodings
from tidings.domain.feeds.feeds import RSSHUB_SCHEME
from tidings.net.errors import AddressRefused
from tidings.net.fetch import Fetcher, FetchRequest, FetchResponse

SETTING: Final = "TIDINGS_RSSHUB_URL"
_HINT: Final = msg("Enter the address of the feed as rsshub://, followed by the route.")


class RssHub:
    """A detour to routes of RSSHub. bridge: None if none is set up."""

    def __init__(self, bridge: Bridge | None, hosts: NamedHosts) -> None:
        self._bridge = bridge
        self._hosts = hosts

    def takes(self, request: FetchRequest) -> bool:
        is_own = self._bridge is not None and request.url.startswith(self._bridge.prefix)
        return request.url.startswith(RSSHUB_SCHEME) or is_own

    def asked_url(self, request: FetchRequest) -> str:
        """Return a URL of the RSSHub, without the password of the setting. Raises InvalidInput if there is none."""
        if not request.url.startswith(RSSHUB_SCHEME):
            return request.url
        return self._configured().prefix + _route(request.url)

    async def get(self, request: FetchRequest, fetcher: Fetcher) -> FetchResponse:
        """Return the feed of a route. Raises AddressRefused for a route that leads into a private network."""
        bridge = self._configured()
        if not request.url.startswith(RSSHUB_SCHEME):
            return await bridge.get_directly(request, fetcher, _HINT)
        route = _route(request.url)
        parts = urlsplit(f"/{route}")
        ensure_route(parts.path)
        values = (text for pair in parse_qsl(parts.query, keep_blank_values=True) for text in pair)
        await self._hosts.ensure_public([*parts.path.split("/"), parts.query, *values])
        return await bridge.get(request, fetcher, route)

    @staticmethod
    def is_route(values: Mapping[str, Any]) -> bool:
        """Return whether a feed is a route. values: columns, not necessarily all."""
        return bool(values.get("feed_url", "").startswith(RSSHUB_SCHEME))

    def check_feed(self, values: Mapping[str, Any]) -> None:
        """Raise InvalidInput for the address of a route which cannot be fetched. values: columns of the feed."""
        url = values["feed_url"]
        if self._bridge is None:
            raise _not_set_up()
        try:
            ensure_route(urlsplit(f"/{_route(url)}").path)
        except AddressRefused as error:
            raise InvalidInput(error.text, field="feed_url") from error

    def _configured(self) -> Bridge:
        if self._bridge is None:
            raise _not_set_up()
        return self._bridge


def ensure_route(path: str) -> None:
    """Raise AddressRefused for a path that is not plainly a route, and for routes that fetch any address.

    path: with the slash that it begins with.
    """
    for form in decodings(path):
        segments = [segment.strip() for segment in form.replace("\\", "/").split("/")]
        if any(segment in {".", ".."} for segment in segments):
            raise AddressRefused(msg("A route of RSSHub cannot have segments with one or two dots."))
        if [segment for segment in segments if segment][:2] == ["rsshub", "transform"]:
            raise AddressRefused(
                msg("Routes of RSSHub that fetch any address, which are those at rsshub/transform, are switched off.")
            )


def _route(url: str) -> str:
    return url.removeprefix(RSSHUB_SCHEME).lstrip("/").partition("#")[0]


def _not_set_up() -> InvalidInput:
    return InvalidInput(
        msg(
            "Addresses that begin with rsshub:// need an RSSHub, and this server has none. Set up your own in the "
            "settings, or ask the operator to name one with {setting}.",
            setting=SETTING,
        ),
        field="feed_url",
    )
