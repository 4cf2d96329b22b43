"""Finding the feeds of a web page.

fetch the page ─► a feed itself? ─► declared + shaped + anchored, looked at side by side ─► usual places ─► the list
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from tidings.domain import discovery
from tidings.domain.discovery import FeedCandidate, page_links
from tidings.domain.discovery.page_links import PageLinks
from tidings.domain.errors import FeedUnreadable, FetchError, InvalidField, InvalidInput, NotAFeed, NotFound
from tidings.domain.feeds import feed_changes
from tidings.domain.feeds.feeds import FeedFormat, ParsedFeed
from tidings.domain.formats import detect_format, parse_feed
from tidings.domain.messages import msg
from tidings.net.fetch import FetchRequest, FetchResponse
from tidings.net.targets import may_share
from tidings.services.feeds.feed_preview import EntryPreview, newest
from tidings.services.polling.fetched_documents import RecentDocuments
from tidings.services.polling.rate_limit import PoliteFetcher

# A page may name a feed for each of its tags: the first ones are looked at, the rest is believed.
MAX_PROBES = 20
MOST_ANCHORS = 12
AT_ONCE = 6
# All looks together; the page itself may take as long as any other document.
SEARCH_TIMEOUT_S = 10.0
PROBE_TIMEOUT_S = 5.0
MAX_PROBE_BYTES = 5 * 2**20
MAX_RESULTS = 100


class DiscoveredFeed(Struct, frozen=True):
    """A feed that somebody may subscribe to.

    title: as the page calls it, else as the feed itself does. name, newest: of its document; empty where none was read.
    """

    url: str
    title: str
    type: FeedFormat
    name: str = ""
    newest: tuple[EntryPreview, ...] = ()


class ProbeResult(Struct, frozen=True):
    """What came of fetching a candidate. type: None when it is no feed. digest: of the document, b"" when none came.

    permanent_url: as in `FetchResponse`.
    """

    type: FeedFormat | None = None
    title: str = ""
    digest: bytes = b""
    permanent_url: str | None = None
    newest: tuple[EntryPreview, ...] = ()

    @property
    def is_refuted(self) -> bool:
        return bool(self.digest) and self.type is None


class Discovery:
    def __init__(self, fetcher: PoliteFetcher, recent: RecentDocuments) -> None:
        self._fetcher = fetcher
        self._recent = recent

    async def find(self, user_id: int, given: Mapping[str, Any]) -> list[DiscoveredFeed]:
        """given: fields of the API, `url` at least. Nothing is stored.

        InvalidInput for what cannot be used; FetchError when the page cannot be had; NotFound when it leads to no feed.
        """
        asked = _request(given)
        search = _Search(self._fetcher, self._recent, user_id, asked)
        found = await search.run()
        if not found:
            raise NotFound(
                msg(
                    "No feed was found on this page. If you know that there is one, give the address of the feed "
                    "itself."
                )
            )
        return found[:MAX_RESULTS]


class _Search:
    """One page, with what was asked along with it."""

    def __init__(self, fetcher: PoliteFetcher, recent: RecentDocuments, user_id: int, asked: FetchRequest) -> None:
        self._fetcher = fetcher
        self._recent = recent
        self._user_id = user_id
        self._asked = asked
        self._places = asyncio.Semaphore(AT_ONCE)
        self._looks: dict[str, ProbeResult] = {}

    async def run(self) -> list[DiscoveredFeed]:
        try:
            response = await self._fetcher.get(self._asked)
        except FetchError:
            # Some sites show their pages to browsers only, and their feeds to everybody.
            if found := await self._confirmed(discovery.known_site_feeds(self._asked.url)):
                return found
            raise
        look = await asyncio.to_thread(self._read, response)
        if look.type:
            self._recent.keep(
                self._user_id,
                msgspec.structs.replace(self._asked, url=response.url),
                msgspec.structs.replace(response, permanent_url=None),
            )
            return [DiscoveredFeed(response.url, response.url, look.type, look.title, look.newest)]
        return await self._on_page(response)

    async def _on_page(self, response: FetchResponse) -> list[DiscoveredFeed]:
        page, text = await asyncio.to_thread(_read_page, response)
        shaped = [one for url in (page.canonical, response.url) if url for one in discovery.known_site_feeds(url, text)]
        candidates = [*shaped, *discovery.declared_feeds(page), *discovery.linked_feeds(page, limit=MOST_ANCHORS)]
        found = await self._confirmed(candidates)
        for group in discovery.common_locations(page.canonical or response.url):
            found = found or await self._confirmed(group)
        return found

    async def _confirmed(self, candidates: Sequence[FeedCandidate]) -> list[DiscoveredFeed]:
        """In the order given; each address, and each document, once."""
        named = list({candidate.url: candidate for candidate in reversed(candidates)}.values())[::-1]
        await self._probe_all([one for one in named if one.url not in self._looks][:MAX_PROBES])
        found: dict[str, DiscoveredFeed] = {}
        digests: set[bytes] = set()
        for candidate in named:
            look = self._looks.get(candidate.url, ProbeResult())
            one = _discovered_feed(candidate, look)
            # What was only guessed is often the same feed once more, under another of its addresses.
            if one is None or (look.digest in digests and not candidate.is_declared):
                continue
            if look.digest:
                digests.add(look.digest)
            found.setdefault(one.url, one)
        return list(found.values())

    async def _probe_all(self, candidates: Sequence[FeedCandidate]) -> None:
        if not candidates:
            return
        tasks = [asyncio.create_task(self._probe(candidate)) for candidate in candidates]
        _, late = await asyncio.wait(tasks, timeout=SEARCH_TIMEOUT_S)
        for task in late:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _probe(self, candidate: FeedCandidate) -> None:
        request = self._for(candidate.url)
        async with self._places:
            try:
                response = await self._fetcher.get(request)
            except (FetchError, InvalidInput):
                self._looks[candidate.url] = ProbeResult()
                return
            look = await asyncio.to_thread(self._read, response)
        self._looks[candidate.url] = look
        if look.type:
            self._recent.keep(
                self._user_id,
                msgspec.structs.replace(request, url=_address(candidate, look)),
                msgspec.structs.replace(response, permanent_url=None),
            )

    def _for(self, url: str) -> FetchRequest:
        """What is meant for the page's host goes nowhere else."""
        request = msgspec.structs.replace(
            self._asked, url=url, timeout_s=PROBE_TIMEOUT_S, max_body_size=MAX_PROBE_BYTES
        )
        if may_share(self._asked.url, url):
            return request
        return msgspec.structs.replace(request, username="", password="", cookie="", user_agent="")

    def _read(self, response: FetchResponse) -> ProbeResult:
        kind = _format(response)
        document = None
        if kind:
            with contextlib.suppress(FeedUnreadable, NotAFeed):
                document = _parsed(response)
        title, entries = (document.title, newest(document)) if document else ("", ())
        return ProbeResult(kind, title, response.digest, response.permanent_url, entries)


