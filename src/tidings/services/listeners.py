"""How the core tells slices what happened, without importing them.

A slice registers its listeners in `wiring`. Unless a member says otherwise, they are called in the order of
registration inside the transaction of the change: what a listener writes is stored together with the change or not at
all, and an exception of a listener rolls both back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

import msgspec
from msgspec import Struct

from tidings.base.messages import Message
from tidings.base.times import Instant
from tidings.content.discovery import FeedCandidate
from tidings.content.model import FeedFormat, ParsedFeed
from tidings.domain.accounts.events import AccountEvent, Method
from tidings.domain.accounts.sessions import Session
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Entry, EntryStatus, ReadyEntry
from tidings.domain.entries.saved_views import SavedView
from tidings.domain.entries.state_changes import AppliedChanges
from tidings.domain.errors import AccountFull
from tidings.domain.feeds.feeds import Feed
from tidings.engine.database import Read, Write
from tidings.net.fetch import FetchRequest, FetchResponse
from tidings.storage.accounts import users


class AccountRoom(Struct, eq=False):
    """How much more an account may have. One transaction takes everything that it stores for the account from it."""

    entries: int | None = None
    """How many more entries; None without a limit."""
    size_bytes: int | None = None
    """How much more their articles may take; None without a limit. The last one may be larger."""
    no_entries: AccountFull | None = None
    """What to say when the first limit is reached."""
    no_size: AccountFull | None = None

    @property
    def problem(self) -> AccountFull | None:
        """Why nothing else fits in; None while something does."""
        if self.entries is not None and self.entries <= 0:
            return self.no_entries
        if self.size_bytes is not None and self.size_bytes <= 0:
            return self.no_size
        return None

    def take(self, size_bytes: int) -> bool:
        """Take the place of one entry. Returns False, and takes nothing, if there is none."""
        if self.problem is not None:
            return False
        if self.entries is not None:
            self.entries -= 1
        if self.size_bytes is not None:
            self.size_bytes -= size_bytes
        return True


class ArrivingEntries(Struct, eq=False, kw_only=True):
    """Entries of one feed that are about to be stored. Listeners decide what becomes of them."""

    user: User
    feed: Feed
    """The feed as it was when its check began."""
    category_id: int
    """The feed's category now."""
    now: Instant
    new: dict[bytes, ReadyEntry]
    """By hash, the oldest first. A listener may put an entry with another status or star in the place of one."""
    changed: Mapping[int, ReadyEntry] = {}
    """What the publisher made of stored entries, by id. Their status and star are not those of the stored ones."""
    is_news: bool = True
    """False for the entries of a feed that was just added: the user is not told of them."""
    dropped: set[bytes] = msgspec.field(default_factory=set)
    """Hashes of entries that are not stored, as if the user had deleted them."""
    left_out: int = 0
    """How many new entries are not stored now, because the account has no room for them."""
    ids: dict[bytes, int] = msgspec.field(default_factory=dict)
    """The ids of the new entries by hash, once they are stored."""

    def drop(self, hash_: bytes) -> None:
        """Keep a new entry from being stored, now and when the document has it again."""
        del self.new[hash_]
        self.dropped.add(hash_)

    def fit_into(self, room: AccountRoom) -> None:
        """Leave out the oldest new entries that the account has no room for."""
        fitting = {hash_ for hash_ in reversed(self.new) if room.take(len(self.new[hash_].content))}
        self.left_out = len(self.new) - len(fitting)
        if self.left_out:
            self.new = {hash_: entry for hash_, entry in self.new.items() if hash_ in fitting}

    @property
    def stored(self) -> StoredEntries:
        """The new entries, once they are stored."""
        unread = [id_ for hash_, id_ in self.ids.items() if self.new[hash_].status is EntryStatus.UNREAD]
        return StoredEntries(self.user, self.feed, list(self.ids.values()), self.now, unread)


# What a listener does when the entries are stored, in the same transaction.
Completion: TypeAlias = Callable[[Write], None]


class StoredEntries(Struct, frozen=True):
    """New entries of one feed, which a check has just stored."""

    user: User
    feed: Feed
    """The feed as it was when its check began."""
    entry_ids: Sequence[int]
    now: Instant
    unread_ids: Sequence[int]
    """Those that arrived unread: only these are announced."""


