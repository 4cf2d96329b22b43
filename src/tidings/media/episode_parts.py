"""Fetches chapters and transcripts of episodes when a user opens them.

enclosure of the user ─► fetch (guard, limits) ─► chapters │ transcript
"""

from __future__ import annotations

import asyncio
import time

from msgspec import Struct

from tidings.content.articles import WebPage
from tidings.content.articles.page_text import decode_page
from tidings.content.model import Chapter
from tidings.domain.entries.entries import Enclosure, Entry, read_chapters
from tidings.domain.feeds.feeds import Feed
from tidings.engine.database import Database
from tidings.media.transcripts import EpisodeTranscript, read_transcript
from tidings.net.fetch import FetchResponse
from tidings.services.entries.enclosures import owned_enclosure, unknown_enclosure
from tidings.services.entries.entries import owned_entry
from tidings.services.publisher_requests import PoliteFetcher, linked_request
from tidings.storage.feeds import feeds

MAX_CHAPTERS_BYTES = 2**20
# A transcript of ten hours has about 1 MB with the times of its words.
MAX_TRANSCRIPT_BYTES = 5 * 2**20
TIMEOUT_S = 20.0
# Seconds of processor time. 5 MB of the worst text take about one.
MAX_READING_S = 3.0
MAX_CONCURRENT = 8

_CHAPTERS_ACCEPT = "application/json+chapters, application/json;q=0.9, */*;q=0.1"
_TRANSCRIPT_ACCEPT = "text/vtt, application/x-subrip, application/json, text/html;q=0.8, text/plain;q=0.7, */*;q=0.1"


class EpisodePart(Struct, frozen=True):
    """An enclosure that belongs to an episode, with its entry and feed."""

    enclosure: Enclosure
    entry: Entry
    feed: Feed


class EpisodeParts:
    """Fetches chapters and transcripts of episodes. Belongs to one event loop, as its fetcher does."""

    def __init__(self, database: Database, fetcher: PoliteFetcher) -> None:
        self._database = database
        self._fetcher = fetcher
        self._slots = asyncio.Semaphore(MAX_CONCURRENT)

    def find(self, user_id: int, enclosure_id: int) -> EpisodePart:
        """Return an enclosure of the user. Raises NotFound."""
        with self._database.reading() as db:
            enclosure = owned_enclosure(db, user_id, enclosure_id)
            entry = owned_entry(db, user_id, enclosure.entry_id)
            feed = feeds.get(db, user_id, entry.feed_id)
        if feed is None:  # deleted since the entry was read
            raise unknown_enclosure(enclosure_id)
        return EpisodePart(enclosure, entry, feed)

    async def chapters(self, part: EpisodePart) -> list[Chapter]:
        """Return the chapters of a file. Raises FetchError, and InvalidInput if it has none."""
        response = await self._get(part, _CHAPTERS_ACCEPT, MAX_CHAPTERS_BYTES)
        return await asyncio.to_thread(read_chapters, response.body)

    async def transcript(self, part: EpisodePart) -> EpisodeTranscript:
        """Return the transcript of a file. Raises FetchError, and InvalidInput if it has no text."""
        response = await self._get(part, _TRANSCRIPT_ACCEPT, MAX_TRANSCRIPT_BYTES)
        return await asyncio.to_thread(_transcript, response)

    async def _get(self, part: EpisodePart, accept: str, max_bytes: int) -> FetchResponse:
        url, user_id = part.enclosure.url, part.entry.user_id
        request = linked_request(part.feed, url, accept=accept, max_body_size=max_bytes, timeout_s=TIMEOUT_S)
        async with self._slots:
            return await self._fetcher.get(request, [user_id], requested_by=user_id)


def _transcript(response: FetchResponse) -> EpisodeTranscript:
    deadline = time.thread_time() + MAX_READING_S
    text = decode_page(WebPage(response.body, response.charset, response.url))
    return read_transcript(text, url=response.url, is_late=lambda: time.thread_time() > deadline)
