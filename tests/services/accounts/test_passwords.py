"""Passwords: slow to check once, quick afterwards, unknown at once when changed."""

from __future__ import annotations

import pytest

from tidings.base.times import Instant
from tidings.services.accounts.passwords import (
    MAX_REMEMBERED,
    REMEMBER_FOR,
    UNKNOWN_USER_HASH,
    VerifiedPasswords,
    hash_password,
    matches,
)

NOW = Instant(1_790_000_000_000_000)


@pytest.mark.parametrize("password", ["secret", "s" * 1000, "päßwörd", "\N{PILE OF POO}" * 30, "with\0nul"])
def test_a_password_matches_its_own_hash_only(password: str) -> None:
    stored = hash_password(password)

    assert stored.startswith("$argon2id$")
    assert matches(stored, password)
    assert not matches(stored, password + "x")
    assert not matches(stored, password[:-1])


def test_the_service_hashes_at_the_cost_that_owasp_recommends() -> None:
    # Made when the module was imported: the tests hash at a lower cost, see tests/conftest.py.
    assert UNKNOWN_USER_HASH.startswith("$argon2id$v=19$m=19456,t=2,p=1$")


def test_an_invalid_hash_matches_nothing() -> None:
    assert not matches("", "secret")
    assert not matches("$2b$12$abc", "secret")


def test_a_verified_password_is_known_for_ten_minutes_and_only_with_its_hash() -> None:
    verified = VerifiedPasswords()
    verified.remember("hash", "secret", NOW)

    assert verified.knows("hash", "secret", Instant(NOW + REMEMBER_FOR - 1))
    assert not verified.knows("hash", "secret", Instant(NOW + REMEMBER_FOR))
    assert not verified.knows("new hash", "secret", NOW)
    assert not verified.knows("hash", "Secret", NOW)
    assert not verified.knows("hashs", "ecret", NOW)


def test_the_cache_does_not_contain_passwords() -> None:
    verified = VerifiedPasswords()
    verified.remember("hash", "very secret", NOW)

    assert b"secret" not in b"".join(verified._until)


def test_the_cache_is_bounded() -> None:
    verified = VerifiedPasswords()
    for number in range(MAX_REMEMBERED + 5):
        verified.remember("hash", str(number), NOW)

    assert len(verified._until) == MAX_REMEMBERED
    assert not verified.knows("hash", "0", NOW)
