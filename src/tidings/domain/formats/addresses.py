"""Addresses in feeds: made absolute, and refused where they cannot be followed."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urljoin, urlsplit

from tidings.domain.cleaning.urls import MAX_ADDRESS, MAX_BASE

_BLANKS: Final = re.compile(r"[\t\r\n\x00]")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_WEB: Final = ("http://", "https://")
_WITH_HOST: Final = re.compile("https?://[^/?#:]")
_BROKEN_SCHEME: Final = re.compile(r"(https?):/*(?=[^/])", re.IGNORECASE)


def absolute(address: str, base: str) -> str:
    """The address as seen from `base`; "" for an empty one or one that nothing can make sense of."""
    address = address.strip()
    if not address or len(address) > MAX_ADDRESS:
        return ""
    if address.startswith(_WEB) and "\n" not in address and "\t" not in address and "\r" not in address:
        return address
    address = _BLANKS.sub("", address)
    if address.startswith("//"):
        return "https:" + address
    if _SCHEME.match(address):
        return _BROKEN_SCHEME.sub(_repair_scheme, address, count=1)
    if len(base) > MAX_BASE:
        return ""
    try:
        return urljoin(base, address)
    except ValueError:
        return ""


def web(address: str, base: str) -> str:
    """Like `absolute`, but "" unless the result is http(s) with a host."""
    found = absolute(address, base)
    if not _WITH_HOST.match(found):
        return ""
    # The general check is slow, and only an address with brackets can fail it.
    return "" if "[" in found[:300] and not _is_splittable(found) else found


def is_web(address: str) -> bool:
    """Whether the text is by itself an http(s) address with a host."""
    return bool(web(address, "")) and " " not in address.strip()


def _is_splittable(address: str) -> bool:
    try:
        urlsplit(address)
    except ValueError:
        return False
    return True


def _repair_scheme(found: re.Match[str]) -> str:
    return f"{found[1].lower()}://"
