"""Parses the URLs that users and publishers give into targets of requests."""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Self
from urllib.parse import quote, urljoin

from msgspec import Struct
from yarl import URL

from tidings.base.errors import InvalidInput
from tidings.base.messages import Message, msg

MAX_URL_CHARS = 8192

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
# The operating system reads 2130706433, 0177.0.0.1 and 0x7f.1 as 127.0.0.1.
_NUMERIC_LABEL = re.compile(r"\d+|0x[0-9a-f]*")
_DOT_SEGMENT = re.compile(r"/(?:\.|%2e){1,2}(?=/|$)", re.IGNORECASE)
_PRINTABLE = "".join(map(chr, range(0x21, 0x7F)))


class Target(Struct, frozen=True):
    """The target of a request, with the credentials of its URL."""

    url: URL
    """An http or https URL without credentials and fragment.

    Path and query are exactly as written where that is legal, because normalizing them breaks signed URLs. Segments
    with one or two dots are resolved, as in browsers.
    """
    username: str = ""
    password: str = ""

    def __str__(self) -> str:
        return str(self.url)

    def __repr__(self) -> str:
        return f"Target({self.url})"

    @property
    def host(self) -> str:
        return self.url.raw_host or ""

    def trusts(self, other: Self) -> bool:
        """Return whether the cookie, the credentials and the user agent for this target may also be sent to `other`.

        True for the same scheme, host and port, and for the same host after an upgrade from http to https.
        """
        if self.url.origin() == other.url.origin():
            return True
        return self.host == other.host and (
            self.url.scheme,
            self.url.port,
            other.url.scheme,
            other.url.port,
        ) == (
            "http",
            80,
            "https",
            443,
        )

    def follow(self, location: str) -> Target:
        """Return the target of a Location header. Raises InvalidInput as `parse_target` does."""
        # Raw bytes in a header arrive as lone surrogates; they become the same bytes of the URL again.
        raw = location.encode("utf-8", "surrogateescape")
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            text = quote(raw, safe=_PRINTABLE)
        try:
            return parse_target(urljoin(str(self.url), text.strip()))
        except ValueError as error:
            raise InvalidInput(msg("{location} is not a web address.", location=repr(location)), field="url") from error


def parse_target(address: str) -> Target:
    """Return the target. Raises InvalidInput, with the reason, unless it is a complete http(s) URL."""
    address = address.strip()
    if len(address) > MAX_URL_CHARS:
        raise _invalid(msg("The address is longer than {max} characters.", max=MAX_URL_CHARS))
    if _CONTROL.search(address):
        raise _invalid(
            msg("The address contains a line break or another invisible character. Remove it and try again.")
        )
    scheme = address.partition(":")[0].lower()
    if scheme not in {"http", "https"}:
        raise _invalid(msg("The address has to begin with http:// or https://."))
    try:
        parsed = URL(address)
        raw = URL(address, encoded=True)
        authority = _authority(parsed, bracketed="[" in raw.raw_authority)
        path, query = (quote(part, safe=_PRINTABLE) for part in (raw.raw_path or "/", raw.raw_query_string))
        if _DOT_SEGMENT.search(path):
            path = _resolve_dots(path)
        url = URL(f"{scheme}://{authority}{path}" + (f"?{query}" if query else ""), encoded=True)
        return Target(url, parsed.user or "", parsed.password or "")
    except ValueError as error:  # includes UnicodeError
        raise _invalid(msg("The address cannot be understood: look at its host name and port.")) from error


def _resolve_dots(path: str) -> str:
    """Return the path without segments of one or two dots. Source: WHATWG URL Standard, section 4.4, path state."""
    resolved: list[str] = []
    *folders, last = path.split("/")[1:]
    for segment in [*folders, last]:
        dots = segment.lower().replace("%2e", ".")
        if dots == "..":
            del resolved[-1:]
        elif dots != ".":
            resolved.append(segment)
    ends_with_folder = last.lower().replace("%2e", ".") in {".", ".."}
    return "/" + "/".join([*resolved, ""] if ends_with_folder else resolved)


def may_share(url: str, other: str) -> bool:
    """Return whether the cookie and the user agent of a feed at `url` may be sent to `other`: its article, its icon.

    False if one of them is not a valid URL.
    """
    try:
        return parse_target(url).trusts(parse_target(other))
    except InvalidInput:
        return False


def _authority(url: URL, *, bracketed: bool) -> str:
    """Return host and port for the request: in lower case, without a default port."""
    host = (url.raw_host or "").lower()
    if not host:
        raise _invalid(msg("The address has no host name. It should look like https://example.org/feed.xml."))
    literal = _literal(host)
    if literal is None or bracketed != isinstance(literal, IPv6Address):
        _check_name(host, bracketed=bracketed)
    if url.port == 0:
        raise _invalid(msg("The address names port 0, which does not exist."))
    shown = f"[{host}]" if isinstance(literal, IPv6Address) else host
    return shown if url.is_default_port() else f"{shown}:{url.port}"


def _check_name(host: str, *, bracketed: bool) -> None:
    labels = host.removesuffix(".").split(".")
    if bracketed or len(host) > 254 or not all(_LABEL.fullmatch(label) for label in labels):
        raise _invalid(msg("{host} is not a host name.", host=host[:100]))
    if _NUMERIC_LABEL.fullmatch(labels[-1]):
        raise _invalid(msg("{host} is a number where a host name should be.", host=host[:100]))


def _literal(host: str) -> IPv4Address | IPv6Address | None:
    try:
        # A scope id, as in fe80::1%eth0, is only valid on this machine.
        return None if "%" in host else ip_address(host)
    except ValueError:
        return None


def _invalid(message: Message) -> InvalidInput:
    return InvalidInput(message, field="url")
