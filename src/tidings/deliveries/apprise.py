"""Notifications of new entries, sent by Apprise in a child process (`tidings.deliveries.apprise_process`)."""

from __future__ import annotations

import threading
import time

import msgspec

from tidings.base.errors import InvalidField
from tidings.base.messages import join_sentences, msg
from tidings.deliveries.events import NEW_ENTRIES, Event, FailureKind
from tidings.deliveries.notification_text import AppriseReport, AppriseRequest, UrlProblem, notification
from tidings.deliveries.provider import DeliveryRefused
from tidings.deliveries.providers import apprise
from tidings.deliveries.requests import Undeliverable
from tidings.engine.database import Database
from tidings.net.guard import AddressGuard
from tidings.services.worker_pool import WorkerDied, WorkerPool
from tidings.storage.feeds import feeds

# Below the timeout of a delivery, so that this one reports first.
SEND_TIMEOUT_S = 9.0
# Includes the start of a process on a busy machine.
CHECK_TIMEOUT_S = 30.0
MAX_CONCURRENT_REQUESTS = 4
MAX_URLS = 20
MAX_REMEMBERED_DELIVERIES = 1_000
MAX_TEXT_LENGTH = 2_000

_decoder = msgspec.msgpack.Decoder(AppriseReport)


class AppriseSender:
    """Sends notifications through Apprise in a child process.

    guard: the addresses that integrations may reach; the child process applies the same guard.
    """

    def __init__(self, database: Database, *, guard: AddressGuard, timeout_s: float = SEND_TIMEOUT_S) -> None:
        self._database = database
        self._pool = WorkerPool(
            "tidings.deliveries.apprise_process", ["1" if guard.allow_private_networks else "0", guard.setting]
        )
        self._slots = threading.BoundedSemaphore(MAX_CONCURRENT_REQUESTS)
        self._timeout_s = timeout_s
        # The service URLs that a delivery reached before another one failed, by delivery id: a retry skips them. After
        # a restart this is lost, and they may get the message twice.
        self._reached: dict[str, list[str]] = {}

    def check_urls(self, urls: str, *, field: str) -> None:
        """Raise InvalidInput if one of the service URLs cannot work."""
        services = apprise.service_urls(urls)
        if len(services) > MAX_URLS:
            raise InvalidField(field, msg("{max} service URLs at most.", max=MAX_URLS))
        if not services:
            return
        try:
            problems = self._request(AppriseRequest(services, only_check=True), CHECK_TIMEOUT_S)
        except WorkerDied as error:
            raise InvalidField(field, msg("these could not be checked just now; try again.")) from error
        if problems:
            raise InvalidField(field, join_sentences(*(problem.message for problem in problems)))

    def send(self, settings: apprise.Settings, event: Event) -> None:
        """Send an event to the services that have not received it yet. Blocks: call it in a thread.

        Raises DeliveryRefused if a service did not accept it, and Undeliverable if service URLs are missing.
        """
        urls = self._urls(settings, event)
        if not urls:
            raise Undeliverable(msg("There are no service URLs to send to: add some."))
        left = [url for url in urls if url not in self._reached.get(event.delivery_id, ())]
        try:
            problems = self._request(_apprise_request(left, event), self._timeout_s)
        except WorkerDied as error:
            raise DeliveryRefused(
                msg("{title} did not finish within {seconds} seconds.", title=apprise.TITLE, seconds=self._timeout_s),
                kind=FailureKind.TIMEOUT,
            ) from error
        failed = {left[problem.number - 1] for problem in problems}
        self._remember(event.delivery_id, [url for url in urls if url not in failed] if failed else [])
        if problems:
            # Number the problems by the user's list, not by the URLs of this attempt.
            numbered = (
                msgspec.structs.replace(problem, number=urls.index(left[problem.number - 1]) + 1)
                for problem in problems
            )
            is_unreachable = all(problem.is_unreachable for problem in problems)
            raise DeliveryRefused(
                join_sentences(*(problem.message for problem in numbered)),
                kind=FailureKind.RECEIVER if is_unreachable else FailureKind.EVENT,
            )

    def close(self) -> None:
        """End every process. Repeating it does nothing."""
        self._pool.close()

    def _request(self, request: AppriseRequest, timeout_s: float) -> list[UrlProblem]:
        """Run a request in a child process and return its problems.

        Raises WorkerDied at the timeout, which includes the wait for a slot: nothing is sent after it.
        """
        until = time.monotonic() + timeout_s
        if not self._slots.acquire(timeout=timeout_s / 2):
            raise WorkerDied("all slots are in use by other messages")
        try:
            left_s = until - time.monotonic()
            return _decoder.decode(self._pool.request(msgspec.msgpack.encode(request), timeout_s=left_s)).problems
        finally:
            self._slots.release()

    def _remember(self, delivery_id: str, reached: list[str]) -> None:
        self._reached.pop(delivery_id, None)
        if reached:
            self._reached[delivery_id] = reached
            while len(self._reached) > MAX_REMEMBERED_DELIVERIES:
                self._reached.pop(next(iter(self._reached)), None)

    def _urls(self, settings: apprise.Settings, event: Event) -> list[str]:
        """Return the feed's service URLs, or else the user's; as they are now, not as at the time of the event."""
        if event.receiver.startswith("feed "):
            payload = event.new_entries.feed
            with self._database.reading() as db:
                feed = feeds.get(db, payload.user_id, payload.id)
            if feed is not None and feed.apprise_service_urls.strip():
                return apprise.service_urls(feed.apprise_service_urls)
        return apprise.service_urls(settings.urls)


def _apprise_request(urls: list[str], event: Event) -> AppriseRequest:
    if event.type != NEW_ENTRIES:
        entry = event.saved_entry
        return AppriseRequest(urls, entry.feed.title if entry.feed else "", entry.title, entry.url)
    content = notification(event.new_entries, max_length=MAX_TEXT_LENGTH, with_urls=True)
    is_single = len(event.new_entries.entries) == 1
    return AppriseRequest(urls, content.title, content.text, "" if is_single else content.url)
