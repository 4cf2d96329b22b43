"""Finds the feeds of a web page.

fetch the page ─► is it a feed? ─► probe candidates: declared, of known sites, linked ─► common locations ─► results
                    a page that leads browsers to another one: the same there, before the common locations
                    nothing found: what slices know for the page, such as a bridge
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from tidings.base.errors import InvalidField, InvalidInput, NotFound
from tidings.base.messages import Message, join_sentences, msg
from tidings.base.times import Instant
from tidings.content import discovery
from tidings.content.discovery import FeedCandidate, page_links
from tidings.content.discovery.page_links import PageLink, PageLinks
from tidings.content.errors import FeedUnreadable, NotAFeed
from tidings.content.formats import detect_format, parse_feed
from tidings.content.model import FeedFormat, ParsedFeed
from tidings.domain.feeds import feed_changes
from tidings.net.errors import FetchError, HttpError
from tidings.net.fetch import FetchRequest, FetchResponse
from tidings.services.feeds.recent_documents import RecentDocuments
from tidings.services.listeners import Listeners
from tidings.services.publisher_requests import PoliteFetcher, request_elsewhere

# A page may declare a feed for each of its tags: the first ones are fetched, the others are listed as declared.
MAX_PROBES = 20
MAX_LINKED = 12
MAX_CONCURRENT_PROBES = 6
# For all probes together; the page itself has the usual timeout.
SEARCH_TIMEOUT_S = 10.0
PROBE_TIMEOUT_S = 5.0
MAX_PROBE_BYTES = 5 * 2**20
MAX_RESULTS = 100
# Pages that lead browsers to another one with a `meta` element, one after the other.
MAX_REFRESHES = 3


class DiscoveredFeed(Struct, frozen=True):
    """A feed that the user may subscribe to."""

    url: str
    title: str
    """The title on the page, or else in the feed."""
    type: FeedFormat
    name: str = ""
    """The title in its document; empty if the document was not read."""
    newest: tuple[EntryPreview, ...] = ()
    """The latest entries of its document; empty if the document was not read."""
    has_comments: bool = False
    """Whether it has the comments of readers. It comes after the others, and is never chosen for the user."""
    is_dead: bool = False
    """Whether the site declares it, and its address answers with an error."""
    is_read: bool = False
    """Whether its document was read."""


class ProbeResult(Struct, frozen=True):
    """The result of fetching a candidate."""

    type: FeedFormat | None = None
    """None if it is not a feed."""
    title: str = ""
    digest: bytes = b""
    """The document's digest, b"" without a document."""
    permanent_url: str | None = None
    """As in `FetchResponse`."""
    newest: tuple[EntryPreview, ...] = ()
    is_dead: bool = False
    """Whether the address answers with an error that a password would not change."""

    @property
    def is_refuted(self) -> bool:
        """Whether there is a document that is not a feed."""
        return bool(self.digest) and self.type is None


class Discovery:
    def __init__(self, fetcher: PoliteFetcher, recent: RecentDocuments, listeners: Listeners) -> None:
        self._fetcher = fetcher
        self._recent = recent
        self._listeners = listeners

    async def find(self, user_id: int, fields: Mapping[str, Any]) -> list[DiscoveredFeed]:
        """Return the feeds of a page, the declared ones first. Nothing is stored.

        fields: fields of the API, at least `url`. Raises InvalidInput for invalid fields, FetchError if the page cannot
        be fetched, and NotFound without feeds.
        """
        request = page_request(user_id, fields)
        candidates: list[DiscoveredFeed] = []
        refusal: HttpError | None = None
        try:
            candidates = await _Search(self._fetcher, self._recent, self._listeners, user_id, request).run()
        except HttpError as error:
            # Some sites block their pages for feed readers, but not for a bridge.
            refusal = error
        problems: list[Message] = []
        if not _has_alive(candidates):
            offered, problems = await self._offered(user_id, request.url)
            candidates = [*offered, *candidates]
        if candidates:
            return candidates[:MAX_RESULTS]
        if refusal is not None:
            raise refusal
        raise NotFound(
            join_sentences(
                msg(
                    "No feed was found on this page. If you know that there is one, enter the address of the feed "
                    "itself."
                ),
                *problems,
            )
        )

    async def _offered(self, user_id: int, url: str) -> tuple[list[DiscoveredFeed], list[Message]]:
        """Return the feeds that slices know for a page, and why some could not answer."""
        offered: list[DiscoveredFeed] = []
        problems: list[Message] = []
        for find in self._listeners.feed_finders:
            try:
                offered += [DiscoveredFeed(one.url, one.title, one.type) for one in await find(user_id, url)]
            except FetchError as error:
                problems.append(error.text)
        return offered, problems

    async def find_main(self, user_id: int, url: str) -> DiscoveredFeed:
        """Return the feed of a page for a user who is not asked. Raises as `find` does.

        A feed of comments is not what a user means who adds a blog.
        """
        for feed in await self.find(user_id, {"url": url}):
            if not feed.has_comments:
                return feed
        raise NotFound(
            msg("The page has only a feed of comments. If you want that one, enter the address of the feed itself.")
        )