class CheckedDocument(Struct, frozen=True):
    """The document of a source after a check."""

    feed: Feed
    """Any feed of the source."""
    response: FetchResponse
    document: ParsedFeed | None = None
    """None if it has not changed and was not parsed."""
    has_news: bool = False
    """The check stored new entries, which no hub had pushed."""
    has_hub: bool = True
    """The document may have offered a hub before."""


class CleanupTask(Struct, frozen=True):
    """Rows of a slice that are no longer needed, which the cleanup removes."""

    what: str
    """Their kind in plural, as reports and metrics name it."""
    remove: Callable[[Write, Instant, int], int]
    """Called with the current time and a limit; returns how many rows it removed."""


class KeptQuery(Struct, frozen=True):
    """A query that a slice keeps for a user."""

    owner: Message
    """What has the query, as part of a sentence: the view Rain."""
    query: str
    label_ids: tuple[int, ...] = ()
    """Labels that the owner gives to entries that match."""
    feed_id: int | None = None
    """The feed to whose entries the owner is limited."""
    category_id: int | None = None
    """The category to whose entries the owner is limited."""


class OfferedFeed(Struct, frozen=True):
    """A feed that a slice knows for a page which has none itself."""

    url: str
    title: str
    type: FeedFormat


class EntrySaver(Protocol):
    """Saves single entries to other services, when a user asks for it or stars an entry."""

    def is_available(self, db: Read, user_id: int) -> bool:
        """Return whether the user has set up a service to save entries to."""

    def save(self, db: Write, user: User, entry: Entry, now: Instant) -> None:
        """Save an entry, as it is now."""


class Channel(StrEnum):
    """Where a rule sends entries."""

    NOTIFICATION = "notify"
    """The services of the user that notify of new entries, even of feeds of which they otherwise do not."""
    WEBHOOK = "webhook"


class RuleName(Struct, frozen=True):
    """The rule on whose behalf entries are sent."""

    id: int
    name: str


class EntryAnnouncer(Protocol):
    """Sends entries to other services because a rule says so."""

    def announce(self, db: Write, rule: RuleName, stored: StoredEntries, channel: Channel) -> None:
        """Send new entries of a feed, as they are now. Those of which a service hears anyway are not sent twice."""


class StateChangeKind(StrEnum):
    """What became of entries."""

    READ = "read"
    STARRED = "starred"


class ChangedStates(Struct, frozen=True):
    """Entries that a user has read, or starred. Imports, rules and the folding of duplicates are not told."""

    user_id: int
    change: StateChangeKind
    now: Instant
    entry_ids: Sequence[int] | None = None
    """None: all entries of the user that are read and were changed at exactly `now`."""


class FeedState(Struct, frozen=True):
    """A feed that begins to fail, or is well again."""

    feed: Feed
    """As it was when its check began."""
    is_failing: bool
    error: str
    """Why it fails, in English; empty if it does not."""
    is_disabled: bool
    """It is not checked any more because of that."""
    now: Instant


class DurationSource(Protocol):
    """Knows how long films and recordings last whose feeds do not say so."""

    def is_in(self, body: bytes) -> bool:
        """Return whether a document may have entries that it knows. Called for every document: a quick look."""

    async def minutes(self, feed: Feed, urls: Sequence[str], *, timeout_s: float) -> Mapping[str, int]:
        """Return whole minutes by the URL of an entry, without those that it does not find out in time.

        Called in the event loop, outside any transaction. Handles its own errors.
        """


class FinishedImport(Struct, frozen=True, kw_only=True):
    """An import of subscriptions or of an account that has ended."""

    user_id: int
    source: str
    """opml, or the source of an account: an archive, another service."""
    origin: str = ""
    """Name of the file, or host of the server; empty if it is not known."""
    error: str = ""
    """Why it failed, in English; empty if it did not."""
    new_feeds: int = 0
    known_feeds: int = 0
    new_entries: int = 0
    known_entries: int = 0
    problems: int = 0
    """How many things could not be imported."""


