"""Codes of authenticator apps: six digits that change every 30 seconds.

Source: RFC 6238 (time-based one-time passwords) with the parameters that all apps know; its section 5.2 asks that a
code works once, and allows one step of delay.
"""

from __future__ import annotations

import binascii
import hmac
from base64 import b32decode, b32encode
from typing import Final

from tidings.base.times import SECOND, Instant

STEP_S: Final = 30
DIGITS: Final = 6
# RFC 4226, section 4: a secret should have 160 bits, the length of the SHA-1 of which codes are made.
SECRET_BYTES: Final = 20
# Clocks of telephones and servers differ, and typing takes a while.
_WINDOW: Final = (0, -1, 1)


def format_secret(random_bytes: bytes) -> str:
    """Return a secret as apps take it, in Base32. random_bytes: SECRET_BYTES of them."""
    return b32encode(random_bytes).decode()


def is_secret(text: str) -> bool:
    """Return whether a text is a secret of the right length."""
    try:
        return len(b32decode(text)) == SECRET_BYTES
    except (binascii.Error, ValueError):
        return False


def step_at(now: Instant) -> int:
    """Return the number of the 30-second step."""
    return now // (STEP_S * SECOND)


def matching_step(secret: str, code: str, now: Instant, *, after: int) -> int | None:
    """Return the step of a code that is right now or was a step ago or will be in one; None for any other.

    after: the step of the code that was used last: it and those before it are refused.
    """
    from pyotp import TOTP  # when a code is checked, for the sake of memory

    if len(code) != DIGITS or not code.isascii() or not code.isdigit():
        return None
    totp, current = TOTP(secret, digits=DIGITS, interval=STEP_S), step_at(now)
    right = [
        step for step in (current + away for away in _WINDOW) if hmac.compare_digest(totp.generate_otp(step), code)
    ]
    return next((step for step in right if step > after), None)


def app_address(secret: str, username: str, issuer: str) -> str:
    """Return the otpauth: address that apps read from a QR code. issuer: under which the app lists the code."""
    from pyotp import TOTP  # as above

    return str(TOTP(secret, digits=DIGITS, interval=STEP_S).provisioning_uri(name=username, issuer_name=issuer))
