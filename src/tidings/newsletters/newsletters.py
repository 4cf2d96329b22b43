"""The use cases of newsletters: addresses and senders of a user, and the letters that arrive.

message ─► address by its secret ─► read (`content.letters`) ─► known? ─► sender, blocked? ─► its feed
    ─► filter, rewrite, clean ─► store as any entry of a feed (`services.polling.store`)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import structlog
from msgspec import Struct
from msgspec.structs import replace

from tidings import metrics
from tidings.base.errors import InvalidField, InvalidInput, NotFound, TidingsError
from tidings.base.messages import Message, msg
from tidings.base.times import DAY, HOUR, Instant
from tidings.content.letters import Letter, LetterUnreadable, raw_letter, read_letter
from tidings.domain.accounts.users import User
from tidings.domain.errors import AccountFull
from tidings.domain.feeds.feeds import NEWSLETTERS_URL, Feed
from tidings.domain.polling.changes import FeedUpdate
from tidings.domain.polling.entry_policy import InstanceSettings
from tidings.engine.database import Database, Read, Write
from tidings.newsletters import model, store
from tidings.newsletters.model import Delivery, LetterTarget, NewsletterAddress, NewsletterFeed, NewsletterSender
from tidings.services.clock import Clock
from tidings.services.concurrent_changes import repeat_if_concurrent
from tidings.services.feeds.categories import owned_category
from tidings.services.listeners import Listeners
from tidings.services.polling.decide import after_push
from tidings.services.polling.run import EntryPreparer
from tidings.services.polling.store import find_changes, store_updates
from tidings.services.rule_log import log_rule_errors
from tidings.storage.accounts import users
from tidings.storage.feeds import categories, feeds

log = structlog.get_logger()

# How long a letter is remembered, so that a copy of it is recognised.
REMEMBERED_FOR: Final = 400 * DAY


# Writes what belongs to the transaction that stores a letter.
Record = Callable[[Write], None]


def no_record(_db: Write) -> None:
    """Does nothing."""


class TooManyLetters(TidingsError):
    """An address has received its limit of letters in this hour."""

    code = "too-many-letters"
    is_retryable = True

    def __init__(self) -> None:
        super().__init__(
            msg("This address has received {max} letters in this hour: try later.", max=model.MAX_LETTERS_PER_HOUR)
        )


class Received(Struct, frozen=True):
    """What became of a message."""

    delivery: Delivery
    feed_id: int | None = None
    entry_id: int | None = None


class _Destination(Struct, frozen=True):
    """Where a letter goes."""

    user: User
    sender_id: int
    feed: Feed | None
    """None if its sender is blocked."""


class Newsletters:
    def __init__(self, database: Database, clock: Clock, listeners: Listeners, *, instance: InstanceSettings) -> None:
        self._database = database
        self._clock = clock
        self._listeners = listeners
        self._instance = instance

    # Addresses

    def list_addresses(self, user_id: int) -> list[NewsletterAddress]:
        """Return the addresses of a user, the oldest first."""
        with self._database.reading() as db:
            return store.list_addresses(db, user_id)

    def create_address(
        self, user_id: int, name: str, *, is_one_feed: bool = False, category_id: int | None = None
    ) -> NewsletterAddress:
        """Make a secret address, and return it. Raises InvalidInput, and NotFound for an unknown category.

        is_one_feed: new senders share one feed. category_id: where new feeds go; None for the first category.
        """
        name = model.validate_name(name)
        with self._database.writing() as db:
            if category_id is not None:
                owned_category(db, user_id, category_id)
            if len(store.list_addresses(db, user_id)) >= model.MAX_ADDRESSES:
                raise InvalidInput(
                    msg("You have {max} addresses, which is the maximum: delete one first.", max=model.MAX_ADDRESSES)
                )
            values = {
                "name": name,
                "secret": model.new_secret(),
                "is_one_feed": is_one_feed,
                "category_id": category_id,
                "created_at": self._clock(),
            }
            address_id = store.add_address(db, user_id, values)
            return _owned_address(db, user_id, address_id)

    def get_address(self, user_id: int, address_id: int) -> NewsletterAddress:
        """Return an address of the user. Raises NotFound."""
        with self._database.reading() as db:
            return _owned_address(db, user_id, address_id)

    def delete_address(self, user_id: int, address_id: int) -> None:
        """Delete an address: nothing more arrives there. Its feeds stay. Raises NotFound."""
        with self._database.writing() as db:
            if not store.remove_address(db, user_id, address_id):
                raise _unknown_address(address_id)

    def address_of(self, secret: str) -> NewsletterAddress | None:
        """Return the address with a secret; None if there is none, or if it was deleted."""
        if not model.SECRET.fullmatch(secret):
            return None
        with self._database.reading() as db:
            return store.address_by_secret(db, secret)

    # Senders

    def list_senders(self, user_id: int) -> list[NewsletterSender]:
        """Return the senders of a user by name."""
        with self._database.reading() as db:
            return store.list_senders(db, user_id)

    def list_feeds(self, user_id: int) -> list[NewsletterFeed]:
        """Return the feeds of letters of a user by title."""
        with self._database.reading() as db:
            return store.list_feeds(db, user_id)

    def get_sender(self, user_id: int, sender_id: int) -> NewsletterSender:
        """Return a sender of the user. Raises NotFound."""
        with self._database.reading() as db:
            return _owned_sender(db, user_id, sender_id)

    def update_sender(
        self,
        user_id: int,
        sender_id: int,
        *,
        name: str | None = None,
        is_blocked: bool | None = None,
        feed_id: int | None = None,
        is_confirmed: bool | None = None,
    ) -> NewsletterSender:
        """Change a sender and return it; what is None stays. Raises NotFound and InvalidInput.

        name: the title of its own feed, too. feed_id: the feed of letters to which its letters go from now on.
        is_confirmed: True if there is nothing more to confirm.
        """
        values: dict[str, Any] = {}
        if name is not None:
            values["name"] = model.validate_name(name)
        if is_blocked is not None:
            values |= {"is_blocked": is_blocked, "discarded": 0}
        if is_confirmed:
            values |= {"confirmation_url": "", "confirmation_subject": ""}
        with self._database.writing() as db:
            known = _owned_sender(db, user_id, sender_id)
            if feed_id is not None:
                values["feed_id"] = feed_of_letters(db, user_id, feed_id).id
            store.change_sender(db, user_id, sender_id, **values)
            own = feeds.id_by_url(db, user_id, model.feed_url_of_sender(known.sender_key))
            if name is not None and own is not None:
                feeds.change(db, user_id, own, title=values["name"])
            return _owned_sender(db, user_id, sender_id)

    def record_unsubscription(self, user_id: int, sender_id: int) -> NewsletterSender:
        """Write that a sender has accepted a request to unsubscribe."""
        with self._database.writing() as db:
            store.change_sender(db, user_id, sender_id, unsubscribed_at=self._clock())
            return _owned_sender(db, user_id, sender_id)

    # Letters

    def receive(
        self, address: NewsletterAddress, raw: bytes, *, problem: Message | None = None, record: Record = no_record
    ) -> Received:
        """Store a message that was delivered at an address as an entry of its sender's feed.

        Raises TooManyLetters, and otherwise does as `store_letter`.
        """

        def count_and_store() -> Received:
            now = self._clock()
            repeat_if_concurrent(lambda: self._count(address, now))
            return self._store(address.target, raw, problem, record)

        return _measured(count_and_store)

    def store_letter(
        self, target: LetterTarget, raw: bytes, *, problem: Message | None = None, record: Record = no_record
    ) -> Received:
        """Store a message as an entry of its sender's feed, once for each Message-ID.

        One that cannot be read is stored as it came, with what is wrong. problem: what is known to be wrong; the
        message is not read then. record: writes what belongs to the same transaction, for repeated and blocked letters,
        too.
        Raises AccountFull, and InvalidInput if the user has no category for a new feed; nothing is stored then.
        """
        return _measured(lambda: self._store(target, raw, problem, record))

    def _store(self, target: LetterTarget, raw: bytes, problem: Message | None, record: Record) -> Received:
        now = self._clock()
        letter = _read(target, raw, problem, now)
        received = repeat_if_concurrent(lambda: self._deliver(target, letter, now, record))
        log.info(
            "letter received",
            address=target.address_id,
            user_id=target.user_id,
            delivery=received.delivery.value,
            feed=received.feed_id,
        )
        return received

    def _count(self, address: NewsletterAddress, now: Instant) -> None:
        """Count a letter of this hour. Raises TooManyLetters."""
        hour = now // HOUR
        with self._database.writing() as db:
            known = store.get_address(db, address.user_id, address.id)
            if known is None:
                raise _unknown_address(address.id)
            count = known.hour_letters + 1 if known.hour == hour else 1
            if count > model.MAX_LETTERS_PER_HOUR:
                raise TooManyLetters
            store.set_hour(db, known, hour, count)

    def _deliver(self, target: LetterTarget, letter: Letter, now: Instant, record: Record) -> Received:
        digest = model.letter_digest(letter)
        with self._database.writing() as db:
            if store.has_letter(db, target.user_id, digest):
                record(db)
                return Received(Delivery.REPEATED)
            destination = self._destination(db, target, letter, now)
            if destination.feed is None:
                record(db)
        if destination.feed is None:
            return Received(Delivery.BLOCKED)
        user, feed = destination.user, destination.feed
        with self._database.reading() as db:
            decided = find_changes(db, user, feed, model.as_document(letter), now=now)
        # A copy may have other pictures, or none: the first one stays.
        ready = EntryPreparer(self._instance).prepare(replace(decided, changed={}))
        dates = [entry.published_at for entry in ready.new.values()]
        ready = replace(ready, columns=after_push(feed, dates, now) | {"checked_at": now} if dates else {})
        with self._database.writing() as db:
            store.add_letter(db, user.id, digest, now)
            (result,) = store_updates(db, [ready], listeners=self._listeners)
            if target.address_id is not None:
                store.count_letter(db, user.id, target.address_id, now)
            store.count_of_sender(db, user.id, destination.sender_id)
            store.change_sender(db, user.id, destination.sender_id, **model.newest_columns(letter, now))
            record(db)
        log_rule_errors(feed.id, ready.rule_errors)
        return _received(decided, feed, result.new_ids)

    def _destination(self, db: Write, target: LetterTarget, letter: Letter, now: Instant) -> _Destination:
        """Return the sender and the feed of a letter, each made on first use."""
        user = users.get(db, target.user_id)
        if user is None:
            raise NotFound(msg("The user of this letter does not exist any more."))
        sender = self._sender(db, user.id, letter)
        if sender.is_blocked:
            store.count_discarded(db, user.id, sender.id, now)
            return _Destination(user, sender.id, None)
        self._listeners.ensure_room(db, user.id)
        feed = feeds.get(db, user.id, sender.feed_id) if sender.feed_id is not None else None
        if feed is None:
            feed = self._ensure_feed(db, user.id, target, sender, now)
            store.change_sender(db, user.id, sender.id, feed_id=feed.id)
        return _Destination(user, sender.id, feed)

    def _sender(self, db: Write, user_id: int, letter: Letter) -> NewsletterSender:
        key, name = model.sender_key(letter), model.sender_name(letter)
        if store.count_senders(db, user_id) >= model.MAX_SENDERS:
            # Whoever learns the address could invent senders without end.
            key, name = "from:", model.UNKNOWN_SENDER
        return _owned_sender(db, user_id, store.ensure_sender(db, user_id, key, name))

    def _ensure_feed(
        self, db: Write, user_id: int, target: LetterTarget, sender: NewsletterSender, now: Instant
    ) -> Feed:
        """Return the feed for a sender's letters. It is disabled, since nothing can be fetched from its address."""
        url, title = model.feed_url_of_sender(sender.sender_key), sender.name
        if target.is_one_feed:
            url, title = model.feed_url_of_address(target.name), target.name
        feed_id = feeds.id_by_url(db, user_id, url)
        if feed_id is None:
            self._listeners.ensure_feeds(db, user_id, 1)
            category_id = target.category_id or _first_category(db, user_id)
            times = {"created_at": now, "checked_at": now, "next_check_at": now, "icon_checked_at": now}
            feed_id = feeds.add(db, user_id, category_id=category_id, feed_url=url, title=title, disabled=True, **times)
        return feed_of_letters(db, user_id, feed_id)


