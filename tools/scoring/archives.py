"""Reads archives of published test data without unpacking them into the project."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(os.environ.get("TIDINGS_CORPORA", Path(__file__).resolve().parents[3] / "shared" / "corpora"))


def archive_path(name: str) -> Path:
    return FOLDER / f"{name}.tar.xz"


def members(name: str) -> Iterator[tuple[str, bytes]]:
    """Yield path and bytes of every file in an archive, sorted by path. Raises FileNotFoundError if it is missing."""
    with tarfile.open(archive_path(name)) as archive:
        found = {}
        for member in archive:
            if member.isfile() and (source := archive.extractfile(member)):
                found[member.name.partition("/")[2]] = source.read()
    yield from sorted(found.items())
