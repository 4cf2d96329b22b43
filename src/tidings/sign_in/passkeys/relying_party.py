"""Where passkeys work: the name that they belong to, and why browsers offer none under some addresses.

A passkey belongs to a relying party id, the host of BASE_URL. Browsers make and use it on pages of that host only, if
these came over https or from this machine.

Source: W3C Web Authentication Level 3, sections 5.1.3 and 13.4.9; HTML, "secure context".
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from msgspec import Struct

from tidings.base.messages import Message, msg

_DEFAULT_PORTS = {"http": 80, "https": 443}


class RelyingParty(Struct, frozen=True):
    """This service, as browsers and authenticators see it."""

    id: str
    """The host of BASE_URL in lower case."""
    origin: str
    """The origin of our pages, as browsers write it."""
    problem: Message | None = None
    """Why browsers offer no passkeys here; None if they do."""


def relying_party(base_url: str) -> RelyingParty:
    """Return the relying party of a service with this address. The path does not count."""
    url = urlsplit(base_url)
    host = (url.hostname or "").rstrip(".")
    shown = f"[{host}]" if ":" in host else host
    port = "" if url.port in (None, _DEFAULT_PORTS.get(url.scheme)) else f":{url.port}"
    return RelyingParty(host, f"{url.scheme}://{shown}{port}", _problem(url.scheme, host, port))


def _problem(scheme: str, host: str, port: str) -> Message | None:
    if _is_address(host):
        return msg(
            "Passkeys belong to a name, and {host} is an address: browsers refuse them here. Set TIDINGS_BASE_URL to an"
            " https address with a name, or to {localhost} if you use Tidings on this machine only.",
            host=host,
            localhost=f"http://localhost{port}",
        )
    if scheme != "https" and host != "localhost" and not host.endswith(".localhost"):
        return msg(
            "Browsers offer passkeys on https pages only. Serve Tidings over https, and set TIDINGS_BASE_URL to"
            " {address}.",
            address=f"https://{host}",
        )
    return None


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
