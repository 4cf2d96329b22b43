"""A wall clock that can be wrong, for the processes of a service."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("clock.c")


class WrongClock:
    """Processes with this `environment` have a clock that is wrong by what was set last. Seconds."""

    def __init__(self, folder: Path, compiler: str) -> None:
        self._file, library = folder / "wrong-by", folder / "clock.so"
        self.set(0)
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, SOURCE], check=True, timeout=60)
        self.environment = {"LD_PRELOAD": str(library), "WRONG_CLOCK": str(self._file)}

    def set(self, wrong_by_s: int) -> None:
        """Written in place, since the processes have the file mapped."""
        file = os.open(self._file, os.O_WRONLY | os.O_CREAT, 0o644)
        os.pwrite(file, struct.pack("q", wrong_by_s), 0)
        os.close(file)


def wrong_clock(folder: Path) -> WrongClock | None:
    """None without a C compiler."""
    compiler = shutil.which("cc")
    return WrongClock(folder, compiler) if compiler else None
