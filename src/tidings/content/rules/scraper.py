"""Scraper rules: the CSS selector of the parts of a page that belong to the article."""

from __future__ import annotations

from tidings.base.messages import msg
from tidings.content.rules.budget import MAX_PAGE_S, RuleBudget, RuleBudgetExceeded
from tidings.content.rules.regex import MAX_RESULT_CHARS
from tidings.content.rules.rewrites.markup import parse
from tidings.content.rules.rule_errors import RuleErrors, collect_error, raise_first
from tidings.content.rules.selectors import Selector, parse_selector, select


def validate_selector(text: str, *, field: str = "scraper_rules") -> Selector | None:
    """Return the selector; None for a blank text, and for text that is not a selector list and so finds nothing.

    Raises InvalidRule for one that is too long.
    """
    errors = RuleErrors()
    selector = read_selector(text, field=field, errors=errors)
    raise_first(errors)
    return selector


def read_selector(text: str, *, field: str, errors: RuleErrors) -> Selector | None:
    """Return the selector, or None. Adds an error to `errors` if it is unusable."""
    if not text.strip():
        return None
    return collect_error(lambda: parse_selector(text), errors=errors, field=field)


def scrape(page: str, selector: Selector) -> str | None:
    """Return the outer HTML of all matches in document order, joined; None if nothing matches.

    Raises RuleBudgetExceeded if the page is too large for the selector.
    """
    pieces: list[str] = []
    length = 0
    with RuleBudget(MAX_PAGE_S) as budget:
        nodes = select(parse(page, is_page=True), selector, budget)
    for node in nodes:
        pieces.append(node.html or "")
        length += len(pieces[-1])
        # A match inside a match is included twice: `*` on a deep page makes a result of quadratic length.
        if length > MAX_RESULT_CHARS:
            raise RuleBudgetExceeded(msg("the matches are too long"))
    return "".join(pieces) or None
