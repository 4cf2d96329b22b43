"""Health checks of several monitors at the same time, which share one look at the database."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from tidings.maintenance.health_endpoints import HealthCheck, WithinLimit


@pytest.mark.parametrize(("problem", "status", "body"), [("", 200, b"OK"), ("no disk", 503, b"no disk")])
def test_checks_that_share_a_result_have_responses_of_their_own(problem: str, status: int, body: bytes) -> None:
    release = threading.Event()
    calls: list[str] = []

    def look() -> str:
        calls.append("look")
        release.wait(timeout=60)
        return problem

    async def ask(check: HealthCheck, method: str) -> tuple[int, int, bytes]:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> Any:
            raise AssertionError

        await check({"type": "http", "method": method, "path": "/readyz", "headers": []}, receive, send)
        return sent[0]["status"], len(sent[0]["headers"]), b"".join(each.get("body", b"") for each in sent)

    async def ask_all() -> list[tuple[int, int, bytes]]:
        check = HealthCheck(WithinLimit(look, lambda: ""))
        requested = [asyncio.create_task(ask(check, method)) for method in ("HEAD", *["GET"] * 20)]
        await asyncio.sleep(0)
        release.set()
        return await asyncio.gather(*requested)

    (head, *answers) = asyncio.run(ask_all())

    assert calls == ["look"]
    assert head[::2] == (status, b"")
    assert {(answer[0], answer[2]) for answer in answers} == {(status, body)}
    assert len({answer[1] for answer in answers}) == 1
