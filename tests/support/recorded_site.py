"""A well-known site that a publisher stands for: tests do not reach the internet.

fetcher.detours.append(RecordedSite(site, "github.com"))     # https://github.com/x is answered as site.url("/x")
"""

from __future__ import annotations

from urllib.parse import urlsplit

from msgspec.structs import replace

from support.publisher import Publisher
from tidings.net.fetch import Fetcher, FetchRequest, FetchResponse


class RecordedSite:
    """A `Detour` that sends requests for these hosts over a real socket to a publisher."""

    def __init__(self, publisher: Publisher, *hosts: str) -> None:
        self._publisher = publisher
        self._hosts = hosts

    def takes(self, request: FetchRequest) -> bool:
        return urlsplit(request.url).hostname in self._hosts

    def asked_url(self, request: FetchRequest) -> str:
        return request.url

    async def get(self, request: FetchRequest, fetcher: Fetcher) -> FetchResponse:
        parts = urlsplit(request.url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path or "/"
        response = await fetcher.get(replace(request, url=self._publisher.url(path)))
        return replace(response, url=request.url, permanent_url=None)
