"""URLs in feeds: resolved to absolute URLs; refused if a link must not use them."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urljoin, urlsplit

from tidings.domain.cleaning.urls import MAX_BASE_CHARS, MAX_URL_CHARS
from tidings.domain.url_schemes import LINK_SCHEMES, scheme_of, strip_ignored

_WEB_PREFIXES: Final = ("http://", "https://")
_WITH_HOST: Final = re.compile("https?://[^/?#:]")
_WITH_HOST_NAME: Final = re.compile("(https?)://([^/?#:]+)", re.IGNORECASE)
# A host without a scheme looks like a relative path: it is taken for a host if it is the site's own, or `www`.
_BARE_HOST: Final = re.compile(r"((?:[a-z0-9-]+\.)+[a-z]{2,})(?=[:/?#]|$)", re.IGNORECASE)
_BROKEN_SCHEME: Final = re.compile(r"(https?):/*(?=[^/])", re.IGNORECASE)


def absolute_url(address: str, base: str) -> str:
    """Returns the absolute URL of `address` relative to `base`, or "".

    "" stands for an empty or unparsable address and for a scheme that is not in `LINK_SCHEMES`.
    base: an http(s) URL, or "" for none.
    """
    address = address.strip()
    if not address or len(address) > MAX_URL_CHARS:
        return ""
    if address.startswith(_WEB_PREFIXES) and "\n" not in address and "\t" not in address and "\r" not in address:
        return address
    address = strip_ignored(address.replace("\0", ""))
    if address.startswith("//"):
        return "https:" + address
    if scheme := scheme_of(address):
        return _BROKEN_SCHEME.sub(_repair_scheme, address, count=1) if scheme in LINK_SCHEMES else ""
    if len(base) > MAX_BASE_CHARS:
        return ""
    if found := _BARE_HOST.match(address):
        site = _WITH_HOST_NAME.match(base)
        if found[1].lower().startswith("www.") or (site and site[2].lower() == found[1].lower()):
            return f"{site[1] if site else 'https'}://{address}"
    try:
        return urljoin(base, address)
    except ValueError:
        return ""


def relative_url(address: str, base: str) -> str:
    """Returns `address` relative to a base that may itself be relative; `address` if either cannot be parsed."""
    try:
        return urljoin(base, address)
    except ValueError:
        return address


def web_url(address: str, base: str) -> str:
    """Returns the same as `absolute_url` if that is an http(s) URL with a host, else ""."""
    found = absolute_url(address, base)
    if not _WITH_HOST.match(found):
        return ""
    # Only a URL with brackets can fail the full check, which is slow.
    return "" if "[" in found[:300] and not _is_splittable(found) else found


def is_web_url(address: str) -> bool:
    """Returns whether the text is an absolute http(s) URL with a host."""
    return bool(web_url(address, "")) and " " not in address.strip()


def _is_splittable(address: str) -> bool:
    try:
        urlsplit(address)
    except ValueError:
        return False
    return True


def _repair_scheme(found: re.Match[str]) -> str:
    return f"{found[1].lower()}://"
