"""Metric files of one process, in a folder that all processes of this machine share.

    names-1.jsonl    what each value is: one JSON line a value, in the order of the values
    values-1.db      the values: doubles in the byte order of the machine

Each process locks a numbered slot; the system releases the lock however the process ends. The next process that locks
the slot continues its counts, so that restarts neither lose counts nor accumulate files. When no other process runs,
the first one deletes the old files and starts from zero.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import threading
from collections import defaultdict
from contextlib import suppress
from io import BufferedRandom
from pathlib import Path

import msgspec
from msgspec import Struct

# Bytes. A file is written in full when it is created: in a sparse file, the first access to a page that does not fit on
# a full disk would kill the process. Routes and outcomes are few: this is room for 131,072 values.
FILE_SIZE = 2**20
MAX_PROCESSES = 10_000
_DOUBLE_BYTES = 8


class SampleKey(Struct, frozen=True, array_like=True):
    """What a value counts."""

    kind: str
    """Counter or histogram."""
    metric: str
    help_text: str
    labels: tuple[tuple[str, str], ...] = ()
    """Pairs of name and value."""
    part: str = ""
    """The upper bound of a histogram's bucket, or `sum`; "" for a counter."""


class MetricFiles:
    """The files of this process. Raises OSError if the folder cannot be used.

    values: the value of each key at its `index`. Adding to one needs the lock.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        # Every process holds a shared lock of this file: an exclusive one proves that no other process runs.
        self._folder_lock = (folder / "folder.lock").open("a+b")
        if _try_lock(self._folder_lock, fcntl.LOCK_EX):
            for old_file in (*folder.glob("*.db"), *folder.glob("*.jsonl")):
                old_file.unlink()
        fcntl.flock(self._folder_lock, fcntl.LOCK_SH)
        self.number, self._slot_lock = self._lock_slot()
        self.lock = threading.Lock()
        values_path, names_path = _paths(folder, self.number)
        if not values_path.exists():
            _write_whole(values_path)
        self._indexes = {key: index for index, key in enumerate(_read_names(names_path))}
        names_path.touch()
        self._names = names_path.open("r+b", buffering=0)
        # A line that its writer did not finish is removed; the others stay where they are, for a reader may be at them.
        self._names.truncate(sum(len(_line(key)) for key in self._indexes))
        self._names.seek(0, os.SEEK_END)
        with values_path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), FILE_SIZE)
        self.values = memoryview(self._map).cast("d")
        self._unread = len(self.values) - 1

    def index(self, key: SampleKey) -> int:
        """Return the index of the key's value. Without room for its name on the disk, an index that is never read."""
        with self.lock:
            if key not in self._indexes:
                if len(self._indexes) >= self._unread or not self._append(_line(key)):
                    return self._unread
                self._indexes[key] = len(self._indexes)
            return self._indexes[key]

    def _append(self, line: bytes) -> bool:
        """Return whether the line was written whole; if not, nothing of it is left."""
        end = self._names.tell()
        with suppress(OSError):
            if self._names.write(line) == len(line):
                return True
        self._names.truncate(end)
        self._names.seek(end)
        return False

    def close(self) -> None:
        self.values.release()
        self._map.close()
        self._names.close()
        self._slot_lock.close()
        self._folder_lock.close()

    def _lock_slot(self) -> tuple[int, BufferedRandom]:
        """Return the number and the lock file of the first free slot."""
        for number in range(1, MAX_PROCESSES):
            lock_file = (self._folder / f"slot-{number}.lock").open("a+b")
            if _try_lock(lock_file, fcntl.LOCK_EX):
                return number, lock_file
            lock_file.close()
        raise OSError("no free slot")


def sum_of_all(folder: Path) -> dict[SampleKey, float]:
    """Return each value, summed over the files of all processes."""
    sums: defaultdict[SampleKey, float] = defaultdict(float)
    for number in sorted(int(path.stem.partition("-")[2]) for path in folder.glob("values-*.db")):
        values_path, names_path = _paths(folder, number)
        keys = _read_names(names_path)
        with values_path.open("rb") as file:
            values = memoryview(file.read(len(keys) * _DOUBLE_BYTES)).cast("d")
        for key, value in zip(keys, values, strict=True):
            sums[key] += value
    return sums


def _paths(folder: Path, number: int) -> tuple[Path, Path]:
    return folder / f"values-{number}.db", folder / f"names-{number}.jsonl"


def _line(key: SampleKey) -> bytes:
    return msgspec.json.encode(key) + b"\n"


def _read_names(path: Path) -> list[SampleKey]:
    """Return the keys of the complete lines; a process may be writing the last one."""
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [msgspec.json.decode(line, type=SampleKey) for line in lines]


def _write_whole(path: Path) -> None:
    """Writes the file under another name and renames it, so that a reader never finds an incomplete file."""
    unfinished = path.with_suffix(".new")
    unfinished.write_bytes(bytes(FILE_SIZE))
    unfinished.rename(path)


def _try_lock(file: BufferedRandom, operation: int) -> bool:
    """Return whether the lock could be acquired. operation: LOCK_EX or LOCK_SH."""
    try:
        fcntl.flock(file, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
