"""Which feeds share a source, a document that is fetched once for all of them, and the lease of a source.

Feeds of any users share a source if they have the same URL and the same fetch options. A feed that a bridge of its own
user fetches shares it with no feed of another one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from tidings.domain.feeds.feeds import RSSHUB_SCHEME, Feed

# The columns of a feed that determine its request and how its document is read. Feeds that differ in one of these are
# fetched separately.
SHARED_OPTIONS = (
    "feed_url",
    "user_agent",
    "cookie",
    "username",
    "password",
    "proxy_url",
    "fetch_via_proxy",
    "ignore_http_cache",
    "allow_self_signed_certificates",
    "kind",
    "selectors",
    "fetch_via_flaresolverr",
    "own_bridge",
    "user_id",
)
# Left out of the key of an ordinary feed: stored keys are older than they. By the option without which they are.
_LATER = {
    "kind": "kind",
    "selectors": "kind",
    "fetch_via_flaresolverr": "fetch_via_flaresolverr",
    "own_bridge": "own_bridge",
    "user_id": "own_bridge",
}
_DEFAULTS = {field.name: field.default for field in msgspec.structs.fields(Feed)}


class SourceLease(Struct, frozen=True):
    """A worker's claim on one source: until it expires, no other worker fetches the source."""

    source_id: int
    """0 for a check without a claim."""
    feeds: Sequence[Feed]
    """The enabled feeds that show the source; there is at least one."""
    worker: str = ""
    """Id of the worker that holds the lease; "" for a check that needs none, such as a refresh a user waits for."""
    requested_by: int = 0
    """Id of the user who waits for this check, or 0."""
    is_pushed: bool = False
    """A hub pushes the source's new entries."""
    has_hub: bool = True
    """A hub may be known for the source."""

    @property
    def lead(self) -> Feed:
        """The feed that requests are built from; any would do, since SHARED_OPTIONS are the same in all."""
        return self.feeds[0]


# The columns that make the next check of a feed parse its document even if it has not changed.
NO_VALIDATORS: Final[Mapping[str, Any]] = {"body_digest": None, "etag_header": "", "last_modified_header": ""}


def fetch_key(values: Mapping[str, Any]) -> bytes:
    """Return a digest of the options that a request depends on: feeds with the same key share a source.

    values: columns of a feed; those left out have the defaults of a new feed. With `own_bridge`, `user_id` must be
    among them. The digest reveals no credentials.
    """
    names = [name for name in SHARED_OPTIONS if name not in _LATER or values.get(_LATER[name])]
    parts = [values.get(name, _DEFAULTS.get(name)) for name in names]
    return hashlib.sha256(msgspec.json.encode(parts)).digest()


def feed_fetch_key(feed: Feed) -> bytes:
    """Return the `fetch_key` of a stored feed."""
    return fetch_key({name: getattr(feed, name) for name in SHARED_OPTIONS})


def counted_host(values: Mapping[str, Any]) -> str:
    """Return the host for which the checks of a feed are counted: routes of users' own RSSHubs apart from the others.

    values: columns of the feed, as for `fetch_key`.
    """
    host = host_with_port(values["feed_url"])
    is_own_hub = values.get("own_bridge") and values["feed_url"].startswith(RSSHUB_SCHEME)
    return f"{host} of {values['user_id']}" if is_own_hub else host


def host_with_port(feed_url: str) -> str:
    """Return the host by which requests are limited, in lower case, with its port unless that is the default one.

    All routes of RSSHub have the same one. Return "" if the URL is not valid.
    """
    if feed_url.startswith(RSSHUB_SCHEME):
        return RSSHUB_SCHEME.partition(":")[0]
    try:
        parts = urlsplit(feed_url)
        port = parts.port
    except ValueError:
        return ""
    name = (parts.hostname or "").rstrip(".")
    default_port = {"http": 80, "https": 443}.get(parts.scheme)
    return name if port in (None, default_port) else f"{name}:{port}"


def have_same_document(feeds: Sequence[Feed]) -> bool:
    """Return whether these feeds, which share a source, last stored the same version of its document."""
    versions = {(feed.etag_header, feed.last_modified_header, feed.body_digest) for feed in feeds}
    return len(versions) == 1 and feeds[0].body_digest is not None
