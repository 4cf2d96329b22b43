"""All that is read from a page in one go, with errors as values: for a process that may be killed."""

from __future__ import annotations

from msgspec import Struct

from tidings.base.messages import Message
from tidings.content.errors import FeedError
from tidings.content.pages.reader import PageDocument, PageReading, read_page
from tidings.content.pages.suggestions import Suggestion, suggest


class PageResult(Struct, frozen=True):
    """What was found in a page."""

    reading: PageReading | None = None
    """None if nothing was to be read, or could be."""
    suggestions: tuple[Suggestion, ...] = ()
    code: str = ""
    """Code of the FeedError for which there is no reading, "" without one."""
    problem: Message | None = None
    """Its message."""
    failure: str = ""
    """An unexpected error, for the log."""


def read_document(document: PageDocument) -> PageResult:
    """Return what the selectors find, or why they find nothing, and suggestions if they are asked for."""
    try:
        suggestions = tuple(suggest(document.body, document.charset)) if document.wants_suggestions else ()
        if document.selectors is None:
            return PageResult(suggestions=suggestions)
        try:
            return PageResult(read_page(document), suggestions)
        except FeedError as error:
            return PageResult(None, suggestions, error.code, error.text)
    except Exception as error:  # noqa: BLE001 - a page must not end the process; the parent logs the error
        return PageResult(failure=f"{type(error).__name__}: {error}"[:500])
