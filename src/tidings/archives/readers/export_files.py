"""The files of an export: one file, all files of a folder, or all files in a ZIP file."""

from __future__ import annotations

import codecs
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from tidings.archives.archive_file import ZIP_DAMAGES, open_zip
from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim

# Bytes that are read in one piece.
_CHUNK: Final = 2**16


class ExportFiles:
    """Reads the files of an export; used as a context manager.

    Raises OSError for files that cannot be read, InvalidInput for ZIP files that are damaged or unpack to too much.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._zip: zipfile.ZipFile | None = None

    def __enter__(self) -> Self:
        if not self._path.is_dir() and zipfile.is_zipfile(self._path):
            try:
                self._zip = open_zip(self._path)
            except ZIP_DAMAGES as error:
                raise InvalidInput(verbatim(f"the ZIP file {self._path.name} is damaged: {error}")) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._zip is not None:
            self._zip.close()

    @property
    def is_one(self) -> bool:
        """Whether the export is a single file outside of any folder or ZIP file."""
        return self._zip is None and not self._path.is_dir()

    def names(self) -> list[str]:
        """Return the names, with the folders inside the export, in alphabetical order; hidden files are left out."""
        if self._zip is not None:
            names = [name for name in self._zip.namelist() if not name.endswith("/")]
        elif self._path.is_dir():
            names = [str(path.relative_to(self._path)) for path in self._path.rglob("*") if path.is_file()]
        else:
            return [self._path.name]
        return sorted(name for name in names if not _is_hidden(name))

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield the content of a file in pieces. Raises InvalidInput if it is damaged."""
        if self._zip is None:
            path = self._path / name if self._path.is_dir() else self._path
            with path.open("rb") as file:
                yield from _pieces(file)
            return
        try:
            with self._zip.open(name) as member:
                yield from _pieces(member)
        except ZIP_DAMAGES as error:
            raise InvalidInput(verbatim(f"{name} in the ZIP file is damaged: {error}")) from error

    def content(self, name: str, limit: int) -> bytes:
        """Return a whole file. limit: bytes. Raises InvalidInput if it is larger."""
        pieces, size = [], 0
        for piece in self.chunks(name):
            pieces.append(piece)
            size += len(piece)
            if size > limit:
                raise InvalidInput(verbatim(f"{name} is larger than {limit // 2**20} MB"))
        return b"".join(pieces)


def first_character(content: bytes) -> bytes:
    """Return the first byte after a byte order mark and white space, to tell JSON from XML; b"" if there is none."""
    return content.removeprefix(codecs.BOM_UTF8).lstrip()[:1]


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(_CHUNK):
        yield piece


def _is_hidden(name: str) -> bool:
    """Return whether this is a file that systems add to folders and ZIP files automatically."""
    parts = name.split("/")
    return parts[0] == "__MACOSX" or any(part.startswith(".") for part in parts)
