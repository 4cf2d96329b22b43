"""Passes changes on to the streams of this process: one connection, one thread and one read for all of them.

commit of any process ─► wakes the thread ─► whose numbers moved? ─► rows of the log ─► what they say ─► streams
                         PostgreSQL: NOTIFY   one statement for       one read for        once for all
                         SQLite: polled       all streams             each user           of a position
                         PgBouncer: polled

The wake-up says only that something may have happened: what has happened is in the log. So nothing is lost when one is,
and a stream that resumes takes the same way.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import asynccontextmanager
from typing import Final

import msgspec
import structlog

from tidings.base.errors import StoreUnavailable
from tidings.base.messages import msg
from tidings.domain.accounts.users import User
from tidings.engine.database import Database, Read
from tidings.engine.notify import CHANGES, Listener
from tidings.http.event_stream import Stream, TooManyStreams, event
from tidings.live import positions
from tidings.live.changes import described
from tidings.services.accounts import grants
from tidings.services.accounts.grants import Grant
from tidings.services.clock import Clock
from tidings.storage.accounts import change_log, users
from tidings.storage.accounts.change_log import LoggedChange, Point

log = structlog.get_logger()

# Streams of one user in one process; a browser has one, and so has an app.
MAX_STREAMS_OF_USER: Final = 20
# Streams of one process. Each holds one of its connections.
MAX_STREAMS: Final = 5_000
# Rows of the log that are put into one event. A client that lacks more has been away for long: it asks /v1/sync.
MAX_ROWS: Final = 2_000
# What follows within this time after an event is one event.
GATHER_S: Final = 0.05
# How often to look without a wake-up: for one that was lost, and where none arrives.
LOOK_EVERY_S: Final = 5.0
LOOK_EVERY_POOLED_S: Final = 1.0
# How often keys, sessions and passwords are asked for, besides before each event.
CHECK_EVERY_S: Final = 10.0
# The thread and its connection stay for this long after the last stream: a page that follows another one opens one.
LINGER_S: Final = 30.0


class Subscription:
    """A stream of a user. point: of the last event it was sent; None until it has begun."""

    def __init__(self, stream: Stream, grant: Grant, loop: asyncio.AbstractEventLoop, point: Point | None) -> None:
        self.stream = stream
        self.grant = grant
        self.point = point
        self.has_begun = False
        self._loop = loop

    @property
    def user_id(self) -> int:
        return self.grant.user_id

    def push(self, chunk: bytes) -> None:
        """Send an event. Called in any thread."""
        self._loop.call_soon_threadsafe(self.stream.push, chunk)

    def end(self) -> None:
        """End the stream. Called in any thread."""
        self._loop.call_soon_threadsafe(self.stream.end)


class Hub:
    """The streams of this process."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        # Held while events are made, so that each stream gets them once and in their order.
        self._lock = threading.Lock()
        self._subscriptions: set[Subscription] = set()
        self._counts: Counter[int] = Counter()
        self._thread: threading.Thread | None = None
        self._listener: Listener | None = None

    def ensure_room(self, user_id: int) -> None:
        """Raise TooManyStreams if a user may not have one more."""
        if self._counts[user_id] >= MAX_STREAMS_OF_USER:
            raise TooManyStreams(
                msg("You have {count} streams of events already: close one of them.", count=MAX_STREAMS_OF_USER)
            )
        if len(self._subscriptions) >= MAX_STREAMS:
            raise TooManyStreams(msg("There are too many streams of events at the moment. Try again later."))

    @asynccontextmanager
    async def subscribed(self, stream: Stream, grant: Grant, since: Point | None) -> AsyncIterator[None]:
        """Push events into a stream as long as the context lasts. since: what the client has; None for what is now."""
        subscription = Subscription(stream, grant, asyncio.get_running_loop(), since)
        self._subscriptions.add(subscription)
        self._counts[grant.user_id] += 1
        try:
            try:
                await asyncio.to_thread(self._begin, subscription)
            except StoreUnavailable:
                # The client comes back after some seconds.
                stream.end()
            yield
        finally:
            self._subscriptions.discard(subscription)
            self._counts[grant.user_id] -= 1
            if not self._counts[grant.user_id]:
                del self._counts[grant.user_id]

    def close(self) -> None:
        """End the thread, which takes up to a second. Streams are ended by the server."""
        with self._lock:
            if self._listener is not None:
                self._listener.close()
            thread = self._thread
        if thread is not None:
            thread.join()

    def _begin(self, subscription: Subscription) -> None:
        """Send what has happened since the position of the client."""
        with self._lock:
            self._ensure_thread()
            with self._database.reading() as db:
                subscription.grant = grants.with_password(db, subscription.grant)
                user = users.get(db, subscription.user_id)
                last = change_log.last_point(db, subscription.user_id)
                if user is None or last is None:
                    subscription.end()
                    return
                if subscription.point is None:
                    subscription.point = last
                else:
                    self._send(db, user, [subscription])
            assert subscription.point is not None
            subscription.push(event("ready", b"{}", positions.encode(subscription.point, user.id)))
            subscription.has_begun = True

    def _ensure_thread(self) -> None:
        if self._thread is None:
            self._listener = Listener(self._database, CHANGES)
            self._thread = threading.Thread(target=self._run, args=(self._listener,), name="live", daemon=True)
            self._thread.start()

    def _run(self, listener: Listener) -> None:
        used_at = looked_at = checked_at = time.monotonic()
        while not listener.is_closed:
            is_woken = listener.wait()
            now = time.monotonic()
            if self._subscriptions:
                used_at = now
            elif now - used_at > LINGER_S and self._rest():
                break
            look_every_s = LOOK_EVERY_POOLED_S if listener.is_deaf else LOOK_EVERY_S
            is_check = now - checked_at >= CHECK_EVERY_S
            if not self._subscriptions or not (is_woken or is_check or now - looked_at >= look_every_s):
                continue
            looked_at = now
            checked_at = now if is_check else checked_at
            try:
                self._look(checks_all=is_check)
            except StoreUnavailable:
                pass  # Logged where it is raised; nothing is lost, since the log still has it.
            except Exception:
                # Without this thread, streams would be open and silent.
                log.exception("changes could not be passed on")
            listener.pause(GATHER_S)
        listener.disconnect()

    def _rest(self) -> bool:
        """Give up the thread. Returns False if it is needed again."""
        with self._lock:
            if self._subscriptions:
                return False
            self._thread = self._listener = None
            return True

    def _look(self, *, checks_all: bool) -> None:
        """Send events to all streams whose users' logs have more, and end those that may not go on."""
        with self._lock, self._database.reading() as db:
            by_user: defaultdict[int, list[Subscription]] = defaultdict(list)
            for one in [*self._subscriptions]:
                if one.has_begun and not one.stream.has_ended:
                    by_user[one.user_id].append(one)
            numbers = change_log.last_numbers(db, by_user)
            moved = {
                user_id: subscriptions
                for user_id, subscriptions in by_user.items()
                if any(one.point is None or one.point.number != numbers.get(user_id) for one in subscriptions)
            }
            valid = self._end_invalid(db, (by_user if checks_all else moved).values())
            found = users.get_many(db, moved)
            for user_id, subscriptions in moved.items():
                if user_id in found:
                    self._send(db, found[user_id], [one for one in subscriptions if one.grant in valid])

    def _end_invalid(self, db: Read, groups: Iterable[Collection[Subscription]]) -> set[Grant]:
        """End the streams of what would not be let in any more. Returns what would."""
        subscriptions = [one for group in groups for one in group]
        valid = grants.still_valid(db, {one.grant for one in subscriptions}, self._clock())
        for one in subscriptions:
            if one.grant not in valid:
                one.end()
        return valid

    def _send(self, db: Read, user: User, subscriptions: Collection[Subscription]) -> None:
        """Send a user's changes to the streams that lack them: one read of the log, and one event for each position."""
        points = {one.point for one in subscriptions if one.point is not None}
        if not points:
            return
        rows = change_log.rows(db, user.id, min(point.number for point in points), limit=MAX_ROWS + 1)
        sent = {point: _event_after(db, user, point, rows) for point in points}
        for one in subscriptions:
            assert one.point is not None
            chunk, point = sent[one.point]
            if chunk:
                one.push(chunk)
            one.point = point


def _event_after(db: Read, user: User, point: Point, rows: list[LoggedChange]) -> tuple[bytes, Point]:
    """Return the event of what happened after a point, b"" for nothing, and the point that the client then has."""
    place = next((place for place, row in enumerate(rows) if row.point == point), None)
    if place is None or len(rows) > MAX_ROWS:
        # It is not known any more, or it is too much.
        last = change_log.last_point(db, user.id)
        assert last is not None
        return event("reset", b"{}", positions.encode(last, user.id)), last
    after = rows[place + 1 :]
    if not after:
        return b"", point
    last, data = after[-1].point, msgspec.json.encode(described(db, user, after))
    return event("changes", data, positions.encode(last, user.id)), last
