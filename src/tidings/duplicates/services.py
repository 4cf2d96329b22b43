"""The services of this slice."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.duplicates.search import DuplicateSearch
from tidings.services import SliceServices


@dataclass(frozen=True, slots=True)
class DuplicateServices(SliceServices):
    """Finding duplicates among new entries, and in the archive in the background."""

    search: DuplicateSearch
