"""Content-Encoding of answers: br, gzip or deflate, as the client prefers."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import brotli
import msgspec

from tidings.http.replies import Reply

# Levels at which the time to compress stays below what the saved bytes take on a common line.
_CODERS: dict[str, Callable[[bytes], bytes]] = {
    "br": lambda body: bytes(brotli.compress(body, quality=3)),
    "gzip": lambda body: gzip.compress(body, 3, mtime=0),
    "deflate": lambda body: zlib.compress(body, 3),
}


def compressed(reply: Reply, accepted: str) -> Reply:
    """accepted: the Accept-Encoding header (RFC 9110, section 12.5.3)."""
    coding = coding_for(accepted)
    if coding is None:
        return reply
    return msgspec.structs.replace(
        reply, body=_CODERS[coding](reply.body), headers=(*reply.headers, ("Content-Encoding", coding))
    )


def coding_for(accepted: str) -> str | None:
    """None when the client takes answers only as they are."""
    weights: dict[str, float] = {}
    for part in accepted.lower().split(","):
        coding, _, parameters = part.partition(";")
        weights[coding.strip()] = _weight(parameters)
    offered = [(weights.get(coding, weights.get("*", 0.0)), coding) for coding in _CODERS]
    best, coding = max(offered, key=lambda one: one[0])
    return coding if best > 0 else None


def _weight(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
