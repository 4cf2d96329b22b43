"""Headers of responses: freshness (Cache-Control, Expires, Age, Date), Retry-After, Link, and cookies.

Many publishers write these headers wrongly. A value that cannot be parsed counts as absent, with one exception:
freshness that is given but invalid counts as "stale now", as RFC 9111 asks (section 4.2.1).

Cookies last for one chain of redirects. Some sites redirect the first request to a page that sets a cookie and
redirects back; without the cookie this never ends. Nothing is kept for the next request: cookies that last would let
publishers track readers.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import urljoin

import aiohttp
from msgspec import Struct

from tidings.base.times import SECOND, Instant, from_datetime
from tidings.net.guard import Target

# RFC 9111, section 1.2.2: larger values may be read as this one; about 68 years.
MAX_SECONDS = 2**31

# Characters. Real headers are shorter, and an attacker could make the parsing of longer ones slow.
_MAX_HEADER_CHARS = 4096

# name, name=token or name="quoted"; commas inside quotes do not separate.
_DIRECTIVE = re.compile(r'\s*([\w-]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?[^,]*,?', re.ASCII)

_LINK = re.compile(r"<([^<>]*)>((?:[^,<\"]|\"(?:[^\"\\]|\\.)*\")*)")
_LINK_PARAMETER = re.compile(r";\s*(rel|type|title|sizes)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s;,\"]+))", re.IGNORECASE)
_ESCAPED = re.compile(r"\\(.)")


class Link(Struct, frozen=True):
    """One target of a Link header."""

    url: str
    """An absolute URL."""
    rel: str
    """A single relation, in lower case."""
    type: str = ""
    """The media type, as written."""
    title: str = ""
    sizes: str = ""
    """The sizes of an icon."""


def freshness_s(
    *, cache_control: str = "", expires: str = "", age: str = "", date: str = "", now: Instant
) -> int | None:
    """Return for how many more seconds the response is fresh; None if the headers do not say.

    max-age wins over Expires; Age is subtracted; no-cache and no-store mean 0. Expires is measured from the
    publisher's own Date if that is present, so that a wrong clock on either side does not matter.
    `s-maxage` is ignored: it is meant for caches that the publisher can purge.
    Source: RFC 9111, sections 4.2.1 and 5.2.2.
    """
    directives = _directives(cache_control)
    if "no-cache" in directives or "no-store" in directives:
        return 0
    if "max-age" in directives:
        lifetime = _delta_s(directives["max-age"]) or 0
    elif expires.strip():
        lifetime = _lifetime_s(expires, date, now)
    else:
        return None
    return max(0, lifetime - (_delta_s(age) or 0))


def retry_after_s(value: str, now: Instant) -> int | None:
    """Return the seconds to wait by a Retry-After header, 0 for a date in the past; None if it cannot be parsed.

    Source: RFC 9110, section 10.2.3. Fractions of a second, which some servers send, are rounded up.
    """
    if (seconds := _delta_s(value)) is not None:
        return seconds
    moment = http_date(value)
    return None if moment is None else _seconds_between(now, moment)


def http_date(value: str) -> Instant | None:
    """Return the parsed date; None if it cannot be parsed.

    Accepts all three formats of RFC 9110, section 5.6.7, and the variants that `email.utils` accepts.
    """
    try:
        moment = parsedate_to_datetime(value.strip())
        return from_datetime(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def wants_no_validators(expires: str) -> bool:
    """Return whether the publisher asks for unconditional requests, by `Expires: 0` (docs/polling.md)."""
    return expires.strip() == "0"


def parse_links(value: str, base_url: str) -> tuple[Link, ...]:
    """Return the targets of a Link header, in order, one for each relation. Source: RFC 8288."""
    links = []
    for target, parameters in _LINK.findall(value[:_MAX_HEADER_CHARS]):
        values: dict[str, str] = {}
        for name, quoted, token in _LINK_PARAMETER.findall(parameters):
            # The first `rel` counts, RFC 8288 says.
            values.setdefault(name.lower(), _ESCAPED.sub(r"\1", quoted) or token)
        url = _resolve(base_url, target.strip())
        if url:
            relations = values.pop("rel", "").lower().split()
            links += [Link(url, relation, **values) for relation in relations]
    return tuple(links)


def _directives(cache_control: str) -> dict[str, str]:
    """Return the directives by name in lower case. A repeated one keeps its first value, as RFC 9111 allows."""
    directives: dict[str, str] = {}
    for name, quoted, token in _DIRECTIVE.findall(cache_control[:_MAX_HEADER_CHARS]):
        directives.setdefault(name.lower(), quoted or token)
    return directives


def _delta_s(value: str) -> int | None:
    """Return a number of seconds, at most MAX_SECONDS; None if the value is not a number."""
    value = value.strip()
    if not re.fullmatch(r"\d+(\.\d*)?", value, re.ASCII):
        return None
    # Longer numbers exceed the limit anyway, and Python refuses to convert several thousand digits.
    return MAX_SECONDS if len(value) > 15 else min(math.ceil(float(value)), MAX_SECONDS)


def _lifetime_s(expires: str, date: str, now: Instant) -> int:
    moment = http_date(expires)
    if moment is None:
        return 0
    sent = http_date(date) if date else None
    return _seconds_between(now if sent is None else sent, moment)


def _seconds_between(start: Instant, end: Instant) -> int:
    return min(max(0, math.ceil((end - start) / SECOND)), MAX_SECONDS)


def _resolve(base_url: str, target: str) -> str:
    try:
        return urljoin(base_url, target)
    except ValueError:
        return ""


def header(response: aiohttp.ClientResponse, name: str) -> str:
    """Return the first header of this name; "" if there is none."""
    return clean(response.headers.get(name, ""))


def joined_header(response: aiohttp.ClientResponse, name: str) -> str:
    """Return all headers of this name as one list with commas; "" if there are none."""
    return clean(", ".join(response.headers.getall(name, [])))


def clean(value: str) -> str:
    """Return the value of a header without lone surrogates, which neither databases nor headers can hold.

    Raw bytes that are not UTF-8 arrive as such; they are read as Latin-1.
    """
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogateescape").decode("latin-1")
    return value


# Cookies

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
