"""Terms of texts, parsing of search queries, and stemming."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tidings.content.search import (
    MAX_QUERY_TERMS,
    MAX_TERMS,
    MAX_WORD,
    MIN_STEM,
    Phrase,
    SearchQuery,
    group_of,
    parse_query,
    stem,
    terms,
)
from tidings.content.search_expressions import expression_of, phrases_in


def words(*each: str) -> tuple[tuple[Phrase, ...], ...]:
    return tuple((Phrase((word,)),) for word in each)


def either(*each: tuple[tuple[Phrase, ...], ...]) -> SearchQuery:
    return SearchQuery(alternatives=tuple(map(SearchQuery, each)))


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
        ("हिन्दी में", ["हिन्द", "म"]),
        ("مُحَمَّد", ["محمد"]),
        ("Ёлка й", ["елк", "й"]),
        ("🎉🎉 party", ["🎉", "🎉", "parti"]),
        ("Ελλάδα Οδυσσεύς", ["ελλαδ", "οδυσσε"]),
    ],
)
def test_a_text_is_split_into_terms(text: str, found: list[str]) -> None:
    assert terms(text) == found


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("rain snow", SearchQuery(words("rain", "snow"))),
        ('"heavy rains"', SearchQuery(((Phrase(("heavi", "rain")),),))),
        ("“heavy rains”", SearchQuery(((Phrase(("heavi", "rain")),),))),
        ("rain -snow", SearchQuery(words("rain"), words("snow"))),
        ('rain -"heavy snow"', SearchQuery(words("rain"), ((Phrase(("heavi", "snow")),),))),
        ("-rain", SearchQuery((), words("rain"))),
        ("rain rain Rain", SearchQuery(words("rain"))),
        ("rai*", SearchQuery(((Phrase(("rai",), ends_with_prefix=True),),))),
        ('"heavy rai"*', SearchQuery(((Phrase(("heavi", "rai"), ends_with_prefix=True),),))),
        ("-rai*", SearchQuery((), ((Phrase(("rai",), ends_with_prefix=True),),))),
        ("r*", SearchQuery(words("r"))),
        ("e-mail", SearchQuery(((Phrase(("e", "mail")),),))),
        ("東京都", SearchQuery(((Phrase(("東京", "京都")),),))),
        ("京", SearchQuery(((Phrase(("京",), ends_with_prefix=True),),))),
        ("入門python", SearchQuery(((Phrase(("入門", "門", "python")),),))),
        ('"rain', SearchQuery(words("rain"))),
        ('rain"snow', SearchQuery(words("rain", "snow"))),
        ("rain AND snow", SearchQuery(words("rain", "and", "snow"))),
        ("title:rain", SearchQuery(words("titl", "rain"))),
        ("rain|snow (hail)", SearchQuery(words("rain", "snow", "hail"))),
        ("--rain", SearchQuery(words("rain"))),
        ("- rain", SearchQuery((), words("rain"))),
        ("-(rain snow)", SearchQuery(words("snow"), words("rain"))),
        ("!rain", SearchQuery(words("rain"))),
        ("rain OR snow", either(words("rain"), words("snow"))),
        ("rain or snow hail", either(words("rain"), words("snow", "hail"))),
        ('rain Or"snow"', either(words("rain"), words("snow"))),
        ("rain OR rain", SearchQuery(words("rain"))),
        ("rain OR &", SearchQuery(words("rain"))),
        ("rain OR -snow", SearchQuery(alternatives=(SearchQuery(words("rain")), SearchQuery((), words("snow"))))),
        ("or rain", SearchQuery(words("or", "rain"))),
        ("rain or", SearchQuery(words("rain", "or"))),
        ("rain or or snow", either(words("rain"), words("or", "snow"))),
        ("rain orange", SearchQuery(words("rain", "orang"))),
        ("rain or-snow", SearchQuery((*words("rain"), (Phrase(("or", "snow")),)))),
        ('rain "or" snow', SearchQuery(words("rain", "or", "snow"))),
        ("rain -or snow", SearchQuery(words("rain", "snow"), words("or"))),
        ("rain\0snow", SearchQuery(((Phrase(("rain", "snow")),),))),
        ("!!! () * - \"\" ''", SearchQuery()),
        ("\ud800", SearchQuery()),
    ],
)
def test_a_query_is_parsed(query: str, expected: SearchQuery) -> None:
    assert parse_query(query) == expected


def test_a_prefix_finds_words_whose_stem_is_shorter() -> None:
    for prefix, word in (
        ("relation*", "relations"),
        ("relatio*", "relational"),
        ("tidin*", "tidings"),
        ("hopp*", "hopping"),
    ):
        assert is_found(word, prefix), (prefix, word)


@pytest.mark.slow
@given(
    st.from_regex("[a-z]{2,12}", fullmatch=True), st.sampled_from(["", "s", "ed", "ing", "ly", "ness", "ation", "er"])
)
def test_a_prefix_of_a_word_finds_the_word(start: str, ending: str) -> None:
    word = start + ending

    assert is_found(word, word + "*")
    # "inned" is stored as "in", which too many texts have to be searched for in place of "inn*".
    assume(len(terms(word)[0]) >= MIN_STEM)
    assert is_found(word, start + "*")


@given(st.text())
def test_a_text_is_found_by_itself(text: str) -> None:
    quoted = re.sub('["“”„‟«»＂]', " ", text)[:60]
    found, requested = terms(quoted), parse_query(f'"{quoted}"')

    assert bool(requested.required) == bool(found) or len(found) > MAX_QUERY_TERMS
    for (phrase,) in requested.required:
        *before, last = phrase.terms
        assert found[: len(before)] == before
        assert found[len(before)].startswith(last)


@given(st.text())
def test_terms_hold_no_characters_of_full_text_syntax(text: str) -> None:
    for term in terms(text):
        assert term
        assert not set(term) & set(" \t\n\r\0'\"\\/:*&|!()<>-+^{}")
        assert term.encode()


@given(st.text(), st.text())
def test_any_query_is_parsed_into_a_limited_number_of_terms(query: str, more: str) -> None:
    expected = parse_query(query + more * 200)

    expression = expression_of(expected)
    phrases = phrases_in(expression) if expression else ()
    assert sum(len(phrase.terms) for phrase in phrases) <= MAX_QUERY_TERMS


@pytest.mark.slow
@pytest.mark.parametrize("text", ["word " * 100_000, "漢" * 500_000, "ﷺ" * 300_000, "x" * 1_000_000, "é" * 1_000_000])
def test_a_text_has_a_bounded_number_of_bounded_terms(text: str) -> None:
    found = terms(text)

    assert len(found) <= MAX_TERMS
    assert max(map(len, found)) <= MAX_WORD
    assert sum(len(term.encode()) + 12 for term in found) < 1_000_000


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("", "connection connections connected connecting"),
        ("en-GB", "connection connections connected connecting"),
        ("de-AT", "Haus Häuser Hauses Häusern"),
        ("fr", "grand grande grands grandes"),
        ("es", "canción canciones"),
        ("it", "gatto gatti"),
        ("nl", "boek boeken"),
        ("sv", "flicka flickor flickorna"),
        ("nb", "bil bilen biler bilene"),
        ("fi", "talo talossa talosta"),
        ("ru", "новый новая новые новых"),
        ("uk", "новый новая"),
        ("", "новость новости новостей"),
    ],
)
def test_forms_of_a_word_have_one_term_in_its_language(language: str, forms: str) -> None:
    assert len(set(terms(forms, group_of(language)))) == 1


def test_words_without_their_accents_have_the_same_term() -> None:
    for group in ("", "de", "fr", "es", "pt", "tr", "hu", "fi"):
        assert terms("Où préférées canción Häuser não çöl", group) == terms(
            "Ou preferees cancion Hauser nao col", group
        )


def test_english_words_of_a_russian_text_have_english_stems() -> None:
    assert terms("connections", group_of("ru")) == terms("connected", group_of("ru")) == ["connect"]


@pytest.mark.slow
def test_stemming_is_thread_safe() -> None:
    created = ["".join(pair) for pair in product("bcdfgklmnprstv", ("ations", "eaux", "ungen", "ingly", "issimo"))]
    expected = {(word, group): stem.__wrapped__(word, group) for word in created for group in ("", "de", "fr", "it")}
    stem.cache_clear()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda asked: stem.__wrapped__(*asked), list(expected) * 20))

    assert found == list(expected.values()) * 20


def is_found(word: str, query: str) -> bool:
    (alternatives,) = parse_query(query).required
    (term,) = terms(word)
    return any(term.startswith(one.terms[0]) if one.ends_with_prefix else term == one.terms[0] for one in alternatives)
