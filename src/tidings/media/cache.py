"""A folder of fetched pictures within a limit of bytes; the one that was used longest ago is deleted first.

Several processes share the folder. Each looks at all files after it has written a part of the limit, so that the
folder stays below the limit without a lock. A file begins with a line of its media type and the second of its fetch.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

# Each process deletes down to this part of the limit, and checks again after it has written the other part.
_KEPT = 0.75
_LOOK_AFTER = 1 / 32
# Seconds after which a use is recorded again.
_USE_STEP_S = 3_600
_MAX_HEAD = 100


class CachedFile(Struct, frozen=True):
    """A file of the media cache."""

    mime_type: str
    content: bytes
    fetched_at: int
    """Seconds since 1970."""


class MediaCache:
    """Keeps fetched media as files in a folder, which is created with its first file.

    limit: bytes; 0 keeps nothing.
    """

    def __init__(self, folder: Path, *, limit: int) -> None:
        self._folder = folder
        self._limit = limit
        # Unknown until the folder has been read once.
        self._written = limit

    def get(self, url: str, *, now: int) -> CachedFile | None:
        """Return the file of a URL. now: seconds since 1970."""
        if not self._limit:
            return None
        path = self._path(url)
        try:
            with path.open("rb") as file:
                head = file.readline(_MAX_HEAD).split()
                found = CachedFile(head[0].decode(), file.read(), int(head[1]))
                if now - os.fstat(file.fileno()).st_mtime > _USE_STEP_S:
                    os.utime(path, (now, now))
        except (OSError, ValueError, IndexError):
            return None
        return found

    def put(self, url: str, file: CachedFile) -> None:
        """Store a file. Raises OSError, for instance for a full disk."""
        body = b"%s %d\n%s" % (file.mime_type.encode(), file.fetched_at, file.content)
        if len(body) > self._limit * _LOOK_AFTER:
            return
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._written += len(body)
        if self._written > self._limit * _LOOK_AFTER:
            self._shrink()
            self._written = len(body)
        path = self._path(url)
        unfinished = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
        try:
            unfinished.write_bytes(body)
            os.utime(unfinished, (file.fetched_at, file.fetched_at))
            unfinished.replace(path)
        except OSError:
            with suppress(OSError):
                unfinished.unlink()
            raise

    def _shrink(self) -> None:
        """Delete the files that were used longest ago, down to a part of the limit."""
        found = []
        with os.scandir(self._folder) as listed:
            for entry in listed:
                with suppress(OSError):
                    status = entry.stat()
                    found.append((status.st_mtime, status.st_size, entry.path))
        excess = sum(size for _, size, _ in found) - self._limit * _KEPT
        for _, size, path in sorted(found):
            if excess <= 0:
                return
            with suppress(OSError):
                Path(path).unlink()
            excess -= size

    def _path(self, url: str) -> Path:
        return self._folder / hashlib.sha256(url.encode("utf-8", "replace")).hexdigest()
