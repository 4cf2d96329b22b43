"""Reads a file of saved pages of another service: one document, or a ZIP file with several."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from tidings.archives.formats import saved_lists
from tidings.archives.formats.saved_lists import OmnivoreItem
from tidings.archives.readers.export_files import ExportFiles
from tidings.archives.records import ArchivedCategory, ArchivedEntry, ArchivedFeed, ArchivedLabel
from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim

# Maximum bytes of one document.
MAX_DOCUMENT: Final = 2**28
_SUFFIXES: Final = {"Pocket": ".csv", "Instapaper": ".csv", "Omnivore": ".json", "Feedbin": ".json"}


class SavedPagesSource:
    """An `AccountSource`, used as a context manager. service: Pocket, Instapaper, Omnivore or Feedbin."""

    username = ""
    entry_count = 0

    def __init__(self, path: Path, service: str) -> None:
        self.application = service
        self.problems: list[str] = []
        self._files = ExportFiles(path)
        self._names: Collection[str] = ()

    def __enter__(self) -> Self:
        self._files.__enter__()
        # A dictionary in alphabetical order: its keys are used to find the content of an item.
        self._names = dict.fromkeys(self._files.names())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._files.__exit__(kind, error, trace)

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
                text = f"this is not a list that {self.application} exported: {name}: {error.message}"
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
        names = list(self._names)
        if not self._files.is_one:
            suffix = _SUFFIXES[self.application]
            names = [name for name in names if name.lower().endswith(suffix)]
            if not names:
                text = f"this is not a list that {self.application} exported: the export has no {suffix} in it"
                raise InvalidInput(verbatim(text))
        for name in names:
            yield name, self._files.content(name, MAX_DOCUMENT)

    def _content(self, item: OmnivoreItem) -> str:
        """Return the HTML of an item of Omnivore, "" if the file does not contain it."""
        name = f"content/{item.slug}.html"
        if name not in self._names:
            return ""
        return self._files.content(name, MAX_DOCUMENT).decode("utf-8", "replace")


def _lines(document: bytes) -> Iterator[str]:
    return io.TextIOWrapper(io.BytesIO(document), encoding="utf-8-sig", newline="")
