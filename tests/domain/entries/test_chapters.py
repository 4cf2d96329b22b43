"""Chapters in JSON of Podcasting 2.0."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tidings.base.errors import InvalidInput
from tidings.content.model import MAX_CHAPTER_TITLE, MAX_CHAPTERS, Chapter
from tidings.domain.entries import entries
from tidings.domain.entries.entries import read_chapters


def document(*listed: Any) -> bytes:
    return json.dumps({"version": "1.2.0", "chapters": listed}).encode()


def test_chapters_are_in_the_order_of_their_times() -> None:
    body = document(
        {"startTime": 83.5, "title": " The  rain ", "url": "https://example.org/rain"},
        {"startTime": "0", "title": "Hello"},
        {"startTime": 90, "title": "An advert", "toc": False},
    )

    assert read_chapters(b"\xef\xbb\xbf" + body) == [
        Chapter(0.0, "Hello"),
        Chapter(83.5, "The rain", "https://example.org/rain"),
    ]


@pytest.mark.parametrize(
    "chapter",
    [
        {"title": "No time"},
        {"startTime": -1, "title": "Before"},
        {"startTime": True, "title": "True"},
        {"startTime": "soon", "title": "A word"},
        {"startTime": "nan", "title": "No number"},
        {"startTime": 10**400, "title": "Never"},
        {"startTime": "1e308", "title": "Never"},
        "a text",
        None,
    ],
)
def test_what_is_no_chapter_is_left_out(chapter: Any) -> None:
    assert read_chapters(document(chapter, {"startTime": 5, "title": "Kept"})) == [Chapter(5.0, "Kept")]


def test_executable_addresses_and_other_types_are_left_out() -> None:
    body = document({"startTime": 1, "title": ["a", "b"], "url": "javascript:alert(1)"})

    assert read_chapters(body) == [Chapter(1.0, "")]


def test_no_more_chapters_are_read_than_the_limit() -> None:
    body = document(*({"startTime": number, "title": "x" * 1_000} for number in range(MAX_CHAPTERS + 5)))

    read = read_chapters(body)

    assert len(read) == MAX_CHAPTERS
    assert len(read[0].title) == MAX_CHAPTER_TITLE


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"\xff\xfe", b"[" * 100_000, b"[]", b"{}", b'{"chapters": 5}', document()]
)
def test_a_document_without_chapters_is_an_error(body: bytes) -> None:
    with pytest.raises(InvalidInput, match="chapters"):
        read_chapters(body)


def test_stored_chapters_come_back() -> None:
    listed = [Chapter(1.5, "One", "https://example.org/"), Chapter(2.0, "")]

    assert entries.stored_chapters(entries.chapters_text(listed)) == listed
    assert entries.chapters_text([]) == ""
    assert entries.stored_chapters("") == []
