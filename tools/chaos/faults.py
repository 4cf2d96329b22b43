"""The faults. Each function causes one, undoes it, and returns."""

from __future__ import annotations

import asyncio
import resource
import signal
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from dataclasses import dataclass

import psycopg

from chaos.testbed import Testbed, postgres_pids, send
from support.postgres import PostgresMissing

Act = Callable[[Testbed], Awaitable[None]]


@dataclass(frozen=True)
class Fault:
    """lane: faults of one lane are made one after another, those of different lanes at the same time.

    missing: returns why the fault is impossible on this machine, "" if it is possible.
    """

    name: str
    lane: str
    act: Act
    engines: tuple[str, ...] = ("sqlite", "postgresql")
    weight: int = 1
    missing: Callable[[Testbed], str] = lambda _: ""


async def kill(testbed: Testbed, *roles: str) -> None:
    found = testbed.processes(*roles)
    if found:
        send(testbed.rng.choice(found).pid, signal.SIGKILL)


async def kill_web_worker(testbed: Testbed) -> None:
    await kill(testbed, "web worker")


async def kill_worker(testbed: Testbed) -> None:
    await kill(testbed, "worker")


async def kill_helper(testbed: Testbed) -> None:
    await kill(testbed, "helper")


async def kill_supervisor(testbed: Testbed) -> None:
    await kill(testbed, "supervisor")


async def kill_everything(testbed: Testbed) -> None:
    for process in testbed.processes():
        send(process.pid, signal.SIGKILL)


async def suspend_one(testbed: Testbed) -> None:
    found = testbed.processes("web worker", "worker", "supervisor", "helper")
    if found:
        await _suspend(testbed, [testbed.rng.choice(found).pid])


async def suspend_everything(testbed: Testbed) -> None:
    await _suspend(testbed, [process.pid for process in testbed.processes()])


async def _suspend(testbed: Testbed, pids: list[int]) -> None:
    for pid in pids:
        send(pid, signal.SIGSTOP)
    await asyncio.sleep(testbed.rng.uniform(1, 6))
    for pid in pids:
        send(pid, signal.SIGCONT)


async def cut_connections(testbed: Testbed) -> None:
    """Terminate all database connections, up to five times in a row, so that reopened ones are hit too."""
    for _ in range(testbed.rng.randint(1, 5)):
        await asyncio.to_thread(
            _as_administrator,
            testbed,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = 'tidings' AND pid <> pg_backend_pid()",
        )
        await asyncio.sleep(testbed.rng.uniform(0, 0.5))


def _as_administrator(testbed: Testbed, *statements: str) -> None:
    assert testbed.cluster
    with (
        suppress(psycopg.OperationalError),
        psycopg.connect(testbed.cluster.url, autocommit=True, connect_timeout=5) as connection,
    ):
        for statement in statements:
            connection.execute(statement.encode())


async def restart_postgres(testbed: Testbed) -> None:
    """Restart the server, either cleanly or (`immediate`) as after a crash, with recovery from its log."""
    assert testbed.cluster
    with suppress(PostgresMissing):
        await asyncio.to_thread(testbed.cluster.stop, testbed.rng.choice(["fast", "immediate"]))
    await asyncio.sleep(testbed.rng.uniform(0, 4))
    await asyncio.to_thread(testbed.start_postgres)


async def kill_postgres_backend(testbed: Testbed) -> None:
    """Kill one process of the server, which then closes all connections and recovers."""
    assert testbed.cluster
    pids = postgres_pids(testbed.cluster)[1:]
    if pids:
        send(testbed.rng.choice(pids), signal.SIGKILL)
    await asyncio.sleep(1)
    await asyncio.to_thread(testbed.start_postgres)


async def freeze_postgres(testbed: Testbed) -> None:
    assert testbed.cluster
    await _suspend(testbed, postgres_pids(testbed.cluster))


async def make_postgres_read_only(testbed: Testbed) -> None:
    """Make the server read-only, as a standby is after a failover to the wrong server."""
    set_to = "ALTER SYSTEM SET default_transaction_read_only = {}"
    reload = "SELECT pg_reload_conf()"
    await asyncio.to_thread(_as_administrator, testbed, set_to.format("on"), reload)
    await asyncio.sleep(testbed.rng.uniform(2, 6))
    # The setting holds for this session as well.
    await asyncio.to_thread(
        _as_administrator, testbed, "SET default_transaction_read_only = off", set_to.format("off"), reload
    )


