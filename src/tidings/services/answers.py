"""Taking in what publishers answered: many answers at a time, so that one look and one transaction serve them all.

answers that wait ─► parse ─► what is new? (one look) ─► made ready ─► written (one transaction) ─► hubs noticed

What goes wrong with one feed is its own: it has its reason in the round of its check, the others have their entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import structlog
from msgspec import Struct

from tidings.domain.errors import InvalidInput, StoreUnavailable, TidingsError
from tidings.domain.feeds import Feed, ParsedEntry, ParsedFeed
from tidings.domain.ingestion import USUAL, Instance
from tidings.domain.users import User
from tidings.net.fetch import FetchResponse
from tidings.services import identity, intake
from tidings.services.clock import Clock
from tidings.services.gathering import Gathering, written_together
from tidings.services.intake import Brought, Crawled
from tidings.services.rounds import Reading, Round
from tidings.services.shortening import shortened
from tidings.services.storing import store
from tidings.services.websub import Seen, WebSub
from tidings.storage import intake as entry_intake
from tidings.storage import users
from tidings.storage.database import Database
from tidings.storage.intake import Met
from tidings.storage.polling import Result

log = structlog.get_logger()

# Bytes of documents that are taken in together: a larger one is alone.
MOST_BYTES = 2 * 2**20
# So many at the most: about half of what a worker fetches at the same time, so that the next come in meanwhile.
MOST_ANSWERS = 8
# Feeds that are written together: how long others wait for the database, and how much is in memory.
MOST_FEEDS = 25


class Answer(Struct, frozen=True):
    """To a check, for those of its feeds that it may bring something. crawled: by feed id."""

    round: Round
    feeds: Sequence[Feed]
    response: FetchResponse
    crawled: Mapping[int, Crawled]


class _Member(Struct, frozen=True):
    """A feed that an answer is for."""

    answer: Answer
    reading: Reading
    feed: Feed

    @property
    def document(self) -> ParsedFeed:
        crawled = self.answer.crawled.get(self.feed.id)
        return crawled.document if crawled else self.reading.document


class Answers:
    def __init__(self, database: Database, clock: Clock, websub: WebSub, *, instance: Instance = USUAL) -> None:
        self._database = database
        self._clock = clock
        self._websub = websub
        self._instance = instance
        self._gathering = Gathering(
            self._take_all,
            # One thread: reading documents is work for Python, and several would hold the database while they wait for
            # each other. Another core is another worker's.
            executor=ThreadPoolExecutor(1, thread_name_prefix="answers"),
            weight=lambda answer: max(len(answer.response.body), MOST_BYTES // MOST_ANSWERS),
            most=MOST_BYTES,
        )

    async def take(self, answer: Answer) -> None:
        """When it returns, everything is written, and what came of each feed stands in the answer's round."""
        await self._gathering.add(answer)

    def _take_all(self, answers: Sequence[Answer]) -> list[None]:
        read = list(zip(answers, self._readings(answers), strict=True))
        members = (_Member(answer, reading, feed) for answer, reading in read for feed in answer.feeds)
        for some in _batches(members):
            self._take_some(some)
        self._websub.notice_all([_seen(answer, reading) for answer, reading in read if answer.round.stored])
        return [None] * len(answers)

    def _readings(self, answers: Sequence[Answer]) -> list[Reading]:
        """What several feeds show is read whole: each of them may lack something else."""
        claims = [answer.round.claim for answer in answers]
        asked = [
            (claim.source_id, claim.lead, answer.response) if len(claim.feeds) == 1 else None
            for claim, answer in zip(claims, answers, strict=True)
        ]
        try:
            found = shortened(self._database, asked)
        except StoreUnavailable:
            raise
        except Exception:
            # Only the short way is barred: nobody has to do without their entries.
            log.exception("documents not shortened", answers=len(answers))
            found = [None] * len(answers)
        return [
            Reading(answer.response, self._clock(), self._instance, one)
            for answer, one in zip(answers, found, strict=True)
        ]

    def _take_some(self, members: Sequence[_Member]) -> None:
        entries: dict[int, dict[bytes, ParsedEntry]] = {}
        for one in members:
            with _blamed(one):
                if self._is_another(one):
                    entries[one.feed.id] = identity.recognised(self._database, one.feed, one.document)
        others = [one for one in members if one.feed.id in entries]
        if others:
            with _blamed(*others):
                self._take_others(others, entries)

    def _take_others(self, members: Sequence[_Member], entries: Mapping[int, Mapping[bytes, ParsedEntry]]) -> None:
        """Documents that are others than before. entries: of each, by feed id."""
        with self._database.reading() as db:
            met = entry_intake.met(db, entries)
            owners = users.some(db, {one.feed.user_id for one in members})
        brought: list[tuple[_Member, Brought]] = []
        size = 0
        for one in members:
            user = owners.get(one.feed.user_id)
            if user is None:
                continue
            with _blamed(one):
                brought.append((one, self._bring(one, user, entries[one.feed.id], met[one.feed.id])))
                size += brought[-1][1].selection.size
            if size > MOST_BYTES:
                self._write(brought)
                brought, size = [], 0
        self._write(brought)

    def _is_another(self, one: _Member) -> bool:
        """Whether the document is another than what the feed had; if not, that is noted."""
        response, this = one.answer.response, one.answer.round
        intake.ensure_not_another(self._database, one.feed, response)
        if intake.is_unchanged(one.feed, response):
            this.results.append(Result(one.feed, this.as_before(one.feed, response)))
            return False
        return True

    def _bring(self, one: _Member, user: User, entries: Mapping[bytes, ParsedEntry], met: Met) -> Brought:
        crawled = one.answer.crawled.get(one.feed.id)
        found = one.reading.with_known(intake.told_apart(one.feed, entries, met))
        brought = intake.bring(
            user,
            one.feed,
            one.answer.response,
            one.document,
            found,
            how=one.reading.preparing,
            articles=crawled.articles if crawled else None,
            source=one.answer.round.held,
            timing=one.answer.round.timing,
            now=self._clock(),
        )
        return one.reading.with_pieces(brought, found)

    def _write(self, brought: Sequence[tuple[_Member, Brought]]) -> None:
        if not brought:
            return
        outcomes = written_together(self._database, store, [what for _, what in brought])
        for (one, what), outcome in zip(brought, outcomes, strict=True):
            with _blamed(one):
                if isinstance(outcome, Exception):
                    raise outcome
                one.answer.round.stored[one.feed.id] = outcome
                if not outcome.lost:
                    intake.tell_complaints(one.feed.id, what.selection.complaints)


