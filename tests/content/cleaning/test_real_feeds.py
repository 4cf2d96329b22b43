"""Properties of cleaning on content of real feeds."""

from __future__ import annotations

from functools import cache

import pytest
from lxml import etree

from content.cleaning.trees import PAGE, cleaned, dangers, tree
from scoring.archives import members
from support.corpora import needs
from support.random_examples import in_long_run
from tidings.content.cleaning import clean_with_text, text_of
from tidings.content.cleaning.text import normalize_words
from tidings.content.errors import FeedError
from tidings.content.formats import parse_feed

pytestmark = pytest.mark.slow

ENOUGH = in_long_run(2_000, otherwise=600)
MAX_CHARS = 60_000  # characters; the longest ones would take most of the time


@cache
def bodies() -> list[str]:
    found = [body for _, document in members("feeds-real") for body in _bodies_in(document)]
    step = max(len(found) // ENOUGH, 1)
    return found[::step][:ENOUGH]


def _bodies_in(document: bytes) -> list[str]:
    try:
        feed = parse_feed(document, url=PAGE)
    except FeedError:
        return []
    return [entry.content for entry in feed.entries if "<" in entry.content and len(entry.content) < MAX_CHARS]


@needs("feeds-real")
def test_cleaning_is_idempotent() -> None:
    assert len(bodies()) == ENOUGH
    for body in bodies():
        page = cleaned(body)
        assert cleaned(page) == page


@needs("feeds-real")
def test_the_text_returned_with_the_html_is_the_text_of_the_html() -> None:
    for body in bodies()[::4]:
        clean = clean_with_text(body, base_url=PAGE)
        assert normalize_words(clean.text) == text_of(clean.html)


@needs("feeds-real")
def test_the_output_is_parsed_to_the_same_tree() -> None:
    for body in bodies()[::10]:
        page = cleaned(body)
        assert tree(cleaned(page)) == tree(page)
        assert dangers(page) == []


@needs("feeds-real")
def test_no_visible_word_is_lost() -> None:
    """Nearly all words, because the parser to compare with does not recognize hidden elements."""
    for body in bodies()[::10]:
        if not body.lstrip().startswith("<p>") or any(f"<{name}" in body for name in ("script", "style", "iframe")):
            continue
        tags_as_blanks = etree.HTML(f"<div>{body}</div>")
        expected = " ".join("".join(tags_as_blanks.itertext()).split())
        assert len(text_of(cleaned(body))) >= 0.9 * len(expected)
