"""Measures parsing on one core: from a publisher's bytes to entries ready to be stored, with 200 published feeds."""

from __future__ import annotations

import sys

from scoring import throughput


def run() -> None:
    try:
        bodies = throughput.bodies()
    except FileNotFoundError:
        sys.stdout.write(f"ingest: {throughput.ARCHIVE} is not beside the project, left out\n")
        return
    speed = throughput.measure(bodies)
    sys.stdout.write(
        f"ingest: {speed.files} files, {speed.entries} entries, {speed.megabytes:.1f} MB; processor time\n"
    )
    for name, took_s in (
        ("parse", speed.parse_s),
        ("clean", speed.clean_s),
        ("parse and clean", speed.parse_s + speed.clean_s),
        ("with all the rest", speed.parse_s + speed.prepare_s),
    ):
        sys.stdout.write(
            f"  {name:18} {speed.megabytes / took_s:6.1f} MB/s {speed.files / took_s:7.0f} files/s"
            f" {speed.entries / took_s:8.0f} entries/s\n"
        )
