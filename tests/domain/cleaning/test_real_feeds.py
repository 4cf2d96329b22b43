"""Bodies as publishers write them."""

from __future__ import annotations

from functools import cache

from lxml import etree

from corpus.archives import members, needs
from domain.cleaning.trees import PAGE, cleaned, dangers, tree
from tidings.domain.cleaning import clean_and_read, text_of
from tidings.domain.cleaning.text import words_of
from tidings.domain.errors import FeedError
from tidings.domain.formats import parse

ENOUGH = 2_000
LONGEST = 60_000  # characters; the longest ones would take most of the time


@cache
def bodies() -> list[str]:
    found = [body for _, document in members("feeds-real") for body in _bodies_in(document)]
    step = max(len(found) // ENOUGH, 1)
    return found[::step][:ENOUGH]


def _bodies_in(document: bytes) -> list[str]:
    try:
        feed = parse(document, url=PAGE)
    except FeedError:
        return []
    return [entry.content for entry in feed.entries if "<" in entry.content and len(entry.content) < LONGEST]


@needs("feeds-real")
def test_cleaning_what_is_clean_changes_nothing() -> None:
    assert len(bodies()) == ENOUGH
    for body in bodies():
        page = cleaned(body)
        assert cleaned(page) == page


@needs("feeds-real")
def test_the_text_that_comes_with_a_page_is_the_text_of_the_page() -> None:
    for body in bodies()[::4]:
        clean = clean_and_read(body, base_url=PAGE)
        assert words_of(clean.text) == text_of(clean.html)


@needs("feeds-real")
def test_what_is_written_means_the_same_to_the_next_parser() -> None:
    for body in bodies()[::10]:
        page = cleaned(body)
        assert tree(cleaned(page)) == tree(page)
        assert dangers(page) == []


@needs("feeds-real")
def test_no_word_gets_lost_that_a_reader_would_see() -> None:
    """Compared with a parser that knows nothing of hidden parts: nearly all words."""
    for body in bodies()[::10]:
        if not body.lstrip().startswith("<p>") or any(f"<{name}" in body for name in ("script", "style", "iframe")):
            continue
        tags_as_blanks = etree.HTML(f"<div>{body}</div>")
        expected = " ".join("".join(tags_as_blanks.itertext()).split())
        assert len(text_of(cleaned(body))) >= 0.9 * len(expected)
