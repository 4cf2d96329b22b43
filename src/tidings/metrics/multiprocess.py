"""Metric files of one process, in a folder that all processes of this machine share.

Each process locks a numbered slot; the system releases the lock however the process ends. The next process with it
continues its counts, so that restarts neither lose counts nor accumulate files. The first process in a folder without
others starts from zero.
"""

from __future__ import annotations

import fcntl
import threading
from io import BufferedRandom
from pathlib import Path

from prometheus_client.mmap_dict import MmapedDict

# Written in full beforehand: a page that a full disk has no room for would end the process when it is first touched.
# Names of routes and outcomes are few; a number takes about 150 bytes.
FILE_SIZE = 2**20
MAX_PROCESSES = 10_000
# Bytes. Numbers are aligned to it.
_DOUBLE = 8


class MetricFiles:
    """The files of this process. Raises OSError when the folder cannot be used."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = folder
        self._files: dict[str, MmapedDict] = {}
        self._views: dict[str, list[memoryview[float]]] = {}
        self._company = (folder / "company.lock").open("a+b")
        if _is_locked(self._company, fcntl.LOCK_EX):
            for left_over in folder.glob("*.db"):
                left_over.unlink()
        fcntl.flock(self._company, fcntl.LOCK_SH)
        self.number, self._held = self._take_place()
        self.lock = threading.Lock()

    def file(self, kind: str) -> MmapedDict:
        """kind: counter or histogram; the reader of the files knows it from their names."""
        if kind not in self._files:
            path = self._folder / f"{kind}_{self.number}.db"
            if not path.exists():
                _write_whole(path)
            self._files[kind] = MmapedDict(str(path))  # type: ignore[no-untyped-call]
        return self._files[kind]

    def cell(self, kind: str, key: str) -> tuple[memoryview[float], int]:
        """Where the number of that key stands, among the numbers of its file. Adding to it needs the lock.

        Python's way to it through `MmapedDict` takes ten times as long, and is taken some times a request.
        """
        with self.lock:
            file = self.file(kind)
            file.read_value(key)  # type: ignore[no-untyped-call]
            place = file._positions[key] // _DOUBLE
            views = self._views.setdefault(kind, [])
            if not views or len(views[-1]) <= place:
                # A file that has grown is seen from its beginning again; who looks through an older view sees the same.
                views.append(memoryview(file._m).cast("d"))
            return views[-1], place

    def close(self) -> None:
        for views in self._views.values():
            for view in views:
                view.release()
        for file in self._files.values():
            file.close()  # type: ignore[no-untyped-call]
        self._held.close()
        self._company.close()

    def _take_place(self) -> tuple[int, BufferedRandom]:
        for number in range(1, MAX_PROCESSES):
            place = (self._folder / f"place-{number}.lock").open("a+b")
            if _is_locked(place, fcntl.LOCK_EX):
                return number, place
            place.close()
        raise OSError("no place left")


def _write_whole(path: Path) -> None:
    """Write to another name, then rename: a reader finds the file complete or not at all."""
    unfinished = path.with_suffix(".new")
    unfinished.write_bytes(bytes(FILE_SIZE))
    unfinished.rename(path)


def _is_locked(file: BufferedRandom, how: int) -> bool:
    """Whether we got the lock."""
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
