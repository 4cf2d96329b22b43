"""Reads a file of saved pages of another service: one document, or a ZIP file with several."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from tidings.domain.archives import saved_lists
from tidings.domain.archives.records import ArchivedCategory, ArchivedEntry, ArchivedFeed, ArchivedLabel
from tidings.domain.archives.saved_lists import OmnivoreItem
from tidings.domain.errors import InvalidInput
from tidings.domain.messages import verbatim
from tidings.services.archives.archive_file import ZIP_DAMAGES

# Bytes of one document.
MAX_DOCUMENT: Final = 2**28
_SUFFIXES: Final = {"Pocket": ".csv", "Instapaper": ".csv", "Omnivore": ".json", "Feedbin": ".json"}


class SavedPagesSource:
    """An `AccountSource`, used as a context manager. service: Pocket, Instapaper, Omnivore or Feedbin."""

    username = ""
    entry_count = 0

    def __init__(self, path: Path, service: str) -> None:
        self._path = path
        self.application = service
        self.problems: list[str] = []
        self._zip: zipfile.ZipFile | None = None

    def __enter__(self) -> Self:
        if zipfile.is_zipfile(self._path):
            try:
                self._zip = zipfile.ZipFile(self._path)
            except zipfile.BadZipFile as error:
                raise InvalidInput(verbatim(f"the ZIP file {self._path.name} is damaged: {error}")) from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._zip is not None:
            self._zip.close()

    def settings(self) -> dict[str, Any]:
        return {}

    def categories(self) -> list[ArchivedCategory]:
        return []

    def feeds(self) -> list[ArchivedFeed]:
        return [saved_lists.holder(self.application)]

    def labels(self) -> list[ArchivedLabel]:
        return []

    def entries(self) -> Iterator[ArchivedEntry]:
        for name, document in self._documents():
            try:
                yield from self._read(document)
            except InvalidInput as error:
                text = f"this is no list that {self.application} exported: {name}: {error.message}"
                raise InvalidInput(verbatim(text)) from error

    def _read(self, document: bytes) -> Iterator[ArchivedEntry]:
        match self.application:
            case "Pocket":
                return saved_lists.read_pocket(_lines(document))
            case "Instapaper":
                return saved_lists.read_instapaper(_lines(document))
            case "Omnivore":
                return saved_lists.read_omnivore(document, self._content)
        return saved_lists.read_feedbin(document)

    def _documents(self) -> Iterator[tuple[str, bytes]]:
        if self._zip is None:
            with self._path.open("rb") as file:
                yield self._path.name, _limited(self._path.name, file.read(MAX_DOCUMENT + 1))
            return
        suffix = _SUFFIXES[self.application]
        names = [name for name in sorted(self._zip.namelist()) if name.lower().endswith(suffix)]
        if not names:
            text = f"this is no list that {self.application} exported: the ZIP file has no {suffix} in it"
            raise InvalidInput(verbatim(text))
        for name in names:
            yield name, self._member(name)

    def _member(self, name: str) -> bytes:
        assert self._zip is not None
        try:
            with self._zip.open(name) as member:
                return _limited(name, member.read(MAX_DOCUMENT + 1))
        except ZIP_DAMAGES as error:
            raise InvalidInput(verbatim(f"{name} in the ZIP file is damaged: {error}")) from error

    def _content(self, item: OmnivoreItem) -> str:
        """Returns the HTML of an item of Omnivore, "" if the file has none."""
        name = f"content/{item.slug}.html"
        if self._zip is None or name not in self._zip.NameToInfo:
            return ""
        return self._member(name).decode("utf-8", "replace")


def _lines(document: bytes) -> Iterator[str]:
    return io.TextIOWrapper(io.BytesIO(document), encoding="utf-8-sig", newline="")


def _limited(name: str, document: bytes) -> bytes:
    if len(document) > MAX_DOCUMENT:
        raise InvalidInput(verbatim(f"{name} is larger than {MAX_DOCUMENT // 2**20} MB"))
    return document