class _Search:
    """Searches one page for feeds. request: the request for the page, with the options that the user sent."""

    def __init__(
        self,
        fetcher: PoliteFetcher,
        recent: RecentDocuments,
        listeners: Listeners,
        user_id: int,
        request: FetchRequest,
    ) -> None:
        self._fetcher = fetcher
        self._recent = recent
        self._listeners = listeners
        self._user_id = user_id
        self._request = request
        self._slots = asyncio.Semaphore(MAX_CONCURRENT_PROBES)
        self._results: dict[str, ProbeResult] = {}

    async def run(self) -> list[DiscoveredFeed]:
        if confirmed := await self._confirmed(await self._listeners.known_feeds(self._user_id, self._request)):
            return confirmed
        try:
            response = await self._fetcher.get(self._request, [self._user_id], requested_by=self._user_id)
        except FetchError:
            # Some sites block their pages for other clients than browsers, but not their feeds.
            if confirmed := await self._confirmed(discovery.known_site_feeds(self._request.url)):
                return confirmed
            raise
        result = await asyncio.to_thread(self._read, response)
        if result.type:
            self._recent.add(
                self._user_id,
                request_elsewhere(self._request, response.url),
                msgspec.structs.replace(response, permanent_url=None),
            )
            return [DiscoveredFeed(response.url, response.url, result.type, result.title, result.newest, is_read=True)]
        return await self._on_page(response, refreshes_left=MAX_REFRESHES)

    async def _on_page(self, response: FetchResponse, *, refreshes_left: int) -> list[DiscoveredFeed]:
        page, text = await asyncio.to_thread(_read_page, response)
        known = [
            candidate
            # A page that asks visitors to sign in may be at another address.
            for url in dict.fromkeys((page.canonical, response.url, self._request.url))
            if url
            for candidate in discovery.known_site_feeds(url, text)
        ]
        candidates = [*known, *discovery.declared_feeds(page), *discovery.linked_feeds(page, limit=MAX_LINKED)]
        confirmed = await self._confirmed(candidates)
        if _has_alive(confirmed):
            return confirmed
        if page.refresh and refreshes_left and (found := await self._after_refresh(page.refresh, refreshes_left)):
            return found
        for group in discovery.common_locations(page.canonical or response.url):
            if found := await self._confirmed([*candidates, *group]):
                confirmed = found
            if _has_alive(confirmed):
                break
        return confirmed

    async def _after_refresh(self, url: str, refreshes_left: int) -> list[DiscoveredFeed]:
        """Return the feeds of the page that another one leads browsers to, [] if it cannot be fetched."""
        try:
            response = await self._fetcher.get(
                request_elsewhere(self._request, url), [self._user_id], requested_by=self._user_id
            )
        except (FetchError, InvalidInput):
            return []
        if (await asyncio.to_thread(self._read, response)).type:
            return await self._confirmed([FeedCandidate(response.url)])
        return await self._on_page(response, refreshes_left=refreshes_left - 1)

    async def _confirmed(self, candidates: Sequence[FeedCandidate]) -> list[DiscoveredFeed]:
        """Return the candidates that are feeds, in the same order, each URL and each document once."""
        unique = list({candidate.url: candidate for candidate in reversed(candidates)}.values())[::-1]
        await self._probe_all([candidate for candidate in unique if candidate.url not in self._results][:MAX_PROBES])
        confirmed: dict[str, DiscoveredFeed] = {}
        digests: set[bytes] = set()
        for candidate in unique:
            result = self._results.get(candidate.url, ProbeResult())
            feed = _discovered_feed(candidate, result)
            # A guessed URL often serves the same document as one before.
            if feed is None or (result.digest in digests and not candidate.is_declared):
                continue
            if result.digest:
                digests.add(result.digest)
            confirmed.setdefault(feed.url, feed)
        # A dead feed is only offered while no other is known to live; comments come last.
        has_read = any(feed.is_read for feed in confirmed.values())
        offered = [feed for feed in confirmed.values() if not (feed.is_dead and has_read)]
        return sorted(offered, key=lambda feed: feed.has_comments)

    async def _probe_all(self, candidates: Sequence[FeedCandidate]) -> None:
        if not candidates:
            return
        tasks = [asyncio.create_task(self._probe(candidate)) for candidate in candidates]
        _, late = await asyncio.wait(tasks, timeout=SEARCH_TIMEOUT_S)
        for task in late:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _probe(self, candidate: FeedCandidate) -> None:
        request = self._probe_request(candidate.url)
        async with self._slots:
            try:
                response = await self._fetcher.get(request, [self._user_id])
            except (FetchError, InvalidInput) as error:
                self._results[candidate.url] = ProbeResult(is_dead=_is_dead(error))
                return
            result = await asyncio.to_thread(self._read, response)
        self._results[candidate.url] = result
        if result.type:
            self._recent.add(
                self._user_id,
                request_elsewhere(request, _final_url(candidate, result)),
                msgspec.structs.replace(response, permanent_url=None),
            )

    def _probe_request(self, url: str) -> FetchRequest:
        """Return the request of a candidate; credentials for the page are not sent to other sites."""
        request = request_elsewhere(self._request, url)
        return msgspec.structs.replace(request, timeout_s=PROBE_TIMEOUT_S, max_body_size=MAX_PROBE_BYTES)

    def _read(self, response: FetchResponse) -> ProbeResult:
        kind = _format(response)
        document = None
        if kind:
            with contextlib.suppress(FeedUnreadable, NotAFeed):
                document = _parsed(response)
        title, entries = (document.title, newest_entries(document)) if document else ("", ())
        return ProbeResult(kind, title, response.digest, response.permanent_url, entries)