def _request(given: Mapping[str, Any]) -> FetchRequest:
    if not given.get("url"):
        raise InvalidField("url", msg("send the address of a page."))
    fields = {name: value for name, value in given.items() if name in FetchRequest.__struct_fields__ and name != "url"}
    try:
        checked = feed_changes.validate(fields | {"feed_url": given["url"]})
    except InvalidInput as error:
        if error.field != "feed_url":
            raise
        raise error.with_field("url") from error
    return FetchRequest(url=checked.pop("feed_url"), **checked)


def _format(response: FetchResponse) -> FeedFormat | None:
    """JSON of any kind looks like a feed until it is read."""
    kind = detect_format(response.body, response.charset or None)
    if kind is FeedFormat.JSON:
        try:
            _parsed(response)
        except (NotAFeed, FeedUnreadable):
            return None
    return kind


def _parsed(response: FetchResponse) -> ParsedFeed:
    return parse_feed(response.body, url=response.url, charset=response.charset or None)


def _read_page(response: FetchResponse) -> tuple[PageLinks, str]:
    charset = response.charset or None
    page = page_links.read_page_links(response.body, url=response.url, charset=charset)
    return page, page_links.page_text(response.body, charset)


def _discovered_feed(candidate: FeedCandidate, look: ProbeResult) -> DiscoveredFeed | None:
    """A page's own word counts unless its body proves the contrary; anything else has to prove itself."""
    if look.type:
        address = _address(candidate, look)
        return DiscoveredFeed(address, candidate.title or look.title or address, look.type, look.title, look.newest)
    if candidate.is_declared and candidate.type and not look.is_refuted:
        return DiscoveredFeed(candidate.url, candidate.title or candidate.url, candidate.type)
    return None


def _address(candidate: FeedCandidate, look: ProbeResult) -> str:
    """Where it really is, if it is there for good."""
    return look.permanent_url or candidate.url
