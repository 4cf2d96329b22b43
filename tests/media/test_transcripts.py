"""Transcripts in all formats that podcasts use."""

from __future__ import annotations

import json

import pytest

from tidings.base.errors import InvalidInput
from tidings.media import transcripts
from tidings.media.transcripts import TranscriptLine, read_transcript

VTT = """WEBVTT - a title

NOTE nobody sees this

intro
00:01.000 --> 00:04.000 align:start
<v Ada>Hello &amp; <i>welcome</i>
to the rain.

01:02:03.500 --> 01:02:05.000
<v.loud Ada>Again.

01:02:06.000 --> 01:02:07.000
<v Bob>Sun.
"""
SRT = "1\r\n00:00:01,500 --> 00:00:02,000\r\nHello.\r\n\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\n<b>Rain.</b>\r\n"
HELLO = TranscriptLine(1.0, "Ada", "Hello & welcome to the rain.")


def test_webvtt_has_times_and_speakers_where_they_change() -> None:
    assert read_transcript(VTT, url="").lines == (
        HELLO,
        TranscriptLine(3723.5, "", "Again."),
        TranscriptLine(3726.0, "Bob", "Sun."),
    )


def test_subrip_is_read_whatever_line_ends_it_has() -> None:
    wanted = (TranscriptLine(1.5, "", "Hello."), TranscriptLine(3.0, "", "Rain."))

    assert read_transcript(SRT, url="").lines == wanted
    assert read_transcript("\ufeff" + SRT.replace("\r\n", "\n"), url="").lines == wanted


def test_json_has_segments() -> None:
    segments = [
        {"speaker": "Ada", "startTime": 1, "endTime": 4, "body": "Hello &amp; welcome to the rain."},
        {"speaker": None, "startTime": "x", "body": "No time."},
        {"startTime": 10**400, "body": "No time."},
        {"startTime": 1, "body": 5},
        "a text",
    ]

    assert read_transcript(json.dumps({"version": "1.0", "segments": segments}), url="").lines == (
        HELLO,
        TranscriptLine(None, "", "No time."),
        TranscriptLine(None, "", "No time."),
    )


def test_plain_text_has_paragraphs_without_times() -> None:
    lines = read_transcript("One\nline.\n\n\nAnother <b>.", url="").lines

    assert lines == (TranscriptLine(None, "", "One line."), TranscriptLine(None, "", "Another <b>."))


def test_html_is_cleaned() -> None:
    read = read_transcript(
        '<p onclick="x()">Hello<script>y()</script> <a href="/z">z</a></p>', url="https://a.example/"
    )

    assert "script" not in read.html
    assert "onclick" not in read.html
    assert 'href="https://a.example/z"' in read.html


def test_lines_and_their_texts_are_limited() -> None:
    cues = "\n\n".join(f"00:00:{number % 60:02}.000 --> 00:01:00.000\n{'x' * 3_000}" for number in range(30))

    read = read_transcript(f"WEBVTT\n\n{cues}", url="").lines

    assert len(read[0].text) == transcripts.MAX_TEXT
    assert len(read_transcript("a\n\n" * (transcripts.MAX_LINES + 5), url="").lines) == transcripts.MAX_LINES


def test_a_cue_ends_at_a_blank_line_and_may_hold_a_line_with_times() -> None:
    text = "00:01 --> 00:02\nOne\n00:03 --> 00:04\n \nnothing\n\n\t00:05 --> 00:06\n<v\nBob>Two <b x\n"

    assert read_transcript(text, url="").lines == (
        TranscriptLine(1.0, "", "One 00:03 --> 00:04"),
        TranscriptLine(5.0, "Bob", "Two <b x"),
    )


def test_the_rest_of_a_transcript_that_is_too_long_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcripts, "MAX_CHARS", 9)

    assert read_transcript("One.\n\nTwo words.", url="").lines[1].text == "Two"


def test_a_transcript_that_takes_too_long_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="takes too long"):
        read_transcript(VTT, url="", is_late=lambda: True)


def test_a_reference_of_many_digits_is_no_error() -> None:
    (line,) = read_transcript(f"00:01 --> 00:02\n&#{'1' * 5_000}; &#{'0' * 5_000}65;", url="").lines

    assert line.text == "\ufffd A"


@pytest.mark.parametrize("text", ["", "  \n", "WEBVTT\n\n", "{", "[" * 100_000, "[]", '{"segments": 5}', "<p></p>"])
def test_a_transcript_without_text_is_an_error(text: str) -> None:
    with pytest.raises(InvalidInput, match="transcript"):
        read_transcript(text, url="")
