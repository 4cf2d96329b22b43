"""What a text is made of for searching, and how a question is understood."""

from __future__ import annotations

import re
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.domain.search import (
    LONGEST_WORD,
    MOST_ASKED_TERMS,
    MOST_TERMS,
    Phrase,
    Question,
    parse,
    terms,
)
from tidings.domain.stemming import stem


def words(*each: str) -> tuple[tuple[Phrase, ...], ...]:
    return tuple((Phrase((word,)),) for word in each)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("Connected connections connect.", ["connect", "connect", "connect"]),
        ("ponies, caresses & hopping", ["poni", "caress", "hop"]),
        ("Crème brûlée in ZÜRICH, Straße", ["creme", "brule", "in", "zurich", "strass"]),
        ("Ｆｕｌｌ　ｗｉｄｔｈ ｶﾞ", ["full", "width", "ガ"]),
        ("snake_case e-mail don't 3.14", ["snake", "case", "e", "mail", "don", "t", "3", "14"]),
        ("Tidings™ co\u00adop\u200beration", ["tide", "cooper"]),
        ("東京都", ["東京", "京都", "都"]),
        ("Python入門 3.12版", ["python", "入門", "門", "3", "12", "版"]),
        ("한국어 검색", ["한국", "국어", "어", "검색", "색"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("مُحَمَّد", ["محمد"]),
        ("Ёлка й", ["елка", "и"]),
        ("🎉🎉 party", ["🎉", "🎉", "parti"]),
        ("Ελλάδα Οδυσσεύς", ["ελλαδα", "οδυσσευσ"]),
    ],
)
def test_a_text_is_taken_apart_into_terms(text: str, found: list[str]) -> None:
    assert terms(text) == found


@pytest.mark.parametrize(
    ("question", "understood"),
    [
        ("rain snow", Question(words("rain", "snow"))),
        ('"heavy rains"', Question(((Phrase(("heavi", "rain")),),))),
        ("“heavy rains”", Question(((Phrase(("heavi", "rain")),),))),
        ("rain -snow", Question(words("rain"), words("snow"))),
        ('rain -"heavy snow"', Question(words("rain"), ((Phrase(("heavi", "snow")),),))),
        ("-rain", Question((), words("rain"))),
        ("rain rain Rain", Question(words("rain"))),
        ("rai*", Question(((Phrase(("rai",), is_open=True),),))),
        ('"heavy rai"*', Question(((Phrase(("heavi", "rai"), is_open=True),),))),
        ("-rai*", Question((), ((Phrase(("rai",), is_open=True),),))),
        ("r*", Question(words("r"))),
        ("e-mail", Question(((Phrase(("e", "mail")),),))),
        ("東京都", Question(((Phrase(("東京", "京都")),),))),
        ("京", Question(((Phrase(("京",), is_open=True),),))),
        ("入門python", Question(((Phrase(("入門", "門", "python")),),))),
        ('"rain', Question(words("rain"))),
        ('rain"snow', Question(words("rain", "snow"))),
        ("rain AND snow", Question(words("rain", "and", "snow"))),
        ("title:rain", Question(((Phrase(("titl", "rain")),),))),
        ("--rain", Question((), words("rain"))),
        ("- rain", Question(words("rain"))),
        ("rain\0snow", Question(((Phrase(("rain", "snow")),),))),
        ("!!! () * - \"\" ''", Question()),
        ("\ud800", Question()),
    ],
)
def test_a_question_is_understood(question: str, understood: Question) -> None:
    assert parse(question) == understood


def test_a_prefix_finds_words_whose_stem_is_shorter() -> None:
    for prefix, word in (
        ("relation*", "relations"),
        ("relatio*", "relational"),
        ("tidin*", "tidings"),
        ("hopp*", "hopping"),
    ):
        assert is_found(word, prefix), (prefix, word)


@given(
    st.from_regex("[a-z]{2,12}", fullmatch=True), st.sampled_from(["", "s", "ed", "ing", "ly", "ness", "ation", "er"])
)
def test_a_prefix_of_a_word_finds_the_word(start: str, ending: str) -> None:
    word = start + ending

    assert is_found(word, word + "*")
    assert is_found(word, start + "*")


@given(st.text())
def test_a_text_is_found_by_itself(text: str) -> None:
    quoted = re.sub('["“”„‟«»＂]', " ", text)[:60]
    found, asked = terms(quoted), parse(f'"{quoted}"')

    assert bool(asked.required) == bool(found) or len(found) > MOST_ASKED_TERMS
    for (phrase,) in asked.required:
        *before, last = phrase.terms
        assert found[: len(before)] == before
        assert found[len(before)].startswith(last)


@given(st.text())
def test_terms_hold_nothing_that_means_something_to_a_database(text: str) -> None:
    for term in terms(text):
        assert term
        assert not set(term) & set(" \t\n\r\0'\"\\/:*&|!()<>-+^{}")
        assert term.encode()


@given(st.text(), st.text())
def test_asking_never_fails_and_is_bounded(question: str, more: str) -> None:
    understood = parse(question + more * 200)

    assert sum(len(phrase.terms) for any_of in understood.required + understood.excluded for phrase in any_of) <= (
        MOST_ASKED_TERMS
    )


@pytest.mark.parametrize("text", ["word " * 100_000, "漢" * 500_000, "ﷺ" * 300_000, "x" * 1_000_000, "é" * 1_000_000])
def test_a_text_has_a_bounded_number_of_bounded_terms(text: str) -> None:
    found = terms(text)

    assert len(found) <= MOST_TERMS
    assert max(map(len, found)) <= LONGEST_WORD
    assert sum(len(term.encode()) + 12 for term in found) < 1_000_000


def test_stems_are_those_of_another_implementation() -> None:
    known = {word for text in (stem.__doc__ or "", __doc__ or "", _VOCABULARY) for word in text.lower().split()}
    alphabetic = sorted(word for word in known if word.isascii() and word.isalpha() and len(word) > 3)
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE porter USING fts5(word, tokenize = 'porter ascii')")
    database.execute("CREATE VIRTUAL TABLE found USING fts5vocab(porter, 'instance')")
    database.executemany("INSERT INTO porter (rowid, word) VALUES (?, ?)", enumerate(alphabetic))

    theirs = {alphabetic[row]: term for term, row in database.execute("SELECT term, doc FROM found")}
    database.close()

    assert {word: stem(word) for word in alphabetic} == theirs


_VOCABULARY = """
caresses ponies ties caress cats feed agreed plastered bled motoring sing conflated troubled sized hopping
tanned falling hissing fizzed failing filing happy sky relational conditional rational valenci hesitanci
digitizer conformabli radicalli differentli vileli analogousli vietnamization predication operator feudalism
decisiveness hopefulness callousness formaliti sensitiviti sensibiliti triplicate formative formalize
electriciti electrical hopeful goodness revival allowance inference airliner gyroscopic adjustable defensible
irritant replacement adjustment dependent adoption homologou communism activate angulariti homologous
effective bowdlerize probate rate cease controll roll generalizations oscillators syzygy yellow yearly
enjoying employed analogies biology apology possibly university universal organization news newest business
"""


def is_found(word: str, question: str) -> bool:
    (alternatives,) = parse(question).required
    (term,) = terms(word)
    return any(term.startswith(one.terms[0]) if one.is_open else term == one.terms[0] for one in alternatives)
