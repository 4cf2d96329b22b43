"""Messages about new entries, sent by Apprise in a process of its own (`tidings.notifier`)."""

from __future__ import annotations

import threading
import time

import msgspec

from tidings.domain.errors import InvalidInput
from tidings.domain.events import NEW_ENTRIES, Event
from tidings.domain.integrations import Refused
from tidings.domain.integrations.asking import Unsendable
from tidings.domain.integrations.leaves import apprise
from tidings.domain.integrations.notices import Errand, Problem, Report, notice
from tidings.net.guard import AddressGuard
from tidings.services.processes import Helpers, Lost
from tidings.storage import feeds
from tidings.storage.database import Database

# Less than a delivery has in all, so that its end is ours to tell.
PATIENCE_S = 9.0
# A machine that is busy takes a while to start a process.
CHECKING_S = 30.0
AT_ONCE = 4
MOST_URLS = 20
MOST_REMEMBERED = 1_000
LONGEST_TEXT = 2_000

_decoder = msgspec.msgpack.Decoder(Report)


class Notifications:
    """guard: of what integrations may reach; the process gets the same."""

    def __init__(self, database: Database, *, guard: AddressGuard, patience_s: float = PATIENCE_S) -> None:
        self._database = database
        self._helpers = Helpers("tidings.notifier", ["1" if guard.allow_private_networks else "0", guard.setting])
        self._places = threading.BoundedSemaphore(AT_ONCE)
        self._patience_s = patience_s
        # By delivery, of those that did not reach all: a message does not come twice because another service is down.
        # Whoever starts anew has forgotten it, and then it may.
        self._reached: dict[str, list[str]] = {}

    def check(self, urls: str, *, field: str) -> None:
        """InvalidInput for addresses of services that could never be sent to."""
        found = apprise.service_urls(urls)
        if len(found) > MOST_URLS:
            raise InvalidInput(f"{field}: {MOST_URLS} service URLs at most.", field=field)
        if not found:
            return
        try:
            problems = self._ask(Errand(found, only_check=True), CHECKING_S)
        except Lost as error:
            raise InvalidInput(f"{field}: these could not be checked just now; try again.", field=field) from error
        if problems:
            raise InvalidInput(f"{field}: {' '.join(map(str, problems))}", field=field)

    def send(self, settings: apprise.Settings, event: Event) -> None:
        """Refused when a service did not take it. To be called in a thread: it takes as long as it takes."""
        urls = self._urls(settings, event)
        if not urls:
            raise Unsendable("There are no service URLs to send to: set some.")
        left = [url for url in urls if url not in self._reached.get(event.delivery_id, ())]
        try:
            problems = self._ask(_errand(left, event), self._patience_s)
        except Lost as error:
            raise Refused(f"{apprise.TITLE} did not finish within {self._patience_s:g} seconds.") from error
        failed = {left[problem.number - 1] for problem in problems}
        self._remember(event.delivery_id, [url for url in urls if url not in failed] if failed else [])
        if problems:
            where = (msgspec.structs.replace(one, number=urls.index(left[one.number - 1]) + 1) for one in problems)
            raise Refused(" ".join(map(str, where)))

    def close(self) -> None:
        """Ends every process. Repeating it is harmless."""
        self._helpers.close()

    def _ask(self, errand: Errand, patience_s: float) -> list[Problem]:
        """Lost when it took too long, waiting for a place included: nothing is sent after somebody has given it up."""
        until = time.monotonic() + patience_s
        if not self._places.acquire(timeout=patience_s / 2):
            raise Lost("other messages took all the time")
        try:
            left_s = until - time.monotonic()
            return _decoder.decode(self._helpers.ask(msgspec.msgpack.encode(errand), patience_s=left_s)).problems
        finally:
            self._places.release()

    def _remember(self, delivery_id: str, reached: list[str]) -> None:
        self._reached.pop(delivery_id, None)
        if reached:
            self._reached[delivery_id] = reached
            while len(self._reached) > MOST_REMEMBERED:
                self._reached.pop(next(iter(self._reached)), None)

    def _urls(self, settings: apprise.Settings, event: Event) -> list[str]:
        """Of the feed, if it has some of its own: as they are now, and not when the event happened."""
        if event.receiver.startswith("feed "):
            told = event.news.feed
            with self._database.reading() as db:
                feed = feeds.get(db, told.user_id, told.id)
            if feed is not None and feed.apprise_service_urls.strip():
                return apprise.service_urls(feed.apprise_service_urls)
        return apprise.service_urls(settings.urls)


def _errand(urls: list[str], event: Event) -> Errand:
    if event.type != NEW_ENTRIES:
        entry = event.entry
        return Errand(urls, entry.feed.title if entry.feed else "", entry.title, entry.url)
    told = notice(event.news, longest=LONGEST_TEXT, with_addresses=True)
    one = len(event.news.entries) == 1
    return Errand(urls, told.title, told.text, "" if one else told.url)
