"""Endpoints for chapters and transcripts of episodes, which are fetched when they are asked for."""

from __future__ import annotations

import asyncio

from msgspec import Struct

from tidings.api.struct_copy import StructCopy
from tidings.base.errors import InvalidInput, NotFound
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.media.services import MediaServices
from tidings.net.errors import FetchError

routes = Routes("Enclosures")


class ChapterOut(Struct, frozen=True):
    """start_s: seconds from the beginning. url: of a page about the chapter, or empty."""

    start_s: float
    title: str
    url: str


class ChapterList(Struct, frozen=True):
    chapters: list[ChapterOut]


class TranscriptLineOut(Struct, frozen=True):
    """start_s: seconds from the beginning, null without a time. speaker: empty if it is the same or not known."""

    start_s: float | None
    speaker: str
    text: str


class TranscriptOut(Struct, frozen=True):
    """lines; or html, which is cleaned, for a transcript that is a page; it is empty otherwise."""

    lines: list[TranscriptLineOut]
    html: str


_copy_chapter = StructCopy(ChapterOut)
_copy_line = StructCopy(TranscriptLineOut)


@routes.get("/v1/enclosures/{enclosure_id}/chapters", raises=(InvalidInput, NotFound, FetchError))
async def list_chapters(caller: User, media: MediaServices, enclosure_id: int) -> ChapterList:
    """Fetch a file of chapters, an enclosure of an episode. 400 if it has none."""
    part = await asyncio.to_thread(media.episode_parts.find, caller.id, enclosure_id)
    return ChapterList([_copy_chapter(chapter) for chapter in await media.episode_parts.chapters(part)])


@routes.get("/v1/enclosures/{enclosure_id}/transcript", raises=(InvalidInput, NotFound, FetchError))
async def get_transcript(caller: User, media: MediaServices, enclosure_id: int) -> TranscriptOut:
    """Fetch a transcript, an enclosure of an episode. 400 if it has no text."""
    part = await asyncio.to_thread(media.episode_parts.find, caller.id, enclosure_id)
    transcript = await media.episode_parts.transcript(part)
    return TranscriptOut([_copy_line(line) for line in transcript.lines], transcript.html)
