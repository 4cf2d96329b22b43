"""Metric files of one process, in a folder that all processes of this machine share.

Each process locks a numbered slot; the system releases the lock however the process ends. The next process that locks
the slot continues its counts, so that restarts neither lose counts nor accumulate files. When no other process runs,
the first one deletes the old files and starts from zero.
"""

from __future__ import annotations

import fcntl
import threading
from io import BufferedRandom
from pathlib import Path

from prometheus_client.mmap_dict import MmapedDict

# Bytes. A file is written in full when it is created: in a sparse file, the first access to a page that does not fit on
# a full disk would kill the process. Routes and outcomes are few, and a value takes about 150 bytes.
FILE_SIZE = 2**20
MAX_PROCESSES = 10_000
# Size and alignment of a value in bytes.
_DOUBLE = 8


class MetricFiles:
    """The files of this process. Raises OSError if the folder cannot be used."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._files: dict[str, MmapedDict] = {}
        self._views: dict[str, list[memoryview[float]]] = {}
        # Every process holds a shared lock of this file: an exclusive one proves that no other process runs.
        self._folder_lock = (folder / "company.lock").open("a+b")
        if _try_lock(self._folder_lock, fcntl.LOCK_EX):
            for old_file in folder.glob("*.db"):
                old_file.unlink()
        fcntl.flock(self._folder_lock, fcntl.LOCK_SH)
        self.number, self._slot_lock = self._lock_slot()
        self.lock = threading.Lock()

    def file(self, kind: str) -> MmapedDict:
        """Returns the file of one kind. kind: counter or histogram; prometheus_client reads it from the file name."""
        if kind not in self._files:
            path = self._folder / f"{kind}_{self.number}.db"
            if not path.exists():
                _write_whole(path)
            self._files[kind] = MmapedDict(str(path))  # type: ignore[no-untyped-call]
        return self._files[kind]

    def cell(self, kind: str, key: str) -> tuple[memoryview[float], int]:
        """Returns a view of the values of the key's file, and the index of the key's value in it.

        Adding to the value needs the lock. Adding through `MmapedDict` takes ten times as long, and every request adds
        several times.
        """
        with self.lock:
            file = self.file(kind)
            file.read_value(key)  # type: ignore[no-untyped-call]
            index = file._positions[key] // _DOUBLE
            views = self._views.setdefault(kind, [])
            if not views or len(views[-1]) <= index:
                # A file that has grown needs a new view. Older views of it stay valid.
                views.append(memoryview(file._m).cast("d"))
            return views[-1], index

    def close(self) -> None:
        for views in self._views.values():
            for view in views:
                view.release()
        for file in self._files.values():
            file.close()  # type: ignore[no-untyped-call]
        self._slot_lock.close()
        self._folder_lock.close()

    def _lock_slot(self) -> tuple[int, BufferedRandom]:
        """Returns the number and the lock file of the first free slot."""
        for number in range(1, MAX_PROCESSES):
            lock_file = (self._folder / f"place-{number}.lock").open("a+b")
            if _try_lock(lock_file, fcntl.LOCK_EX):
                return number, lock_file
            lock_file.close()
        raise OSError("no free slot")


def _write_whole(path: Path) -> None:
    """Writes the file under another name and renames it, so that a reader never finds an incomplete file."""
    unfinished = path.with_suffix(".new")
    unfinished.write_bytes(bytes(FILE_SIZE))
    unfinished.rename(path)


def _try_lock(file: BufferedRandom, operation: int) -> bool:
    """Returns whether the lock could be acquired. operation: LOCK_EX or LOCK_SH."""
    try:
        fcntl.flock(file, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