def _measured(store_it: Callable[[], Received]) -> Received:
    """Count what became of a letter in the metrics."""
    try:
        received = store_it()
    except TidingsError as error:
        # A full account may have room later.
        is_final = isinstance(error, InvalidInput | NotFound) and not isinstance(error, AccountFull)
        metrics.record_letter("refused" if is_final else "put_off")
        raise
    metrics.record_letter(received.delivery.value)
    return received


def _read(target: LetterTarget, raw: bytes, problem: Message | None, now: Instant) -> Letter:
    if problem is None:
        try:
            return read_letter(raw, now=now)
        except LetterUnreadable as error:
            problem = error.text
    log.warning("letter not readable", address=target.address_id, user_id=target.user_id, reason=problem.english())
    return raw_letter(raw, problem.english(), now=now)


def forget_letters(db: Write, now: Instant, limit: int) -> int:
    """Forget letters whose copies do not come any more. Returns how many."""
    return store.remove_old_letters(db, Instant(now - REMEMBERED_FOR), limit)


def _received(decided: FeedUpdate[Any], feed: Feed, new_ids: Any) -> Received:
    if new_ids:
        return Received(Delivery.STORED, feed.id, new_ids[0])
    return Received(Delivery.FILTERED if decided.new else Delivery.REPEATED, feed.id)


def _first_category(db: Read, user_id: int) -> int:
    category = categories.first(db, user_id)
    if category is None:
        raise InvalidInput(msg("You have no category for the feeds of newsletters: create one first."))
    return category.id


def feed_of_letters(db: Read, user_id: int, feed_id: int) -> Feed:
    """Return a feed of letters of the user. Raises InvalidField for any other feed."""
    feed = feeds.get(db, user_id, feed_id)
    if feed is None or not feed.feed_url.startswith(NEWSLETTERS_URL):
        raise InvalidField("feed_id", msg("{id} is not one of your feeds of newsletters.", id=feed_id))
    return feed


def _owned_address(db: Read, user_id: int, address_id: int) -> NewsletterAddress:
    address = store.get_address(db, user_id, address_id)
    if address is None:
        raise _unknown_address(address_id)
    return address


def _owned_sender(db: Read, user_id: int, sender_id: int) -> NewsletterSender:
    sender = store.get_sender(db, user_id, sender_id)
    if sender is None:
        raise NotFound(msg("There is no sender {id}.", id=sender_id))
    return sender


def _unknown_address(address_id: int) -> NotFound:
    return NotFound(msg("There is no newsletter address {id}.", id=address_id))
