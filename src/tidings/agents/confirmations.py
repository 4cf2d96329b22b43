"""Tokens for calls that change much: the first call tells what would happen, and the second one does it.

A token is bound to the user, the tool, its arguments and what was told. It is signed, so that no state is kept, and
ends after ten minutes.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from typing import Any, Final

import msgspec

from tidings.base.errors import InvalidField
from tidings.base.messages import msg
from tidings.base.times import MINUTE, SECOND, Instant
from tidings.services.accounts.server_secret import ServerSecret

LIFETIME: Final = 10 * MINUTE
LIFETIME_S: Final = LIFETIME // SECOND
_PURPOSE: Final = b"confirmations of agents"
_MAC_BYTES: Final = 20
_TIME_BYTES: Final = 8


class Confirmations:
    def __init__(self, secret: ServerSecret) -> None:
        self._secret = secret

    def token(self, user_id: int, tool: str, arguments: Any, now: Instant) -> str:
        """Return a token for a call. arguments: without the token."""
        issued = now.to_bytes(_TIME_BYTES, "big")
        return base64.urlsafe_b64encode(issued + self._mac(user_id, tool, arguments, issued)).decode().rstrip("=")

    def told_at(self, token: str, user_id: int, tool: str, arguments: Any, now: Instant) -> Instant:
        """Return when the call was told what it would do. Raises InvalidField for a token that is not for it."""
        try:
            decoded = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            decoded = b""
        issued, mac = decoded[:_TIME_BYTES], decoded[_TIME_BYTES:]
        if len(mac) != _MAC_BYTES or not hmac.compare_digest(mac, self._mac(user_id, tool, arguments, issued)):
            problem = msg(
                "this is not the token of this call with these arguments: call it without one, and take what you get."
            )
            raise InvalidField("confirmation", problem)
        told = Instant(int.from_bytes(issued, "big"))
        if not 0 <= now - told <= LIFETIME:
            raise InvalidField("confirmation", msg("this token has expired: call the tool without it for a new one."))
        return told

    def _mac(self, user_id: int, tool: str, arguments: Any, issued: bytes) -> bytes:
        key = hmac.digest(self._secret.get(), _PURPOSE, "sha256")
        text = msgspec.json.encode([user_id, tool, arguments], order="deterministic")
        return hmac.digest(key, issued + hashlib.sha256(text).digest(), "sha256")[:_MAC_BYTES]
