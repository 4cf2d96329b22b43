"""What is read from another reader to import it, in the records of our archives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from tidings.domain.archives.records import ArchivedCategory, ArchivedEntry, ArchivedFeed


class AccountSource(Protocol):
    """An account of another reader. Each method is called once, in this order; all raise InvalidInput.

    application: name of the reader. username: "" if unknown. Categories that only feeds name need not be listed.
    entry_count: known when entries are read, 0 if unknown.
    """

    @property
    def application(self) -> str: ...
    @property
    def username(self) -> str: ...
    @property
    def entry_count(self) -> int: ...
    def settings(self) -> dict[str, Any]: ...
    def categories(self) -> Iterable[ArchivedCategory]: ...
    def feeds(self) -> Iterable[ArchivedFeed]: ...
    def entries(self) -> Iterable[ArchivedEntry]: ...
