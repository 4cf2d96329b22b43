"""How long writes pause when the PostgreSQL server crashes and its standby is promoted at once.

Two hosts with `tidings web` and three with `tidings worker`, eight clients that write, replication that waits for the
standby. Prints the pauses of ROUNDS. Returns 1 if an acknowledged write is lost.

    python -m benchmarks failover
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Final

from support.hosts import Failover, fail_over, person_on, several_hosts

ROUNDS: Final = 3


def run() -> int:
    sys.stdout.write("failover: seconds without an acknowledged write, with eight clients on two hosts\n")
    lost = 0
    for _ in range(ROUNDS):
        result = _round()
        lost += len(result.lost)
        sys.stdout.write(
            f"  {result.pause_s:5.2f}, crash and promotion took {result.promotion_s:.2f};"
            f" {result.acknowledged} acknowledged, {len(result.lost)} lost, {result.refused} answered with 503\n"
        )
    return int(lost > 0)


def _round() -> Failover:
    with tempfile.TemporaryDirectory() as folder, several_hosts(Path(folder)) as hosts:
        return fail_over(hosts, person_on(hosts)[0])