def page_request(user_id: int, sent: Mapping[str, Any]) -> FetchRequest:
    """Return a user's request for a page. sent: fields of the API, at least `url`. Raises InvalidInput."""
    if not sent.get("url"):
        raise InvalidField("url", msg("give the address of a page."))
    options = {*FetchRequest.__struct_fields__} - {"url", "bridges_of"}
    fields = {name: value for name, value in sent.items() if name in options}
    try:
        checked = feed_changes.validate(fields | {"feed_url": sent["url"]})
    except InvalidInput as error:
        if error.field != "feed_url":
            raise
        raise error.with_field("url") from error
    return FetchRequest(url=checked.pop("feed_url"), bridges_of=user_id, **checked)


def _format(response: FetchResponse) -> FeedFormat | None:
    """Return the format of a document, or None if it is not a feed. JSON must also parse as a feed."""
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
    page = msgspec.structs.replace(page, links=(*page.links, *header_links(response)))
    return page, page_links.page_text(response.body, charset)


def _discovered_feed(candidate: FeedCandidate, result: ProbeResult) -> DiscoveredFeed | None:
    """Return a feed, or None. A declared candidate counts unless it is refuted; another one must have been parsed."""
    if result.type:
        url, title = _final_url(candidate, result), candidate.title or result.title
        has_comments = discovery.is_comments_feed(candidate.url, title) or discovery.is_comments_feed(url, result.title)
        return DiscoveredFeed(url, title or url, result.type, result.title, result.newest, has_comments, is_read=True)
    if candidate.is_declared and candidate.type and not result.is_refuted:
        has_comments = discovery.is_comments_feed(candidate.url, candidate.title)
        return DiscoveredFeed(
            candidate.url,
            candidate.title or candidate.url,
            candidate.type,
            has_comments=has_comments,
            is_dead=result.is_dead,
        )
    return None


def header_links(response: FetchResponse) -> list[PageLink]:
    """Return the targets of the response's Link header as links of its page. Source: RFC 8288."""
    return [
        PageLink(
            link.url.partition("#")[0],
            frozenset({link.rel}),
            link.type.partition(";")[0].strip().lower(),
            link.title,
            link.sizes.lower(),
        )
        for link in response.links
    ]


def _is_dead(error: Exception) -> bool:
    """Return whether the publisher answers with an error that neither a password nor another client would change."""
    return isinstance(error, HttpError) and error.status not in {401, 403, 407, 429, 503}


def _has_alive(feeds: Sequence[DiscoveredFeed]) -> bool:
    return any(not feed.is_dead for feed in feeds)


def _final_url(candidate: FeedCandidate, result: ProbeResult) -> str:
    """Return the target of a permanent redirect, or else the URL of the candidate."""
    return result.permanent_url or candidate.url


MAX_PREVIEW_ENTRIES = 5
MAX_PREVIEW_TITLE_LENGTH = 200


class EntryPreview(Struct, frozen=True):
    """An entry in the preview of a feed."""

    title: str
    url: str
    """The link, "" if the entry has none."""
    published_at: Instant | None
    """None if the document gives no usable date."""


def newest_entries(document: ParsedFeed) -> tuple[EntryPreview, ...]:
    """Return the latest entries; those without a date come last, in the order of the document."""
    by_date = sorted(document.entries, key=lambda entry: -(entry.published_at or 0))
    return tuple(
        EntryPreview(entry.title[:MAX_PREVIEW_TITLE_LENGTH], entry.url, entry.published_at)
        for entry in by_date[:MAX_PREVIEW_ENTRIES]
    )
