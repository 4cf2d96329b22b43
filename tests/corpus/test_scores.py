"""Other people's test data: the scores do not fall. All of them, and without leaving anything out: `make corpus`."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable

import pytest

from scoring import agreement, expected, expressions, hostile, real
from scoring.claims import Claim, misses
from scoring.scores import of_claims
from support.corpora import needs
from tidings.content.formats.charset import decode

pytestmark = pytest.mark.slow


def assert_scores(part: str, claims: Iterable[Claim]) -> None:
    """As high as `floors` has it."""
    found = of_claims(part, claims)
    assert [score for score in found.scores if not score.is_reached] == [], misses(found.misses)


@needs(expected.ARCHIVE)
def test_fields_of_real_feeds_are_as_another_library_reads_them() -> None:
    assert_scores("feeds-expected", expected.claims())


@needs(expressions.ARCHIVE)
def test_the_expressions_of_small_feeds_hold() -> None:
    assert_scores("feeds-expressions", expressions.claims())


@pytest.fixture(scope="module")
def documents() -> list[real.Document]:
    return list(real.documents())


@needs(real.ARCHIVE)
def test_real_feeds_are_read_whole_cut_off_and_damaged(documents: list[real.Document]) -> None:
    """Two cuts in a third of them, where `make corpus` makes ten in each."""
    claims = [*real.whole(documents), *real.cut_off(documents[::3], times=2), *real.damaged(documents[::3])]

    assert_scores("feeds-real", claims)


@needs(real.ARCHIVE)
def test_stray_bytes_put_into_real_feeds_cost_only_themselves(documents: list[real.Document]) -> None:
    """Every character of the document is still there, in its place, around what the stray bytes became."""
    rng = random.Random(15)
    for document in documents:
        text = decode(document.body)
        if text.isascii() or document.body != text.encode():
            continue
        places = sorted(rng.sample(blanks(document.body), 3))
        body = bytearray(document.body)
        for place in places:
            body[place] = 0x92

        found = decode(bytes(body))

        assert found.count("’") == text.count("’") + len(places), document.name
        assert [a for a, b in zip(found, text, strict=True) if a != b] == ["’"] * len(places), document.name


def blanks(body: bytes) -> list[int]:
    """Return the places of the blanks between two ASCII letters."""
    return [match.start() for match in re.finditer(rb"(?<=[a-z]) (?=[a-z])", body)]


@pytest.mark.long
@needs(expected.ARCHIVE)
@needs(expressions.ARCHIVE)
@needs(real.ARCHIVE)
def test_the_parser_agrees_with_feedparser() -> None:
    assert_scores("agreement", agreement.claims(agreement.sources()))


@needs(hostile.BODIES)
def test_long_bodies_are_cleaned() -> None:
    """The longest of the real ones; the others, and what is hostile, are looked at beside the cleaner's own tests."""
    longest = sorted(hostile.bodies(), key=len)[-40:]

    assert_scores("bodies", hostile.claims(longest, "body"))
