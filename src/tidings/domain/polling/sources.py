"""Sources: documents that are fetched once for all feeds that show them.

Feeds of any users share a source if they have the same URL and the same fetch options.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from tidings.domain.feeds.feeds import Feed

# The columns of a feed that determine its request. Feeds that differ in one of these are fetched separately.
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
)
_DEFAULTS = {field.name: field.default for field in msgspec.structs.fields(Feed)}


class SourceLease(Struct, frozen=True):
    """A source to check, with the enabled feeds that show it; there is at least one.

    worker: the id of the worker that holds the lease; "" for a check that needs no lease, such as a refresh that a
    user waits for. requested_by: this user, or 0. is_pushed: a hub pushes its new entries. has_hub: a hub may be known
    for it.
    """

    source_id: int
    feeds: Sequence[Feed]
    worker: str = ""
    requested_by: int = 0
    is_pushed: bool = False
    has_hub: bool = True

    @property
    def lead(self) -> Feed:
        """The feed that requests are built from; any would do, since SHARED_OPTIONS are the same in all."""
        return self.feeds[0]


# The columns that make the next check of a feed parse its document even if it has not changed.
NO_VALIDATORS: Final[Mapping[str, Any]] = {"body_digest": None, "etag_header": "", "last_modified_header": ""}


class Validators(Struct, frozen=True):
    """What a conditional request sends."""

    etag: str = ""
    last_modified: str = ""


def fetch_key(values: Mapping[str, Any]) -> bytes:
    """Returns a digest of the options that a request depends on: feeds with the same key share a source.

    values: columns of a feed; those left out have the defaults of a new feed. The digest reveals no credentials.
    """
    parts = [values.get(name, _DEFAULTS.get(name)) for name in SHARED_OPTIONS]
    return hashlib.sha256(msgspec.json.encode(parts)).digest()


def feed_fetch_key(feed: Feed) -> bytes:
    """Returns the `fetch_key` of a stored feed."""
    return fetch_key({name: getattr(feed, name) for name in SHARED_OPTIONS})


def host_of(feed_url: str) -> str:
    """Returns the host by which requests are limited, in lower case, with its port unless that is the default one.

    Returns "" if the URL is not valid.
    """
    try:
        parts = urlsplit(feed_url)
        port = parts.port
    except ValueError:
        return ""
    name = (parts.hostname or "").rstrip(".")
    default_port = {"http": 80, "https": 443}.get(parts.scheme)
    return name if port in (None, default_port) else f"{name}:{port}"


def shared_validators(feeds: Sequence[Feed]) -> Validators:
    """Returns the validators of these feeds, which share a source.

    They are empty if the feeds last stored different versions: "not modified" would be true of some of them only; and
    without a digest: the document has to be parsed again (NO_VALIDATORS).
    """
    versions = {(feed.etag_header, feed.last_modified_header, feed.body_digest) for feed in feeds}
    if len(versions) > 1 or feeds[0].body_digest is None:
        return Validators()
    return Validators(feeds[0].etag_header, feeds[0].last_modified_header)
