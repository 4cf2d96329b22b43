"""Transcripts of episodes: WebVTT, SubRip, JSON of Podcasting 2.0, HTML, and plain text.

Source: https://github.com/Podcastindex-org/podcast-namespace/blob/main/transcripts/transcripts.md
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.base.text import plain_line
from tidings.content.cleaning import clean, text_of
from tidings.domain.entries.entries import start_seconds

MAX_LINES = 20_000
MAX_TEXT = 2_000
# Characters; the rest is not read. A transcript of ten hours has about a million with the times of its words.
MAX_CHARS = 5_000_000
# Lines between two looks at the clock.
_LINES_PER_LOOK = 256

# All expressions run in linear time, because no match starts or backtracks in text that an earlier match has read.
# Hence possessive quantifiers, blanks within one line only, and tags that end where the next one begins.

# The line of a cue that has its times; hours may be missing, and SubRip writes a comma.
_TIMES = re.compile(r"^[^\S\n]*+((?:\d{1,3}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?)[^\S\n]*+-->", re.MULTILINE)
_END_OF_CUE = re.compile(r"\n[ \t]*+\n|\Z")
_PARAGRAPH = re.compile(r"[^\n]++(?:\n[^\n]++)*+")
_VOICE = re.compile(r"<v(?:\.[^\s<>]*+)?\s++([^<>]*+)>")
_TAG = re.compile(r"</?[a-zA-Z\d][^<>]*+>")
_HTML = re.compile(r"\s*+<(?:!doctype|html|body|p|div|cite|time)\b", re.IGNORECASE)


class TranscriptLine(Struct, frozen=True):
    """A line of a transcript."""

    start_s: float | None
    """Seconds from the beginning; None if the line has no time."""
    speaker: str
    """Empty when it is the same or unknown."""
    text: str


class EpisodeTranscript(Struct, frozen=True):
    """The transcript of an episode, either as lines or as clean HTML."""

    lines: tuple[TranscriptLine, ...] = ()
    html: str = ""


def read_transcript(text: str, *, url: str, is_late: Callable[[], bool] = lambda: False) -> EpisodeTranscript:
    """Return a transcript in the format that the text shows: types in feeds are often wrong.

    url: the base of relative URLs. is_late: asked now and then whether to stop. Raises InvalidInput if there is no
    text, or if reading takes too long.
    """
    text = text[:MAX_CHARS].removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if _HTML.match(text):
        transcript = EpisodeTranscript(html=clean(text, base_url=url))
    elif text.lstrip().startswith(("{", "[")):
        transcript = EpisodeTranscript(_kept_lines(_of_json(text), is_late))
    elif text.startswith("WEBVTT") or _TIMES.search(text):
        transcript = EpisodeTranscript(_kept_lines(_of_cues(text), is_late))
    else:
        paragraphs = (TranscriptLine(None, "", " ".join(one[0].split())) for one in _PARAGRAPH.finditer(text))
        transcript = EpisodeTranscript(_kept_lines(paragraphs, is_late))
    if not transcript.lines and not text_of(transcript.html).strip():
        raise InvalidInput(msg("The transcript has no text."))
    return transcript


def _kept_lines(lines: Iterable[TranscriptLine], is_late: Callable[[], bool]) -> tuple[TranscriptLine, ...]:
    """Return lines that have text, each speaker where it changes. Raises InvalidInput if that takes too long."""
    kept: list[TranscriptLine] = []
    speaker = ""
    for number, line in enumerate(lines):
        if number % _LINES_PER_LOOK == 0 and is_late():
            raise InvalidInput(msg("Reading the transcript takes too long."))
        if not line.text:
            continue
        if len(kept) == MAX_LINES:
            break
        shown = line.speaker if line.speaker != speaker else ""
        speaker = line.speaker or speaker
        kept.append(TranscriptLine(line.start_s, shown[:MAX_TEXT], line.text[:MAX_TEXT]))
    return tuple(kept)


def _of_cues(text: str) -> Iterator[TranscriptLine]:
    """Yield the cues. A cue ends at a blank line; other lines with times before it are part of its text."""
    reached = 0
    for times in _TIMES.finditer(text):
        if times.start() < reached:
            continue
        end = _END_OF_CUE.search(text, times.end())
        reached = end.start() if end else len(text)
        # The rest of the line has the end and settings.
        said = text[times.end() : reached].partition("\n")[2]
        voice = _VOICE.search(said)
        yield TranscriptLine(_seconds(times[1]), plain_line(voice[1]) if voice else "", plain_line(_TAG.sub("", said)))


def _of_json(text: str) -> Iterator[TranscriptLine]:
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidInput(msg("The transcript cannot be read.")) from error
    listed: Any = document.get("segments") if isinstance(document, dict) else document
    for one in listed if isinstance(listed, list) else ():
        if isinstance(one, dict) and isinstance(one.get("body"), str):
            speaker = one.get("speaker")
            yield TranscriptLine(
                start_seconds(one.get("startTime")),
                plain_line(speaker) if isinstance(speaker, str) else "",
                plain_line(one["body"]),
            )


def _seconds(written: str) -> float:
    seconds = 0.0
    for part in written.replace(",", ".").split(":"):
        seconds = seconds * 60 + float(part)
    return seconds
