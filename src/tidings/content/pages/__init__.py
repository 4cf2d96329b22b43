"""Reads a page or JSON as a feed by selectors, and suggests selectors for what a page repeats, or for what is picked.

    kind, selectors ─► parse_selectors ─► PageSelectors ┐
                                        body, address ──┴► read_page ─► ParsedFeed, hits and misses of each field

Selectors are a user's and pages are anyone's: together they may need any time and memory. Call `read_document`
in a process with limits (`runtime.page_process`); `parse_selectors` is safe anywhere.
"""

from tidings.content.model import PageKind
from tidings.content.pages.picking import PARTS, Pick, Picked
from tidings.content.pages.process import PageResult, read_document
from tidings.content.pages.reader import FieldReport, PageDocument, PageReading, read_page
from tidings.content.pages.selectors import (
    FIELDS,
    FieldSelector,
    PageSelectors,
    parse_reading,
    parse_selectors,
    selectors_text,
    written_selectors,
)
from tidings.content.pages.suggestions import Suggestion, suggest

__all__ = [
    "FIELDS",
    "PARTS",
    "FieldReport",
    "FieldSelector",
    "PageDocument",
    "PageKind",
    "PageReading",
    "PageResult",
    "PageSelectors",
    "Pick",
    "Picked",
    "Suggestion",
    "parse_reading",
    "parse_selectors",
    "read_document",
    "read_page",
    "selectors_text",
    "suggest",
    "written_selectors",
]
