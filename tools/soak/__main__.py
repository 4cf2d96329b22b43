"""`make soak`: many API clients, then polling with publishers that misbehave. Exits with 1 if a limit is exceeded.

Draws the memory in the course of polling into build/soak-memory.svg.

python -m soak [clients] [polling] [--seconds 1200] [--clients 2000] [--client-seconds 180] [--engine sqlite]
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from benchmarks.plots import Axis, Curve, write_plot

from loopback.running import database
from soak import clients, polling
from soak.breaches import MIB, Report

ENGINES = ("sqlite", "postgresql")
PARTS = ("clients", "polling")
PLOT = Path("build/soak-memory.svg")


def main() -> int:
    arguments = _arguments()
    breaches = 0
    curves: list[Curve] = []
    for part in arguments.parts or PARTS:
        for engine in arguments.engine or ENGINES:
            with ExitStack() as stack:
                home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tidings-soak-")))
                # PostgreSQL refuses to run as root: another user must be able to enter this folder.
                home.chmod(0o755)
                report = asyncio.run(_run(part, stack.enter_context(database(engine, home)), home, arguments))
            sys.stdout.write(f"\n== {part} on {engine}\n\n{report.text()}")
            sys.stdout.flush()
            breaches += len(report.breaches)
            if part == "polling":
                curves.append(Curve(engine, [sample.memory_bytes / MIB for sample in report.samples]))
    if curves:
        PLOT.parent.mkdir(exist_ok=True)
        minutes = max(1, round(arguments.seconds / 60))
        axis = Axis("minutes", minutes, max(1, minutes // 10))
        write_plot(PLOT, title="Memory of all processes while polling, MiB", curves=curves, axis=axis)
    sys.stdout.write(f"\n{'No breach.' if not breaches else f'{breaches} breaches.'}\n")
    return 1 if breaches else 0


async def _run(part: str, database_url: str, home: Path, arguments: argparse.Namespace) -> Report:
    if part == "clients":
        return await clients.soak(database_url, home, arguments.clients, arguments.client_seconds)
    return await polling.soak(database_url, home, arguments.feeds, arguments.seconds)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="soak", description="Load a service for minutes, and look for breaches.")
    parser.add_argument("parts", nargs="*", metavar="{clients,polling}", help="all of them when none is named")
    parser.add_argument("--seconds", type=float, default=1200, help="of polling")
    parser.add_argument("--feeds", type=int, default=300, help="to poll; a third of them misbehaves")
    parser.add_argument("--clients", type=int, default=2000, help="of the API, at the same time")
    parser.add_argument("--client-seconds", type=float, default=180, help="for which they ask")
    parser.add_argument("--engine", action="append", choices=ENGINES)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
