"""Sources: documents that are fetched once, however many feeds show them.

Feeds share a source when they have the same address and the same options of fetching, whoever their users are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from tidings.domain.feeds.feeds import Feed

# What a request is made of: who differs in one of these gets a fetch of its own.
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

    worker: the worker that holds it until its lease ends; "" for a check that needs no lease, such as a refresh that
    a user waits for. is_pushed: a hub tells what is new in it. has_hub: a hub may be known for it.
    """

    source_id: int
    feeds: Sequence[Feed]
    worker: str = ""
    is_pushed: bool = False
    has_hub: bool = True

    @property
    def lead(self) -> Feed:
        """Any of the feeds: what a request needs is the same in all."""
        return self.feeds[0]


# Columns of a feed whose next document is to be read even if it is the same as the last one.
NO_VALIDATORS: Final[Mapping[str, Any]] = {"body_digest": None, "etag_header": "", "last_modified_header": ""}


class Validators(Struct, frozen=True):
    """What a conditional request sends."""

    etag: str = ""
    last_modified: str = ""


def fetch_key(values: Mapping[str, Any]) -> bytes:
    """values: of a feed; what is left out is as in a new one. Credentials cannot be read out of it."""
    parts = [values.get(name, _DEFAULTS.get(name)) for name in SHARED_OPTIONS]
    return hashlib.sha256(msgspec.json.encode(parts)).digest()


def key_of(feed: Feed) -> bytes:
    return fetch_key({name: getattr(feed, name) for name in SHARED_OPTIONS})


def host_of(feed_url: str) -> str:
    """As politeness counts: lower case, with the port where it is not the usual one; "" for no address."""
    try:
        parts = urlsplit(feed_url)
        port = parts.port
    except ValueError:
        return ""
    name = (parts.hostname or "").rstrip(".")
    usual = {"http": 80, "https": 443}.get(parts.scheme)
    return name if port in (None, usual) else f"{name}:{port}"


def shared_validators(feeds: Sequence[Feed]) -> Validators:
    """None where feeds last saw different versions: "not modified" would be true of some of them only."""
    said = {(feed.etag_header, feed.last_modified_header, feed.body_digest) for feed in feeds}
    if len(said) > 1:
        return Validators()
    return Validators(feeds[0].etag_header, feeds[0].last_modified_header)
