"""Measures throughput and memory of 10,000 deliveries to 100 receivers, ten of which never respond.

The deliverer is a process of its own, with the limits that it always has; so is what receives.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import func, select

from support import postgres
from support.databases import Databases, PostgresDatabases, SqliteDatabases
from support.outbox import Hook, hook
from tidings.deliveries.attempts import EventSender
from tidings.deliveries.tables import deliveries
from tidings.engine.database import Database

RECEIVERS, HANGING, EACH = 100, 10, 100
BODY = "<p>What an entry has to say, as long as entries are in the middle.</p>" * 40
TESTS = Path(__file__).parents[1] / "tests"


def run() -> None:
    sys.stdout.write(f"deliveries: {RECEIVERS * EACH} to {RECEIVERS} receivers, {HANGING} of them hang\n")
    with TemporaryDirectory() as folder:
        _measure("sqlite", SqliteDatabases(Path(folder)))
    with postgres.postgres_server() as url, closing(PostgresDatabases(url)) as databases:
        _measure("postgresql", databases)


def _measure(engine: str, databases: Databases) -> None:
    with ExitStack() as stack:
        url = stack.enter_context(databases.migrated())
        database = Database(url)
        stack.callback(database.close)
        port = stack.enter_context(_receivers())
        _post(database, port)
        deliverer = stack.enter_context(_process("benchmarks.deliveries", "deliver", url))
        wanted = (RECEIVERS - HANGING) * EACH
        while not (done := _delivered(database)):
            time.sleep(0.02)
        started, first, memory = time.perf_counter(), done, [_resident_mb(deliverer.pid)]
        while (done := _delivered(database)) < wanted:
            time.sleep(0.2)
            memory.append(_resident_mb(deliverer.pid))
        took_s = time.perf_counter() - started
    sys.stdout.write(
        f"  {engine:12} {(done - first) / took_s:6.0f} deliveries/s; memory {memory[0]:.0f} MB when the first arrived,"
        f" {max(memory):.0f} MB at most, {memory[-1]:.0f} MB at the end\n"
    )


def _post(database: Database, port: int) -> None:
    """Post the events to each receiver in turn."""
    receivers: list[Hook] = []
    for number in range(RECEIVERS):
        kind = "hang" if number < HANGING else "take"
        receivers.append(hook(database, f"http://127.0.0.1:{port}/{kind}/{number}"))
    for receiver in receivers:
        receiver.post(*(f"{number} {BODY}" for number in range(EACH)))


def _delivered(database: Database) -> int:
    with database.reading() as db:
        return int(db.scalar(select(func.count()).where(deliveries.c.state == "delivered")))


def _resident_mb(pid: int) -> float:
    match = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(match[1]) / 1024 if match else 0.0


@contextmanager
def _process(*command: str, stdout: int = subprocess.DEVNULL) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", *command], env=environment, stdout=stdout, stderr=subprocess.DEVNULL, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def _receivers() -> Iterator[int]:
    """Start the receivers. Yields their port."""
    with _process("benchmarks.deliveries", "receive", stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())


# The two other processes.


async def _receive() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        await reader.readexactly(int(length[1]) if length else 0)
        if head.startswith(b"POST /hang"):
            await reader.read()
        else:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1024)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


async def _deliver(database_url: str) -> None:
    from tidings.deliveries.queue import DeliveryQueue
    from tidings.deliveries.worker import Deliverer
    from tidings.net.post import Sender
    from tidings.services.clock import system_clock

    database = Database(database_url)
    attempts = EventSender(Sender(user_agent="Tidings/bench", allow_private_networks=True), system_clock)
    await Deliverer(DeliveryQueue(database, attempts, system_clock)).run(asyncio.Event())


if __name__ == "__main__":
    asyncio.run(_receive() if sys.argv[1] == "receive" else _deliver(sys.argv[2]))
