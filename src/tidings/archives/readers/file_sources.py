"""Opens the files and databases of other readers."""

from __future__ import annotations

import zipfile
from datetime import datetime
from pathlib import Path
from typing import Final

from tidings.archives.formats import newsblur
from tidings.archives.formats.reader_streams import ReaderStreams
from tidings.archives.readers.export_files import first_character
from tidings.archives.readers.freshrss_database import FreshRssSource
from tidings.archives.readers.listed_source import ListedSource
from tidings.archives.readers.miniflux_database import MinifluxDatabase
from tidings.archives.readers.saved_pages import SavedPagesSource
from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim

DatabaseSource = MinifluxDatabase
FileSource = FreshRssSource | ListedSource | SavedPagesSource

# Bytes that distinguish JSON and XML from a database.
_BEGINNING: Final = 64
_LISTED: Final = {"freshrss": "FreshRSS", "google-reader": "Google Reader", "inoreader": "Inoreader"}


def file_source(path: Path, reader: str, *, now: datetime) -> FileSource:
    """Return the content of an export, as a context manager. reader: its name in lower case.

    The context manager raises OSError for a file that cannot be read, and InvalidInput for one of another kind.
    """
    if reader == "freshrss" and not _is_list(path):
        return FreshRssSource(path)
    if reader == "newsblur":
        return ListedSource(path, "NewsBlur", newsblur.saved_stories)
    if reader in _LISTED:
        return ListedSource(path, _LISTED[reader], ReaderStreams(now).items)
    return SavedPagesSource(path, reader.capitalize())


def database_source(dsn: str, reader: str, from_user: str) -> DatabaseSource:
    """Return an account in a PostgreSQL database, as a context manager, which raises InvalidInput."""
    if reader != "miniflux":
        raise InvalidInput(verbatim(f"an import from {reader} reads no database, but a file"))
    return MinifluxDatabase(dsn, from_user)


def _is_list(path: Path) -> bool:
    """Return whether this file is from the page "Import / export" of FreshRSS, and not a database."""
    if path.is_dir() or zipfile.is_zipfile(path):
        return True
    with path.open("rb") as file:
        return first_character(file.read(_BEGINNING)) in (b"{", b"[", b"<")
