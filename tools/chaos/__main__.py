"""`make chaos`: breaks a running service on both engines. Exits with 1 if anything acknowledged was lost.

python -m chaos [--seconds 180] [--seed N] [--engine sqlite] [--fault "worker killed" …] [--without "clock wrong" …]
                    [--short] [--keep FOLDER]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
from pathlib import Path

from chaos.faults import FAULTS
from chaos.report import table
from chaos.storm import RECOVERY_S, Plan, storm

ENGINES = ("sqlite", "postgresql")
# The faults of `make test`: one kill of all processes, and one of PostgreSQL.
SHORT = ("everything killed", "PostgreSQL restarted")


def main() -> int:
    arguments = _arguments()
    seed = random.SystemRandom().randrange(10**6) if arguments.seed is None else arguments.seed
    sys.stdout.write(f"chaos with seed {seed}; to repeat it: make chaos SECONDS={arguments.seconds:g} SEED={seed}\n")
    wanted = SHORT if arguments.short else arguments.fault or (fault.name for fault in FAULTS)
    faults = frozenset(wanted) - frozenset(arguments.without)
    lost = 0
    for engine in arguments.engine or ENGINES:
        with tempfile.TemporaryDirectory(prefix="tidings-chaos-", ignore_cleanup_errors=True) as folder:
            home = Path(folder)
            # PostgreSQL refuses to run as root: another user must be able to enter this folder.
            home.chmod(0o755)
            plan = Plan(engine, arguments.seconds, seed, home, faults, arguments.recovery, arguments.short)
            outcome = asyncio.run(storm(plan))
            sys.stdout.write(f"\n{table(outcome)}")
            sys.stdout.flush()
            lost += len(outcome.losses)
            _keep(home, arguments.keep, engine)
    sys.stdout.write(f"\n{'Nothing was lost.' if not lost else f'{lost} claims do not hold.'}\n")
    return 1 if lost else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="chaos", description="Break a running service, and look for what it lost.")
    parser.add_argument("--seconds", type=float, default=180, help="of faults, on each engine")
    parser.add_argument("--seed", type=int, help="repeats the faults and writes of a run, as far as timing allows")
    parser.add_argument("--engine", action="append", choices=ENGINES)
    names = sorted(fault.name for fault in FAULTS)
    parser.add_argument("--fault", action="append", choices=names, help="only this fault; may be repeated")
    parser.add_argument(
        "--without", action="append", choices=names, default=[], help="all faults but this one; may be repeated"
    )
    parser.add_argument(
        "--recovery", type=float, default=RECOVERY_S, help="seconds within which the service must have recovered"
    )
    parser.add_argument("--short", action="store_true", help="two kills, each once")
    parser.add_argument("--keep", type=Path, help="folder for logs and ledgers")
    return parser.parse_args()


def _keep(home: Path, folder: Path | None, engine: str) -> None:
    if folder:
        target = folder / engine
        target.mkdir(parents=True, exist_ok=True)
        for file in [*home.glob("*.log"), home / "ledger.jsonl"]:
            (target / file.name).write_bytes(file.read_bytes())


if __name__ == "__main__":
    sys.exit(main())
