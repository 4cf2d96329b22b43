"""One check of a source: fetched and parsed once, for all feeds that show it.

fetch ─► as it was? ─► taken in (`answers`): what is new to each feed ─► written, due again, let go
  └─ failed? the reason and the next check on every feed                          (many checks in one transaction)
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import structlog

from tidings.domain.errors import FetchError, StoreUnavailable, TidingsError
from tidings.domain.feeds import Feed
from tidings.domain.ingestion import USUAL, Instance
from tidings.domain.scheduling import Schedule
from tidings.domain.sources import Claim, Validators, host_of, shared_validators
from tidings.net.fetch import FetchRequest, FetchResponse
from tidings.services import intake
from tidings.services.answers import Answer, Answers
from tidings.services.clock import Clock
from tidings.services.crawling import WAITING_S, WORKER_S, Crawler
from tidings.services.fetching import HostClosed, PoliteFetcher
from tidings.services.finishing import Finished, finishing
from tidings.services.icons import Icons
from tidings.services.intake import Crawled
from tidings.services.outages import Blamed, Outages
from tidings.services.rounds import Checked, Round
from tidings.services.timing import Timing
from tidings.services.websub import WebSub
from tidings.storage.database import Database
from tidings.storage.polling import Result

log = structlog.get_logger()


class Checking:
    def __init__(
        self,
        database: Database,
        fetcher: PoliteFetcher,
        clock: Clock,
        *,
        icons: Icons,
        crawler: Crawler,
        websub: WebSub,
        schedule: Schedule,
        instance: Instance = USUAL,
    ) -> None:
        self._fetcher = fetcher
        self._clock = clock
        self._icons = icons
        self._crawler = crawler
        self._websub = websub
        self._schedule = schedule
        self._outages = Outages(database, clock)
        self._finishing = finishing(database)
        self._answers = Answers(database, clock, websub, instance=instance)

    async def check(self, claim: Claim, *, worker: str | None = None) -> dict[int, Checked]:
        """By feed id. However it ends, each feed has its next check, and the claim is given back.

        StoreUnavailable when nothing could be written about it: the claim then runs out by itself.
        """
        this = Round(claim, worker, self._clock(), Timing.draw(self._schedule, is_pushed=claim.is_pushed))
        try:
            response = await self._fetcher.get(
                request_for(claim.lead, shared_validators(claim.feeds)), is_cleared=worker is not None
            )
        except TidingsError as error:
            self._note(this, error)
            this.failed |= {feed.id: error for feed in claim.feeds}
        else:
            self._note(this, None)
            await self._take(this, response)
        await self._finish(this)
        if not this.is_lost:
            well = [feed for feed in claim.feeds if feed.id not in this.failed]
            await self._icons.look_if_due(well, is_awaited=worker is None)
        return {feed.id: this.checked(feed.id) for feed in claim.feeds}

    async def _take(self, this: Round, response: FetchResponse) -> None:
        this.status = response.status
        feeds = this.claim.feeds
        if response.url == this.claim.lead.feed_url:
            # What most checks come to: nothing to look up, nothing to parse.
            changed = []
            for feed in feeds:
                if intake.is_unchanged(feed, response):
                    this.results.append(Result(feed, this.as_before(feed, response)))
                else:
                    changed.append(feed)
            feeds = changed
            if not feeds and response.links:
                await asyncio.to_thread(self._websub.notice, this.claim.lead, response, None)
        if feeds:
            crawled = await self._crawl(feeds, response, is_awaited=this.worker is None)
            await self._answers.take(Answer(this, feeds, response, crawled))

    async def _crawl(self, feeds: Sequence[Feed], response: FetchResponse, *, is_awaited: bool) -> dict[int, Crawled]:
        within_s = WAITING_S if is_awaited else WORKER_S
        looks = {feed.id: self._crawler.look(feed, response, within_s=within_s) for feed in feeds if feed.crawler}
        found = await asyncio.gather(*looks.values())
        return {feed_id: one for feed_id, one in zip(looks, found, strict=True) if one is not None}

    async def _finish(self, this: Round) -> None:
        """The reason and the next check on every feed that failed, and all that is left to write."""
        by_id = {feed.id: feed for feed in this.claim.feeds}
        blamed = []
        for feed_id, error in this.failed.items():
            feed = by_id[feed_id]
            if this.worker is not None and self._outages.explains(error):
                this.is_outage = True
                this.results.append(Result(feed, {"next_check_at": self._outages.try_again_at()}))
            elif not isinstance(error, StoreUnavailable | HostClosed):
                values = this.timing.after_failure(feed, error, self._clock())
                this.results.append(Result(feed, values))
                if isinstance(error, FetchError) and not error.was_reached:
                    blamed.append(Blamed(feed, values["next_check_at"]))
        unwritten = next((error for error in this.failed.values() if isinstance(error, StoreUnavailable)), None)
        if unwritten is not None:
            # The claim runs out by itself, and the source is taken again.
            raise unwritten
        if len(this.claim.feeds) == 1 and this.stored:
            # Written whole, with its feed, in one transaction.
            this.is_lost = next(iter(this.stored.values())).lost
        else:
            finished = Finished(this.results, this.claim.source_id, this.worker)
            this.is_lost = not await self._finishing.add(finished)
        this.tell(took=self._clock() - this.started)
        if this.worker is not None and not this.is_lost:
            await self._outages.settle(blamed)

    def _note(self, this: Round, error: TidingsError | None) -> None:
        """A poller asks so many that it can tell a network that is down; a person who asks for one feed cannot."""
        if this.worker is not None and not isinstance(error, HostClosed):
            self._outages.note(host_of(this.claim.lead.feed_url), error)


def request_for(feed: Feed, validators: Validators) -> FetchRequest:
    return FetchRequest(
        url=feed.feed_url,
        etag=validators.etag,
        last_modified=validators.last_modified,
        user_agent=feed.user_agent,
        cookie=feed.cookie,
        username=feed.username,
        password=feed.password,
        ignore_cache=feed.ignore_http_cache,
        allow_self_signed_certificates=feed.allow_self_signed_certificates,
        proxy_url=feed.proxy_url,
        fetch_via_proxy=feed.fetch_via_proxy,
    )
