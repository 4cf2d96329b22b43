"""Reads an export of another reader: OPML with the subscriptions, and files with lists of entries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from tidings.archives.formats.listed_items import FeedList, ListedItem, NewItems
from tidings.archives.readers.export_files import ExportFiles, first_character
from tidings.archives.records import ArchivedCategory, ArchivedEntry, ArchivedFeed, ArchivedLabel
from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim
from tidings.domain.feeds import opml

# Maximum bytes of an OPML document.
_MAX_OPML: Final = 2**26
_OPML_SUFFIXES: Final = (".opml", ".xml")

# Returns the items of a document, None if it is not a list of entries.
ItemFormat = Callable[[Iterable[bytes]], Iterator[ListedItem] | None]


class ListedSource:
    """An `AccountSource`, used as a context manager. items: the format of the files with this suffix.

    Files are read twice: first for the feeds that they name, then for their entries.
    """

    username = ""

    def __init__(self, path: Path, application: str, items: ItemFormat, *, suffix: str = ".json") -> None:
        self.application = application
        self.entry_count = 0
        self.problems: list[str] = []
        self._files = ExportFiles(path)
        self._items = items
        self._suffix = suffix
        self._feeds = FeedList(application)
        self._lists: list[str] = []

    def __enter__(self) -> Self:
        self._files.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._files.__exit__(kind, error, trace)

    def settings(self) -> dict[str, Any]:
        return {}

    def categories(self) -> list[ArchivedCategory]:
        self._read_feeds()
        return self._feeds.categories()

    def labels(self) -> list[ArchivedLabel]:
        return []

    def feeds(self) -> list[ArchivedFeed]:
        return self._feeds.feeds()

    def _read_feeds(self) -> None:
        names = self._files.names()
        outlines = [name for name in names if self._is_outline(name) and self._add_opml(name)]
        for name in names:
            if name not in outlines and (name.lower().endswith(self._suffix) or self._files.is_one):
                self._add_list(name)
        if not outlines and not self._lists:
            expected = f"expected OPML, or a list of entries that ends with {self._suffix}"
            raise InvalidInput(verbatim(f"this is nothing that {self.application} exported: {expected}"))

    def entries(self) -> Iterator[ArchivedEntry]:
        new = NewItems()
        for name in self._lists:
            for item in self._items_in(name) or ():
                yield from new.take(self._feeds.entry_of(item))

    def _is_outline(self, name: str) -> bool:
        """Return whether this should be OPML. A single file may have any name: an upload does not keep its own."""
        if not self._files.is_one:
            return name.lower().endswith(_OPML_SUFFIXES)
        return first_character(next(self._files.chunks(name), b"")) == b"<"

    def _add_opml(self, name: str) -> bool:
        """Add the feeds of an OPML file. Returns whether it is one."""
        content = self._files.content(name, _MAX_OPML)
        if self._suffix == ".xml" and b"<opml" not in content[:4096].lower():
            return False
        try:
            document = opml.read(content)
        except InvalidInput as error:
            raise InvalidInput(verbatim(f"{name}: {error.message}")) from error
        self._feeds.add_subscriptions(document)
        self.problems += [f"{name}: {problem}" for problem in (*document.unusable, *document.ignored_settings)]
        return True

    def _add_list(self, name: str) -> None:
        items = self._items_in(name)
        if items is None:
            self.problems.append(f"{name}: this is not a list of entries")
            return
        self._lists.append(name)
        for item in items:
            self.entry_count += 1
            self._feeds.add_origin(item.origin)

    def _items_in(self, name: str) -> Iterator[ListedItem] | None:
        """Return the items of a file, None if it is not a list of entries. Errors name the file."""
        try:
            items = self._items(self._files.chunks(name))
        except InvalidInput as error:
            raise _in_file(name, error) from error
        return None if items is None else _naming(name, items)


def _naming(name: str, items: Iterator[ListedItem]) -> Iterator[ListedItem]:
    try:
        yield from items
    except InvalidInput as error:
        raise _in_file(name, error) from error


def _in_file(name: str, error: InvalidInput) -> InvalidInput:
    return InvalidInput(verbatim(f"{name}: {error.message}"))
