"""A wall clock with an offset, for the processes of a service."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("clock.c")


class WrongClock:
    """Shifts the clock of processes that run with this `environment`, by seconds."""

    def __init__(self, folder: Path, compiler: str) -> None:
        self._file, library = folder / "wrong-by", folder / "clock.so"
        self.set(0)
        subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, SOURCE], check=True, timeout=60)
        self.environment = {"LD_PRELOAD": str(library), "WRONG_CLOCK": str(self._file)}

    def set(self, wrong_by_s: int) -> None:
        """Set the offset. The file is written in place because the processes have mapped it."""
        file = os.open(self._file, os.O_WRONLY | os.O_CREAT, 0o644)
        os.pwrite(file, struct.pack("q", wrong_by_s), 0)
        os.close(file)


def wrong_clock(folder: Path) -> WrongClock | None:
    """Return a clock, None without a C compiler."""
    compiler = shutil.which("cc")
    return WrongClock(folder, compiler) if compiler else None
