"""Other feed readers that benchmarks measure next to ours, where they are there: the options that name them."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from benchmarks import freshrss, library, reference
from benchmarks.freshrss import FRESHRSS
from benchmarks.library import READER
from benchmarks.reference import REFERENCE

OURS: Final[Mapping[str, str]] = {"sqlite": "Tidings, SQLite", "postgresql": "Tidings, PostgreSQL"}
TURNS: Final = 5


class Options(Struct, frozen=True):
    """What a benchmark was asked to measure."""

    snapshot: Path | None = None
    """A snapshot of FreshRSS."""
    python: str = sys.executable
    """An interpreter that has `reader`."""
    turns: int = TURNS
    is_apps_only: bool = False
    engines: Sequence[str] = tuple(OURS)


class Peers(Struct, frozen=True):
    """Which of the others are there. missing: why each of the rest is not measured, by name."""

    reference: bool
    freshrss: Path | None
    reader: str | None
    missing: Mapping[str, str]


def parse(arguments: Sequence[str], *, program: str, has_turns: bool = False) -> Options:
    """has_turns: whether the benchmark has turns, and cases of apps among others."""
    parser = argparse.ArgumentParser(prog=program)
    parser.add_argument("--freshrss", type=Path, metavar="PATH", help=f"a snapshot of {FRESHRSS}")
    parser.add_argument("--reader", default=sys.executable, metavar="PYTHON", help=f"an interpreter that has {READER}")
    if has_turns:
        parser.add_argument("--turns", type=_positive, default=TURNS, help=f"of each request, {TURNS} by default")
        parser.add_argument("--engine", choices=tuple(OURS), help="only this one")
        parser.add_argument("--apps-only", action="store_true", help="only the requests that apps send")
    found = parser.parse_args(arguments)
    if not has_turns:
        return Options(found.freshrss, found.reader)
    engines = (found.engine,) if found.engine else tuple(OURS)
    return Options(found.freshrss, found.reader, found.turns, found.apps_only, engines)


def _positive(text: str) -> int:
    if (number := int(text)) < 1:
        raise ValueError(text)
    return number


def found(options: Options, *, is_served: bool = True) -> Peers:
    """is_served: the API of FreshRSS is measured, and not its polling alone."""
    reasons = {
        REFERENCE: "" if reference.is_installed() else "its command is missing",
        FRESHRSS: freshrss.why_missing(options.snapshot, is_served=is_served),
        READER: library.why_missing(options.python),
    }
    missing = {name: why for name, why in reasons.items() if why}
    return Peers(
        reference=REFERENCE not in missing,
        freshrss=None if FRESHRSS in missing else options.snapshot,
        reader=None if READER in missing else options.python,
        missing=missing,
    )


def end_in_order() -> None:
    """Let a benchmark that is terminated stop what it started, as one that is interrupted does."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def missing_lines(peers: Peers) -> str:
    """Return a line for each that is not measured."""
    return "".join(f"({name} is left out: {why})\n" for name, why in peers.missing.items())