async def lock_database(testbed: Testbed) -> None:
    """Hold the write lock of the SQLite file, as a backup or another program would."""
    with closing(_sqlite(testbed)) as connection:
        try:
            await asyncio.to_thread(connection.execute, "BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return
        await asyncio.sleep(testbed.rng.uniform(1, 8))
        connection.rollback()


def _sqlite(testbed: Testbed) -> sqlite3.Connection:
    return sqlite3.connect(testbed.database_url.removeprefix("sqlite:///"), timeout=10, check_same_thread=False)


async def fill_disk(testbed: Testbed) -> None:
    await asyncio.to_thread(testbed.disk.fill)
    await asyncio.sleep(testbed.rng.uniform(2, 6))
    testbed.disk.empty()
    if testbed.cluster:
        await asyncio.sleep(1)
        await asyncio.to_thread(testbed.start_postgres)


def no_small_disk(testbed: Testbed) -> str:
    return "" if testbed.disk.is_small else "a small disk cannot be mounted without root"


async def limit_files(testbed: Testbed) -> None:
    """Limit the size of the service's files, to simulate a full disk where none can be mounted."""
    pids = [process.pid for process in testbed.processes("web worker", "worker")]
    for pid in pids:
        _set_limit(pid, 1)
    await asyncio.sleep(testbed.rng.uniform(2, 5))
    for pid in pids:
        _set_limit(pid, resource.RLIM_INFINITY)


def _set_limit(pid: int, limit_bytes: int) -> None:
    with suppress(OSError):
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (limit_bytes, resource.RLIM_INFINITY))


async def start_on_read_only_disk(testbed: Testbed) -> None:
    """Start the service on a read-only disk. It is killed first: a disk with open files cannot be made read-only."""
    testbed.restarts_commands = False
    for process in testbed.processes():
        send(process.pid, signal.SIGKILL)
    await asyncio.sleep(0.5)
    if not testbed.disk.set_read_only(True):
        testbed.notes["the disk could not be made read-only"] += 1
    testbed.restarts_commands = True
    await asyncio.sleep(testbed.rng.uniform(3, 6))
    testbed.disk.set_read_only(False)


async def change_clock(testbed: Testbed) -> None:
    """Change the clock of the service only, not of PostgreSQL and the publisher.

    Half of the time the workers are killed before the clock is reset, so that their leases have wrong times.
    """
    assert testbed.clock
    testbed.clock.set(testbed.rng.choice([180, 3600, -3600, 86_400, -86_400]))
    await asyncio.sleep(testbed.rng.uniform(3, 8))
    if testbed.rng.random() < 0.5:
        for process in testbed.processes("worker"):
            send(process.pid, signal.SIGKILL)
    testbed.clock.set(0)


def no_wrong_clock(testbed: Testbed) -> str:
    return "" if testbed.clock else "it needs a C compiler"


POSTGRESQL = ("postgresql",)
FAULTS = (
    Fault("web worker killed", "processes", kill_web_worker, weight=3),
    Fault("worker killed", "processes", kill_worker, weight=3),
    Fault("helper killed", "processes", kill_helper),
    Fault("supervisor killed", "processes", kill_supervisor),
    Fault("everything killed", "processes", kill_everything),
    Fault("process suspended", "processes", suspend_one, weight=3),
    Fault("everything suspended", "processes", suspend_everything),
    Fault("disk full", "store", fill_disk, missing=no_small_disk),
    Fault("files cannot grow", "store", limit_files, ("sqlite",)),
    Fault("disk read-only at a start", "store", start_on_read_only_disk, ("sqlite",), missing=no_small_disk),
    Fault("file locked by another program", "store", lock_database, ("sqlite",), weight=2),
    Fault("connections cut", "store", cut_connections, POSTGRESQL, weight=3),
    Fault("PostgreSQL restarted", "store", restart_postgres, POSTGRESQL, weight=2),
    Fault("PostgreSQL backend killed", "store", kill_postgres_backend, POSTGRESQL),
    Fault("PostgreSQL frozen", "store", freeze_postgres, POSTGRESQL),
    Fault("PostgreSQL read-only", "store", make_postgres_read_only, POSTGRESQL),
    Fault("clock wrong", "clock", change_clock, missing=no_wrong_clock),
)
LANES = ("processes", "store", "clock")
# On a busy machine the service takes some seconds to start: without a pause it would never be up.
PAUSE_S = {"processes": (2.0, 12.0), "store": (2.0, 10.0), "clock": (5.0, 15.0)}


def possible(testbed: Testbed, chosen: frozenset[str]) -> tuple[list[Fault], dict[str, str]]:
    """Return the possible faults of this engine, and by name why others are not. chosen: names; empty for all."""
    wanted = [fault for fault in FAULTS if testbed.engine in fault.engines and (not chosen or fault.name in chosen)]
    missing = {fault.name: why for fault in wanted if (why := fault.missing(testbed))}
    return [fault for fault in wanted if fault.name not in missing], missing


async def keep_breaking(testbed: Testbed, faults: list[Fault], lane: str, until: asyncio.Event) -> None:
    mine = [fault for fault in faults if fault.lane == lane]
    while mine and not until.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(until.wait(), testbed.rng.uniform(*PAUSE_S[lane]))
            return
        (fault,) = testbed.rng.choices(mine, [fault.weight for fault in mine])
        testbed.tried[fault.name] += 1
        await fault.act(testbed)
