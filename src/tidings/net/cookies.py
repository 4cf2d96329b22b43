"""Cookies that last for one chain of redirects.

Some sites redirect the first request to a page that sets a cookie and redirects back; without the cookie this never
ends. Nothing is kept for the next request: cookies that last would let publishers track readers.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

import aiohttp
from msgspec import Struct

from tidings.base.times import from_datetime
from tidings.net.cache_headers import http_date
from tidings.net.requests import clean
from tidings.net.targets import Target

# Cookies of one chain, characters of one of them, and of all that a request sends. RFC 6265, section 6.1, asks clients
# to accept the first two.
_MAX_COOKIES: Final = 50
_MAX_COOKIE: Final = 4096
_MAX_HEADER: Final = 8192


class _Cookie(Struct, frozen=True):
    """A cookie and where it is sent."""

    pair: str
    """name=value, as it was received."""
    domain: str
    is_for_subdomains: bool
    path: str
    is_secure: bool

    def is_for(self, target: Target) -> bool:
        host, path = target.host, target.url.raw_path or "/"
        return (
            (host == self.domain or (self.is_for_subdomains and host.endswith(f".{self.domain}")))
            and (path == self.path or path.startswith(self.path.rstrip("/") + "/"))
            and (not self.is_secure or target.url.scheme == "https")
        )


class ChainCookies:
    """The cookies that responses of one chain of redirects have set. Source: RFC 6265, section 5.

    aiohttp's jar sends values back in other quotes than it received them.
    """

    def __init__(self) -> None:
        self._cookies: dict[tuple[str, str, str], _Cookie] = {}

    def receive(self, target: Target, response: aiohttp.ClientResponse) -> None:
        """Take the cookies of a response from this target."""
        for line in response.headers.getall("Set-Cookie", []):
            self._set(target, clean(line))

    def header(self, target: Target, given: str = "") -> str:
        """Return the Cookie header for a request; "" without cookies.

        given: the header that the feed's user entered for this host. A cookie of the same name that the site has set
        since replaces the one in it, as in a browser.
        """
        cookies = [cookie.pair for cookie in self._cookies.values() if cookie.is_for(target)]
        if not cookies:
            return given
        names = {_name(pair) for pair in cookies}
        parts = [part for each in given.split(";") if (part := each.strip()) and _name(part) not in names]
        length = len("; ".join(parts))
        for pair in cookies:
            length += len(pair) + 2
            if length <= _MAX_HEADER:
                parts.append(pair)
        return "; ".join(parts)

    def _set(self, target: Target, line: str) -> None:
        pair, *rest = (part.strip() for part in line.split(";"))
        attributes = {_name(each).lower(): each.partition("=")[2].strip() for each in rest}
        domain = attributes.get("domain", "").lower().removeprefix(".")
        if len(pair) > _MAX_COOKIE or "=" not in pair or not pair.isprintable() or not _may_set(target.host, domain):
            return
        path = attributes.get("path", "")
        cookie = _Cookie(
            pair=pair,
            domain=domain or target.host,
            is_for_subdomains=bool(domain),
            path=path if path.startswith("/") else (target.url.raw_path.rpartition("/")[0] or "/"),
            is_secure="secure" in attributes,
        )
        key = (_name(pair), cookie.domain, cookie.path)
        if _is_expired(attributes):
            self._cookies.pop(key, None)
        elif key in self._cookies or len(self._cookies) < _MAX_COOKIES:
            self._cookies[key] = cookie


def _name(pair: str) -> str:
    return pair.partition("=")[0].strip()


def _may_set(host: str, domain: str) -> bool:
    """Return whether a host may set cookies for a domain. "" stands for the host itself."""
    return domain in {"", host} or ("." in domain and host.endswith(f".{domain}"))


def _is_expired(attributes: dict[str, str]) -> bool:
    age = attributes.get("max-age", "")
    if age.removeprefix("-").isdecimal():
        return age.startswith("-") or not age.strip("0")
    moment = http_date(attributes.get("expires", ""))
    return moment is not None and moment <= from_datetime(datetime.now(UTC))