class SignInWay(Struct, frozen=True, kw_only=True):
    """A way of signing in that a slice offers on the sign-in page, besides the name and the password."""

    name: str
    """For templates and tests."""
    label: Message
    path: str
    """Called with the wanted page in `next`."""
    is_form: bool = False
    """The path takes a POST of a form, instead of a link that leads to it."""
    is_above: bool = False
    """It stands above the form with the password."""
    template: str = ""
    """A template of the slice that shows it, with the names `way` and `next`; empty for a link or a button."""


class AccountWay(Struct, frozen=True, kw_only=True):
    """A way in which a user can sign in to an account, without another one."""

    method: Method
    id: int = 0
    """Tells ways of one method apart."""
    name: str = ""
    """As the user knows it: the name of a passkey, of a provider."""


@dataclass(slots=True)
class Listeners:
    """All registered listeners."""

    account_events: list[Callable[[Write, AccountEvent], None]] = field(default_factory=list)
    """Refused sign-ins have a transaction of their own."""
    feed_limits: list[Callable[[Write, int, int], None]] = field(default_factory=list)
    """Called with a user and a number before so many feeds are added. Raise AccountFull to refuse them."""
    account_rooms: list[Callable[[Read, Collection[int]], Mapping[int, AccountRoom]]] = field(default_factory=list)
    """Return how much more these users may have; users without a limit are left out."""
    account_measures: list[Callable[[Write, int], None]] = field(default_factory=list)
    """Measure how much the articles of a user take, instead of adding up what arrives."""
    imported_sizes: list[Callable[[Write, int, int], None]] = field(default_factory=list)
    """Called with a user and the size of articles that were imported or saved: those do not arrive."""
    sign_in_ways: list[SignInWay] = field(default_factory=list)
    second_steps: list[Callable[[Read, User, Method], str | None]] = field(default_factory=list)
    """Return the path of the page that asks for a second step after this method; None if it lets in alone."""
    account_ways: list[Callable[[Read, User], Sequence[AccountWay]]] = field(default_factory=list)
    """Return the ways into an account that a slice keeps. The password is not one of them."""
    second_factor_removals: list[Callable[[Write, User], int]] = field(default_factory=list)
    """Remove the second factors of a user, and return their number."""
    sign_out_urls: list[Callable[[Session], Awaitable[str | None]]] = field(default_factory=list)
    """Return where a user has to go to be signed out where the session began, "" if that is not known; None if the
    session began in another way. Called before it ends, in the event loop, outside any transaction."""
    passwords_disabled: bool = False
    """Nobody signs in with the password of an account. A slice sets it when its services are built."""

    entries_arriving: list[Callable[[Write, Sequence[ArrivingEntries]], Completion | None]] = field(
        default_factory=list
    )
    """Called before a transaction stores new or changed entries, when it has locked their feeds' counters and nothing
    else. Imported and saved entries do not arrive. The result is called when they are stored, before `entries_stored`.
    """
    entries_stored: list[Callable[[Write, Sequence[StoredEntries]], None]] = field(default_factory=list)
    """Called once per transaction of checks, after all other writes; feeds without new entries are left out."""
    states_changed: list[Callable[[Write, Sequence[ChangedStates]], None]] = field(default_factory=list)
    """Called after a user, in pages, the API or an app, has read or starred entries that were not so before."""
    feeds_changed_state: list[Callable[[Write, Sequence[FeedState]], None]] = field(default_factory=list)
    """Called once when checks begin to fail, and once when one succeeds again, after other writes."""
    imports_finished: list[Callable[[Write, FinishedImport], None]] = field(default_factory=list)
    documents_checked: list[Callable[[Sequence[CheckedDocument]], None]] = field(default_factory=list)
    """Called after the transaction of a check. A listener opens its own transactions and handles its own errors."""
    savers: list[EntrySaver] = field(default_factory=list)
    announcers: list[EntryAnnouncer] = field(default_factory=list)
    duration_sources: list[DurationSource] = field(default_factory=list)
    """Asked for new and changed entries before they are prepared; what they know becomes the reading time."""
    hub_lookups: list[Callable[[Read, Collection[int], Instant], Mapping[int, bool]]] = field(default_factory=list)
    """Return, for sources that offer a hub, whether its pushes can be relied on."""
    feed_checks: list[Callable[[int, Mapping[str, Any]], None]] = field(default_factory=list)
    """Called with a user before columns of a feed are set, outside any transaction. Raise InvalidInput to refuse one of
    them."""
    page_feeds: list[Callable[[int, FetchRequest], Awaitable[Sequence[FeedCandidate]]]] = field(default_factory=list)
    """Called with a user and the request for a page, in the event loop, outside any transaction. Return its feeds if
    they are known without the page, which is then not fetched; else nothing. Raise FetchError."""
    feed_finders: list[Callable[[int, str], Awaitable[Sequence[OfferedFeed]]]] = field(default_factory=list)
    """Called with a user and the URL of a page on which no feed was found, in the event loop, outside any transaction.
    Return feeds for it. Raise FetchError if the slice cannot find out now."""
    saved_views: list[Callable[[Read, int], Sequence[SavedView]]] = field(default_factory=list)
    """Return the saved views of a user, in the order of the sidebar."""
    kept_queries: list[Callable[[Read, int], Sequence[KeptQuery]]] = field(default_factory=list)
    """Return the queries that a slice keeps for a user."""
    synced: dict[str, Callable[[Read, int], Sequence[Any]]] = field(default_factory=dict)
    """By kind, as clients that sync know it: return the objects of a user in their order, as they are sent. Each has an
    `id`."""
    cleanup_tasks: list[CleanupTask] = field(default_factory=list)
    """Called by the cleanup, each in transactions of its own."""

    def tell_account(self, db: Write, event: AccountEvent) -> None:
        """Tell what happened to an account."""
        for listener in self.account_events:
            listener(db, event)

    def ensure_feeds(self, db: Write, user_id: int, more: int) -> None:
        """Raise AccountFull if a user may not have this many more feeds, or no more entries."""
        for check in self.feed_limits if more else ():
            check(db, user_id, more)
        if more:
            self.ensure_room(db, user_id)

    def ensure_room(self, db: Read, user_id: int) -> None:
        """Raise AccountFull if a user may not have more entries."""
        for error in self.full(db, [user_id]).values():
            raise error

    def full(self, db: Read, user_ids: Collection[int]) -> dict[int, AccountFull]:
        """Return which of these users may not have more entries, and why."""
        rooms = self._rooms(db, user_ids)
        return {user_id: room.problem for user_id, room in rooms.items() if room.problem is not None}

    def lock_rooms(self, db: Write, user_ids: Collection[int], *, is_exact: bool = False) -> dict[int, AccountRoom]:
        """Return how much more users may have; users without a limit are left out.

        Until the transaction ends, no other one adds entries to an account that has a limit. Call it before anything
        else is locked. is_exact: measure the articles of an account that seems to be full.
        """
        limited = sorted(self._rooms(db, user_ids)) if user_ids else []
        for user_id in limited:
            users.lock(db, user_id)
        # Others may have added entries before the lock.
        rooms = self._rooms(db, limited) if limited else {}
        full = [user_id for user_id, room in rooms.items() if room.problem is not None]
        if not is_exact or not full:
            return rooms
        for user_id in full:
            for measure in self.account_measures:
                measure(db, user_id)
        return self._rooms(db, limited)

    def tell_imported(self, db: Write, user_id: int, size_bytes: int) -> None:
        """Tell the size of articles that were imported or saved."""
        for listener in self.imported_sizes if size_bytes else ():
            listener(db, user_id, size_bytes)

    def _rooms(self, db: Read, user_ids: Collection[int]) -> dict[int, AccountRoom]:
        return {user_id: room for ask in self.account_rooms for user_id, room in ask(db, user_ids).items()}

    def second_step(self, db: Read, user: User, method: Method) -> str | None:
        """Return the path of the page that asks for a second step after this method; None if it lets in alone."""
        return next((path for ask in self.second_steps if (path := ask(db, user, method))), None)

    def tell_entries_arriving(self, db: Write, arriving: Sequence[ArrivingEntries]) -> list[Completion]:
        """Let listeners decide about entries that are about to be stored. Returns what to call afterwards."""
        about = [one for one in arriving if one.new or one.changed]
        completions = [listener(db, about) for listener in self.entries_arriving] if about else []
        return [completion for completion in completions if completion is not None]

    def tell_entries_stored(self, db: Write, stored: Sequence[StoredEntries]) -> None:
        """Tell that checks have stored new entries."""
        if stored:
            for listener in self.entries_stored:
                listener(db, stored)

    def tell_states(self, db: Write, applied: AppliedChanges, now: Instant) -> None:
        """Tell what users have read and starred."""
        kinds = ((StateChangeKind.READ, applied.read), (StateChangeKind.STARRED, applied.starred))
        changes = [
            ChangedStates(user_id, kind, now, ids) for kind, by_user in kinds for user_id, ids in by_user.items()
        ]
        for listener in self.states_changed if changes else ():
            listener(db, changes)

    def tell_marked_read(self, db: Write, user_id: int, count: int, now: Instant) -> None:
        """Tell that a user has marked a list read. count: how many entries. now: when they were last changed."""
        for listener in self.states_changed if count else ():
            listener(db, [ChangedStates(user_id, StateChangeKind.READ, now)])

    def tell_feed_states(self, db: Write, states: Sequence[FeedState]) -> None:
        """Tell which feeds begin to fail, or are well again."""
        for listener in self.feeds_changed_state if states else ():
            listener(db, states)

    def tell_import_finished(self, db: Write, result: FinishedImport) -> None:
        """Tell that an import has ended."""
        for listener in self.imports_finished:
            listener(db, result)

    def tell_documents_checked(self, documents: Sequence[CheckedDocument]) -> None:
        """Tell that documents were checked and what they led to is stored."""
        for listener in self.documents_checked:
            listener(documents)

    async def known_feeds(self, user_id: int, request: FetchRequest) -> Sequence[FeedCandidate]:
        """Return the feeds of a page that are known without it. Raises FetchError."""
        for look_up in self.page_feeds:
            if found := await look_up(user_id, request):
                return found
        return []

    def wants_durations(self, body: bytes) -> bool:
        """Return whether a document may have entries whose durations have to be looked up."""
        return any(source.is_in(body) for source in self.duration_sources)

    async def durations(self, feed: Feed, urls: Sequence[str], *, timeout_s: float) -> dict[str, int]:
        """Return the minutes that films and recordings last, by the URL of their entry, as far as they are known."""
        found: dict[str, int] = {}
        for source in self.duration_sources if urls else ():
            found |= await source.minutes(feed, urls, timeout_s=timeout_s)
        return found

    def check_feed(self, user_id: int, values: Mapping[str, Any]) -> None:
        """Raise InvalidInput if a slice refuses columns of a user's feed."""
        for check in self.feed_checks:
            check(user_id, values)

    def can_save(self, db: Read, user_id: int) -> bool:
        """Return whether there is a service to which the user can save entries."""
        return any(saver.is_available(db, user_id) for saver in self.savers)

    def save(self, db: Write, user: User, entry: Entry, now: Instant) -> None:
        """Save an entry to the user's services."""
        for saver in self.savers:
            saver.save(db, user, entry, now)

    def announce(self, db: Write, rule: RuleName, stored: StoredEntries, channel: Channel) -> None:
        """Send new entries of a feed to services of their user, because a rule says so."""
        for announcer in self.announcers:
            announcer.announce(db, rule, stored, channel)

    def views_of(self, db: Read, user_id: int) -> list[SavedView]:
        """Return the saved views of a user, in the order of the sidebar."""
        return [view for list_all in self.saved_views for view in list_all(db, user_id)]

    def queries_of(self, db: Read, user_id: int) -> list[KeptQuery]:
        """Return the queries that slices keep for a user."""
        return [kept for list_all in self.kept_queries for kept in list_all(db, user_id)]

    def hubs_of(self, db: Read, source_ids: Collection[int], now: Instant) -> dict[int, bool]:
        """Return, for sources that offer a hub, whether its pushes can be relied on."""
        return {
            source_id: is_pushed
            for look_up in self.hub_lookups
            for source_id, is_pushed in look_up(db, source_ids, now).items()
        }
