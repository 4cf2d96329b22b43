"""Challenges of passkeys: for one browser, one purpose and five minutes."""

from __future__ import annotations

import pytest

from tidings.base.times import MINUTE, Instant
from tidings.sign_in.passkeys import challenges

NOW = Instant(1_800_000_000_000_000)
NONCE = bytes(range(16))


def issued() -> bytes:
    return challenges.issue(b"secret", challenges.SIGN_IN, "browser", NOW, nonce=NONCE)


def checked(
    challenge: bytes, *, secret: bytes = b"secret", purpose: str = challenges.SIGN_IN, browser: str = "browser",
    now: int = NOW,
) -> bool:  # fmt: skip
    return challenges.check(secret, challenge, purpose, browser, Instant(now)) is not None


def test_a_challenge_is_valid_for_five_minutes() -> None:
    assert checked(issued())
    assert checked(issued(), now=NOW + 5 * MINUTE - 1)
    assert not checked(issued(), now=NOW + 5 * MINUTE)


def test_a_challenge_fits_nothing_else() -> None:
    assert not checked(issued(), secret=b"another installation")
    assert not checked(issued(), browser="another browser")
    assert not checked(issued(), purpose=challenges.second_step_purpose(1))
    assert not checked(
        challenges.issue(b"secret", challenges.create_purpose(1), "browser", NOW, nonce=NONCE),
        purpose=challenges.create_purpose(2),
    )


@pytest.mark.parametrize("place", [0, 16, 23, 24, 55])
def test_a_challenge_with_another_byte_is_refused(place: int) -> None:
    changed = bytearray(issued())
    changed[place] ^= 1

    assert not checked(bytes(changed))


@pytest.mark.parametrize("challenge", [b"", b"\0" * 56, issued()[:-1], issued() + b"\0"])
def test_what_was_not_issued_is_refused(challenge: bytes) -> None:
    assert not checked(challenge)
