"""Which bridges a user has set up for themselves, and which of their feeds are fetched through one.

A document that came through a user's own bridge is for that user alone: such a feed shares its source with nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct

from tidings.domain.feeds.feeds import RSSHUB_SCHEME
from tidings.domain.setting_declarations import Risk, Setting, declared

# What the addresses of feeds end with that an RSS-Bridge has offered, with a signature behind it.
OFFER_MARK: Final = "#tidings="


class OwnBridges(Struct, frozen=True):
    """The addresses of a user's own bridges: without a final slash, possibly with a user and a password.

    "" for each that the user does not have: then the operator's is used. An address is a secret of its user.
    """

    rssbridge_url: Annotated[str, Setting(Risk.SENDS_DATA, comment="Empty: the server's.")] = ""
    rsshub_url: Annotated[str, Setting(Risk.SENDS_DATA, comment="Empty: the server's.")] = ""
    flaresolverr_url: Annotated[str, Setting(Risk.SENDS_DATA, comment="Empty: the server's.")] = ""

    def __repr__(self) -> str:
        """Leaves out the addresses, which may have passwords."""
        return "OwnBridges()"

    def __bool__(self) -> bool:
        return bool(self.rssbridge_url or self.rsshub_url or self.flaresolverr_url)

    def fetch(self, feed: Mapping[str, Any]) -> bool:
        """Return whether one of them fetches the document of a feed. feed: columns, at least `feed_url`."""
        url = feed["feed_url"]
        if url.startswith(RSSHUB_SCHEME):
            return bool(self.rsshub_url)
        if self.rssbridge_url and OFFER_MARK in url and url.startswith(f"{address_prefix(self.rssbridge_url)}?"):
            return True
        return bool(self.flaresolverr_url and feed.get("fetch_via_flaresolverr"))


BRIDGE_SETTINGS: Final = declared(OwnBridges, Setting)
# The services by the setting that has their address, as their makers write them.
SERVICE_NAMES: Final = {"rssbridge_url": "RSS-Bridge", "rsshub_url": "RSSHub", "flaresolverr_url": "FlareSolverr"}


def may_be_bridged(feed: Mapping[str, Any]) -> bool:
    """Return whether bridges of its user could fetch a feed. feed: columns, at least `feed_url`."""
    url = feed["feed_url"]
    return url.startswith(RSSHUB_SCHEME) or OFFER_MARK in url or bool(feed.get("fetch_via_flaresolverr"))


def address_prefix(address: str) -> str:
    """Return what the URLs of a bridge begin with; it ends with a slash and has no password."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])) + "/"
