"""Hashes of passwords that cost next to nothing: most tests create users."""

from __future__ import annotations

from argon2 import PasswordHasher

from tidings.services.accounts import passwords


def use() -> None:
    """Let this process hash at the lowest cost. A hash carries its cost, so that any process verifies it as cheaply."""
    passwords.hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
