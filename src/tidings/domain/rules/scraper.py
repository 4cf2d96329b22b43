"""The parts of a web page that a feed's owner wants to read: a CSS selector list."""

from __future__ import annotations

from tidings.domain.rules.markup import parse
from tidings.domain.rules.problems import Problems, attempt, refuse
from tidings.domain.rules.regex import MAX_RESULT_CHARS, GaveUp
from tidings.domain.rules.selectors import Selector, parse_selector, select


def validate_selector(text: str, *, field: str = "scraper_rules") -> Selector | None:
    """None for a blank text. InvalidRule for what is not a selector list.

    The service whose API we speak accepts anything here, and then silently finds nothing.
    """
    problems: Problems = []
    selector = read_selector(text, field=field, problems=problems)
    refuse(problems)
    return selector


def read_selector(text: str, *, field: str, problems: Problems) -> Selector | None:
    if not text.strip():
        return None
    return attempt(lambda: parse_selector(text), problems=problems, field=field)


def scrape(page: str, selector: Selector) -> str | None:
    """The outer HTML of all matches in document order, joined; None when nothing matches.

    GaveUp when the page is too large for the selector.
    """
    pieces: list[str] = []
    length = 0
    for node in select(parse(page, is_page=True), selector):
        pieces.append(node.html or "")
        length += len(pieces[-1])
        # A match inside a match counts twice: `*` makes the square of a deep page.
        if length > MAX_RESULT_CHARS:
            raise GaveUp("the matches are too long")
    return "".join(pieces) or None
