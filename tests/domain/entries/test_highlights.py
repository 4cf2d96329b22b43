from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.content.search import parse_query
from tidings.domain.entries.highlights import LENGTH, Highlighter, TextPiece


def shown(pieces: list[TextPiece]) -> str:
    return "".join(f"[{piece.text}]" if piece.is_match else piece.text for piece in pieces)


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("rain", "Rain, raining; a train", "[Rain], [raining]; a train"),
        ("studies", "A study of the studio", "A [study] of the studio"),
        ("umb*", "Umbrellas and rum", "[Umbrellas] and rum"),
        ('"light rain"', "Light rain tonight, light snow, rain", "[Light rain] tonight, light snow, rain"),
        ('"light rain"', "In light. Rain fell", "In [light. Rain] fell"),
        ('"light rain" rain', "Light rain, more rain", "[Light rain], more [rain]"),
        ('"light rain" "rain fell"', "A light rain fell", "A [light rain fell]"),
        ('"the rel"*', "The relations of the others", "[The relations] of the others"),
        ("well-known", "A well-known well", "A [well-known] well"),
        ("rain", "light_rain.txt", "light_[rain].txt"),
        ("東京都", "東京と京都、東京都", "東京と京都、[東京都]"),
        ("cafe", "Das Café am Eck", "Das [Café] am Eck"),
        ("rain -sun", "Rain and sun", "[Rain] and sun"),
        ("rain OR hail -sun", "Rain, hail and sun", "[Rain], [hail] and sun"),
        ('hail or "light rain"', "Light rain or rain", "[Light rain] or rain"),
        ("東京", "今日の東京は雨", "今日の[東京]は雨"),
        ("手机", "我的iPhone手机很好", "我的iPhone[手机]很好"),
        ("検索", "AI検索エンジン", "AI[検索]エンジン"),
        ('"AI検索"', "AI検索エンジン", "[AI検索]エンジン"),
        ("ai", "AI検索", "[AI]検索"),
        ('"☀ ☁"', "a☀", "a☀"),
        ("-sun", "Sun", "Sun"),
        ("", "Sun", "Sun"),
    ],
)
def test_matching_words_are_highlighted(query: str, text: str, expected: str) -> None:
    highlighter = Highlighter(parse_query(query).wanted)

    assert shown(highlighter.pieces(text)) == expected
    assert shown(highlighter.excerpt(text)) == expected


def test_an_excerpt_surrounds_the_match() -> None:
    text = "sun " * 200 + "then rain fell" + " wind" * 200

    excerpt = shown(Highlighter(parse_query("rain").wanted).excerpt(text))

    assert "then [rain] fell" in excerpt
    assert excerpt.startswith("… ")
    assert excerpt.endswith("…")
    assert len(excerpt) <= LENGTH + 10


def test_an_excerpt_for_a_phrase_surrounds_its_longest_word() -> None:
    text = "column 1 " * 50 + "value 1"

    assert "[value 1]" in shown(Highlighter(parse_query('"value 1"').wanted).excerpt(text))


def test_an_excerpt_for_a_phrase_surrounds_consecutive_words() -> None:
    text = "rain without light; sun " * 15 + "then a light rain fell"

    excerpt = shown(Highlighter(parse_query('"light rain"').wanted).excerpt(text))

    assert "then a [light rain] fell" in excerpt


def test_an_excerpt_without_a_match_is_the_beginning() -> None:
    assert shown(Highlighter(parse_query("rain").wanted).excerpt("Only sun.")) == "Only sun."


@given(st.text(max_size=60), st.text(max_size=2_000))
def test_highlighted_pieces_join_to_the_whole_text(query: str, text: str) -> None:
    highlighter = Highlighter(parse_query(query).wanted)

    assert "".join(piece.text for piece in highlighter.pieces(text)) == text
    assert len("".join(piece.text for piece in highlighter.excerpt(text))) <= LENGTH + 3
