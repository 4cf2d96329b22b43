"""Signed addresses: the proxy fetches what this installation wrote into a page, and nothing else.

/proxy/<signature>/<URL>            a picture
/proxy/<signature>/<URL>?size=row   the same, for a row of a list
/proxy/stream/<signature>/<URL>     audio or video

Both parts are in base64url without padding. The signature is an HMAC-SHA-256 of the URL, its first 16 bytes.
"""

from __future__ import annotations

import binascii
import hashlib
import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode

from tidings.base.errors import Forbidden
from tidings.base.messages import msg

PREFIX = "/proxy/"
STREAM_PREFIX = "/proxy/stream/"
# Appended to the path of a picture.
FOR_ROW = "?size=row"
_SIGNATURE_BYTES = 16


def signed_path(url: str, key: bytes, *, is_stream: bool = False) -> str:
    """Return the path under which the proxy serves a URL."""
    raw = url.encode("utf-8", "replace")
    return f"{STREAM_PREFIX if is_stream else PREFIX}{_encode(_signature(raw, key))}/{_encode(raw)}"


def verified_url(signature: str, encoded_url: str, key: bytes) -> str:
    """Return the URL of a signed path. Raises Forbidden for a signature that this key did not make."""
    try:
        raw, sent = _decode(encoded_url), _decode(signature)
        url = raw.decode()
    except (ValueError, binascii.Error) as error:
        raise _forbidden() from error
    if not hmac.compare_digest(sent, _signature(raw, key)):
        raise _forbidden()
    return url


def _signature(raw: bytes, key: bytes) -> bytes:
    return hmac.digest(key, raw, hashlib.sha256)[:_SIGNATURE_BYTES]


def _encode(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    return urlsafe_b64decode(text.encode() + b"=" * (-len(text) % 4))


def _forbidden() -> Forbidden:
    return Forbidden(msg("This address of a picture is not one that Tidings made. Open the article again."))
