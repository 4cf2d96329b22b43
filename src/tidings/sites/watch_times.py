"""Looks up how long videos of YouTube last: that is how long an entry takes.

    urls of new and changed entries ─► ids ─► known before? ─► the API, 50 at a time, or the page of each ─► minutes

Nothing here makes a check fail: an entry without a duration has the reading time of its text.
Source: https://developers.google.com/youtube/v3/docs/videos/list
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import structlog

from tidings.base.errors import TidingsError
from tidings.content.formats.extensions import duration_minutes, parse_duration_minutes
from tidings.content.formats.json_feed import as_objects, as_text
from tidings.content.videos import youtube_id
from tidings.domain.feeds.feeds import Feed
from tidings.services.entries.fetch_content import PAGE_ACCEPT
from tidings.services.publisher_requests import PoliteFetcher, linked_request
from tidings.sites import api

log = structlog.get_logger()

API: Final = "https://www.googleapis.com/youtube/v3/videos"
PAGE: Final = "https://www.youtube.com/watch"
_MARKS: Final = (b"youtube.com/", b"youtu.be/")
# Videos that the API tells in one answer.
BATCH: Final = 50
# Videos of one document, the first ones: a feed of a channel has 15.
MAX_VIDEOS: Final = 200
MAX_PAGES: Final = 15
_CONCURRENT_PAGES: Final = 2
_MAX_PAGE_BYTES: Final = 5 * 2**20
# Durations that are kept in memory: publishers change titles and descriptions of videos often.
_MAX_KEPT: Final = 5_000
_ON_PAGE: Final = re.compile(rb'itemprop="duration"\s+content="(P[\dA-Z]{1,30})"')
_IN_SCRIPT: Final = re.compile(rb'"lengthSeconds"\s*:\s*"(\d{1,7})"')


class WatchTimes:
    """A `DurationSource` for YouTube.

    api_key: of the operator; without one, the pages of videos are read. api_url, page_url: where these are.
    """

    def __init__(self, fetcher: PoliteFetcher, *, api_key: str, api_url: str = API, page_url: str = PAGE) -> None:
        self._fetcher = fetcher
        self._api_key = api_key
        self._api_url = api_url
        self._page_url = page_url
        self._known: OrderedDict[str, int] = OrderedDict()

    def is_in(self, body: bytes) -> bool:
        """Return whether a document mentions YouTube."""
        return any(mark in body for mark in _MARKS)

    async def minutes(self, feed: Feed, urls: Sequence[str], *, timeout_s: float) -> Mapping[str, int]:
        """Return whole minutes by URL, at least 1, as many as are found in time."""
        videos = {url: video for url in urls if (video := youtube_id(url))}
        missing = [video for video in dict.fromkeys(videos.values()) if video not in self._known][:MAX_VIDEOS]
        try:
            async with asyncio.timeout(timeout_s):
                await (self._ask_api(feed, missing) if self._api_key else self._read_pages(feed, missing))
        except TimeoutError:
            log.info("durations not found in time", feed=feed.id or None)
        except Exception:
            # The entries are worth more than their reading times.
            log.exception("looking up durations crashed", feed=feed.id or None)
        found = {url: self._known[video] for url, video in videos.items() if self._known.get(video)}
        while len(self._known) > _MAX_KEPT:
            self._known.popitem(last=False)
        return found

    async def _ask_api(self, feed: Feed, videos: Sequence[str]) -> None:
        for first in range(0, len(videos), BATCH):
            wanted = videos[first : first + BATCH]
            url = f"{self._api_url}?part=contentDetails&maxResults={BATCH}&id={','.join(wanted)}"
            request = linked_request(feed, url, accept=api.JSON_ACCEPT)
            # In a header, the key is in no log of addresses.
            request = api.as_operator(request, url, ("X-Goog-Api-Key", self._api_key))
            try:
                response = await self._fetcher.get(request, [feed.user_id])
                self._add(_durations(api.decoded(response.body, api="YouTube", url=self._api_url)))
            except TidingsError as error:
                log.warning("durations not found", api="YouTube", feed=feed.id or None, reason=error.message)
                return

    async def _read_pages(self, feed: Feed, videos: Sequence[str]) -> None:
        slots = asyncio.Semaphore(_CONCURRENT_PAGES)
        async with asyncio.TaskGroup() as group:
            for video in videos[:MAX_PAGES]:
                group.create_task(self._read_page(feed, video, slots))

    async def _read_page(self, feed: Feed, video: str, slots: asyncio.Semaphore) -> None:
        url = f"{self._page_url}?v={video}"
        async with slots:
            try:
                request = linked_request(feed, url, accept=PAGE_ACCEPT, max_body_size=_MAX_PAGE_BYTES)
                response = await self._fetcher.get(request, [feed.user_id])
            except TidingsError as error:
                log.info("duration not found", video=video, feed=feed.id or None, reason=error.message)
                return
        if minutes := _on_page(response.body):
            self._add([(video, minutes)])

    def _add(self, found: Iterable[tuple[str, int]]) -> None:
        for video, minutes in found:
            self._known[video] = minutes


def _durations(answer: Any) -> list[tuple[str, int]]:
    """Return id and minutes of each video in an answer; a stream that has not begun has none."""
    videos = as_objects(answer.get("items")) if isinstance(answer, dict) else []
    found = []
    for video in videos:
        details = video.get("contentDetails")
        written = as_text(details.get("duration")) if isinstance(details, dict) else ""
        if minutes := _minutes(written):
            found.append((as_text(video.get("id")), minutes))
    return found


def _on_page(page: bytes) -> int:
    if match := _ON_PAGE.search(page):
        return _minutes(match[1].decode())
    match = _IN_SCRIPT.search(page)
    seconds = int(match[1]) if match else 0
    return max(1, duration_minutes(seconds)) if seconds else 0


def _minutes(written: str) -> int:
    """Return the minutes of a duration in ISO 8601; 1 for a shorter one, 0 for none."""
    is_known = any(digit in written for digit in "123456789")
    return max(1, parse_duration_minutes(written)) if is_known else 0
