"""The request and the response of `Fetcher.get`, and its settings."""

from __future__ import annotations

from functools import cached_property
from hashlib import sha256

from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.text import reject_invisible
from tidings.net.cache_headers import Link
from tidings.net.targets import parse_target

FEED_ACCEPT = (
    "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml, "
    "application/xml;q=0.9, text/xml;q=0.9, application/json;q=0.8, text/html;q=0.7, */*;q=0.5"
)


class FetchSettings(Struct, frozen=True, kw_only=True):
    """Settings of all requests."""

    user_agent: str
    """The default."""
    allow_private_networks: bool = False
    max_body_size: int = 15 * 1024 * 1024
    """In bytes."""
    timeout_s: float = 20
    connect_timeout_s: float = 10
    max_redirects: int = 10
    remember_names_s: int = 10
    """How long resolved names are cached."""
    proxy_url: str = ""
    """The operator's proxy, for requests with `fetch_via_proxy`; it may be in a private network."""


class FetchRequest(Struct, frozen=True, kw_only=True):
    """What to fetch, and how.

    cookie, user_agent, username and password are sent to the host of `url` only.
    """

    url: str
    """May contain credentials, which are not shown anywhere."""
    etag: str = ""
    """From the last response, unchanged."""
    last_modified: str = ""
    """From the last response, unchanged."""
    user_agent: str = ""
    cookie: str = ""
    """The whole Cookie header."""
    username: str = ""
    """Used only together with `password`."""
    password: str = ""
    accept: str = FEED_ACCEPT
    ignore_cache: bool = False
    """Whether to leave out `etag` and `last_modified`."""
    allow_self_signed_certificates: bool = False
    proxy_url: str = ""
    """Takes precedence over `fetch_via_proxy`."""
    fetch_via_proxy: bool = False
    """Use the operator's proxy, if there is one."""
    max_body_size: int | None = None
    """Overrides the settings."""
    timeout_s: float | None = None
    """Overrides the settings."""

    def __repr__(self) -> str:
        """Leaves out secrets: requests appear in logs and tracebacks."""
        return f"FetchRequest({_without_credentials(self.url)})"


class FetchResponse(Struct, frozen=True, kw_only=True, dict=True):
    """A document, or a response that it has not changed (`not_modified`, with an empty body).

    url: the final URL, without credentials. permanent_url: the same if there were redirects and all of them were
    permanent (301, 308), else None.
    etag, last_modified: what to send with the next request; empty if the publisher sent none or forbids their use.
    content_type: lower case, without parameters; charset: lower case. expires ... retry_after: as sent.
    """

    status: int
    url: str
    body: bytes = b""
    not_modified: bool = False
    permanent_url: str | None = None
    etag: str = ""
    last_modified: str = ""
    content_type: str = ""
    charset: str = ""
    cache_control: str = ""
    expires: str = ""
    age: str = ""
    date: str = ""
    retry_after: str = ""
    links: tuple[Link, ...] = ()
    took_ms: int = 0

    @cached_property
    def digest(self) -> bytes:
        """16 bytes that identify the body: an equal digest means an unchanged document."""
        return sha256(self.body).digest()[:16]


def check_headers(request: FetchRequest) -> None:
    """Raise InvalidInput for a header that cannot be sent."""
    for field in ("user_agent", "cookie", "accept", "etag", "last_modified"):
        reject_invisible(getattr(request, field), field=field)


def clean(value: str) -> str:
    """Return the value of a header without lone surrogates, which neither databases nor headers can hold.

    Raw bytes that are not UTF-8 arrive as such; they are read as Latin-1.
    """
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogateescape").decode("latin-1")
    return value


def _without_credentials(url: str) -> str:
    try:
        return str(parse_target(url))
    except InvalidInput:
        return "not an address"