def _batches(members: Iterable[_Member]) -> Iterator[list[_Member]]:
    """So many as are written together; no feed is twice in one."""
    batch: dict[int, _Member] = {}
    for one in members:
        if len(batch) == MOST_FEEDS or one.feed.id in batch:
            yield list(batch.values())
            batch = {}
        batch[one.feed.id] = one
    yield list(batch.values())


@contextmanager
def _blamed(*members: _Member) -> Iterator[None]:
    """What goes wrong in here is those feeds', in these checks."""
    try:
        yield
    except TidingsError as error:
        _fail(members, error)
    except Exception as error:
        log.exception("feed made us fail", feed=members[0].feed.id, feeds=len(members))
        # Shown on the feed: what it is has gone to the log.
        ours = InvalidInput(
            f"Tidings failed on this feed ({type(error).__name__}); please report it with the feed's address."
        )
        _fail(members, ours)


def _fail(members: Iterable[_Member], error: TidingsError) -> None:
    for one in members:
        one.answer.round.failed[one.feed.id] = error


def _seen(answer: Answer, reading: Reading) -> Seen:
    document = next((one.document for one in answer.crawled.values()), None) or reading.document
    claim = answer.round.claim
    return Seen(claim.lead, answer.response, document, answer.round.had_news, claim.has_hub)
