"""All that is read from a page in one go, with errors as values: for a process that may be killed."""

from __future__ import annotations

from msgspec import Struct

from tidings.base.messages import Message
from tidings.content.discovery.page_links import page_text
from tidings.content.errors import FeedError
from tidings.content.model import PageKind
from tidings.content.pages.json_picking import json_marks, json_outline, pick_json
from tidings.content.pages.outline import outline
from tidings.content.pages.picking import Pick, Picked, marks, pick
from tidings.content.pages.reader import PageDocument, PageReading, read_page
from tidings.content.pages.suggestions import Suggestion, suggest
from tidings.content.pages.trees import JsonTree, json_in_page, json_tree
from tidings.content.pages.xpath_picking import XPathPage, pick_xpath, xpath_marks


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
            try:
                return _for_picking(document)
            except FeedError as error:
                return PageResult(code=error.code, problem=error.text)
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
    if document.pick is not None:
        return PageResult(picked=_picked(document, source, document.pick))
    match document.kind:
        case PageKind.CSS:
            return PageResult(outline=outline(source))
        case PageKind.XPATH:
            return PageResult(outline=outline(XPathPage(source).numbered))
        case PageKind.JSON | PageKind.JSON_IN_HTML:
            return PageResult(outline=json_outline(_json(document.kind, source, document.script)))


def _picked(document: PageDocument, source: str, wanted: Pick) -> Picked:
    match document.kind:
        case PageKind.CSS:
            return pick(source, wanted)
        case PageKind.XPATH:
            return pick_xpath(source, wanted)
        case PageKind.JSON | PageKind.JSON_IN_HTML:
            return pick_json(_json(document.kind, source, document.script), wanted)


def _json(kind: PageKind, source: str, script: str) -> JsonTree:
    return json_tree(source) if kind is PageKind.JSON else json_in_page(source, script)


def _marks(document: PageDocument) -> dict[str, list[int]]:
    selectors = document.selectors
    if not document.wants_marks or selectors is None:
        return {}
    source = page_text(document.body, document.charset or None)
    match selectors.kind:
        case PageKind.CSS:
            return marks(source, selectors)
        case PageKind.XPATH:
            return xpath_marks(source, selectors)
        case PageKind.JSON | PageKind.JSON_IN_HTML:
            return json_marks(_json(selectors.kind, source, selectors.script), selectors)
