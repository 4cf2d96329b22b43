"""All surfaces of a process verify passwords in the same few threads."""

from __future__ import annotations

import asyncio
import threading

import pytest

from tidings.http import password_gate
from tidings.http.password_gate import PasswordGate


def test_few_passwords_are_verified_side_by_side() -> None:
    gate, together = PasswordGate(), threading.Barrier(password_gate.THREADS)
    running: set[int] = set()
    numbers: list[int] = []

    def verify(number: int) -> int:
        running.add(number)
        numbers.append(len(running))
        together.wait(20)
        running.discard(number)
        return number

    async def verify_all() -> list[int]:
        return await asyncio.gather(*(gate.run(verify, number) for number in range(10)))

    assert asyncio.run(verify_all()) == list(range(10))
    assert max(numbers) == password_gate.THREADS
    gate.close()


def test_an_error_is_raised_where_the_result_is_awaited() -> None:
    def refuse() -> None:
        raise ValueError("wrong")

    gate = PasswordGate()
    with pytest.raises(ValueError, match="wrong"):
        asyncio.run(gate.run(refuse))
    gate.close()
