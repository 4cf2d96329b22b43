"""Finds the feed of a podcast by its address at Podcast Index, through the API of that.

Source: https://podcastindex-org.github.io/docs-api/
"""

from __future__ import annotations

import hashlib
import re
from typing import Final
from urllib.parse import urlsplit

from tidings.base.messages import msg
from tidings.base.times import SECOND
from tidings.content.discovery import FeedCandidate
from tidings.content.formats.json_feed import as_text
from tidings.content.urls import web_url
from tidings.net.errors import HttpError
from tidings.net.fetch import FetchRequest
from tidings.services.clock import Clock
from tidings.services.publisher_requests import PoliteFetcher
from tidings.sites import api

API: Final = "https://api.podcastindex.org/api/1.0"
_HOSTS: Final = frozenset({"podcastindex.org", "www.podcastindex.org"})
_PODCAST: Final = re.compile(r"/podcast/(\d{1,12})(?:/.*)?", re.ASCII)


class PodcastIndex:
    """Finds feeds of podcasts, with the operator's key. api_url: where the API is."""

    def __init__(self, fetcher: PoliteFetcher, clock: Clock, *, key: str, secret: str, api_url: str = API) -> None:
        self._fetcher = fetcher
        self._clock = clock
        self._key = key
        self._secret = secret
        self._api_url = api_url

    async def feeds(self, user_id: int, request: FetchRequest) -> list[FeedCandidate]:
        """Return the feed of a podcast's page; [] for a podcast that the index does not know. Raises FetchError."""
        parts = urlsplit(request.url)
        match = _PODCAST.fullmatch(parts.path) if (parts.hostname or "").lower() in _HOSTS else None
        if match is None:
            return []
        url = f"{self._api_url}/podcasts/byfeedid?id={match[1]}"
        asked = api.as_operator(request, url, *self._headers())
        try:
            response = await self._fetcher.get(asked, [user_id])
        except HttpError as error:
            raise _explained(error) from error
        answer = api.decoded(response.body, api="Podcast Index", url=response.url)
        if not isinstance(answer, dict):
            raise api.unexpected("Podcast Index", response.url)
        # A podcast that is not there is an empty list.
        podcast = answer.get("feed")
        address = web_url(as_text(podcast.get("url")), response.url) if isinstance(podcast, dict) else ""
        return [FeedCandidate(address, as_text(podcast.get("title")))] if isinstance(podcast, dict) and address else []

    def _headers(self) -> list[tuple[str, str]]:
        now = str(self._clock() // SECOND)
        # The API demands SHA-1: it proves that we have the secret, which cannot be computed from it.
        signature = hashlib.sha1(f"{self._key}{self._secret}{now}".encode(), usedforsecurity=False).hexdigest()
        return [("X-Auth-Key", self._key), ("X-Auth-Date", now), ("Authorization", signature)]


def _explained(error: HttpError) -> HttpError:
    if error.status not in (401, 403):
        return error
    return HttpError(
        msg(
            "Podcast Index does not accept the key that the operator has set with TIDINGS_PODCASTINDEX_KEY and "
            "TIDINGS_PODCASTINDEX_SECRET, or the clock of this server is wrong."
        ),
        url=error.url,
        status=error.status,
    )
