"""All that is read from a page in one go, with errors as values: for a process that may be killed."""

from __future__ import annotations

from msgspec import Struct

from tidings.base.messages import Message
from tidings.content.discovery.page_links import page_text
from tidings.content.errors import FeedError
from tidings.content.model import PageKind
from tidings.content.pages.outline import outline
from tidings.content.pages.picking import Picked, marks, pick
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
    marks: dict[str, list[int]] = {}
    """Numbers of the items and of their fields' elements in the outline, by part."""
    outline: str = ""
    picked: Picked | None = None
    failure: str = ""
    """An unexpected error, for the log."""


def read_document(document: PageDocument) -> PageResult:
    """Return what the selectors find, or why they find nothing, and suggestions if they are asked for."""
    try:
        if document.wants_outline or document.pick is not None:
            return _for_picking(document)
        suggestions = tuple(suggest(document.body, document.charset)) if document.wants_suggestions else ()
        if document.selectors is None:
            return PageResult(suggestions=suggestions)
        try:
            return PageResult(read_page(document), suggestions, marks=_marks(document))
        except FeedError as error:
            return PageResult(None, suggestions, error.code, error.text)
    except Exception as error:  # noqa: BLE001 - a page must not end the process; the parent logs the error
        return PageResult(failure=f"{type(error).__name__}: {error}"[:500])


def _for_picking(document: PageDocument) -> PageResult:
    source = page_text(document.body, document.charset or None)
    return PageResult(
        outline=outline(source) if document.wants_outline else "",
        picked=pick(source, document.pick) if document.pick is not None else None,
    )


def _marks(document: PageDocument) -> dict[str, list[int]]:
    selectors = document.selectors
    if not document.wants_marks or selectors is None or selectors.kind is not PageKind.CSS:
        return {}
    return marks(page_text(document.body, document.charset or None), selectors)
