"""Creates, changes and deletes feeds. `services.polling` checks them."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import Struct, structs

from tidings.base.errors import InvalidField, InvalidInput, NotFound
from tidings.base.messages import msg
from tidings.content.articles import Article
from tidings.content.icons import usable_icon_url
from tidings.content.model import ParsedEntry, ParsedFeed
from tidings.domain.accounts.users import User
from tidings.domain.feeds import feed_changes
from tidings.domain.feeds.feeds import Feed, is_fetched
from tidings.domain.polling.changes import FeedUpdate, first_date, identify_entries, rehash_by_url
from tidings.domain.polling.check_times import Schedule
from tidings.domain.polling.entry_policy import DEFAULT_INSTANCE, InstanceSettings
from tidings.domain.polling.shared_sources import NO_VALIDATORS, SHARED_OPTIONS, feed_fetch_key, fetch_key
from tidings.engine.database import Database, Read, Write
from tidings.net.errors import EmptyBody
from tidings.net.fetch import FetchRequest, FetchResponse
from tidings.services.clock import Clock
from tidings.services.concurrent_changes import repeat_if_concurrent
from tidings.services.feeds.icons import Icons
from tidings.services.feeds.recent_documents import RecentDocuments
from tidings.services.listeners import ArrivingEntries, CheckedDocument, Listeners
from tidings.services.polling.decide import after_interval_change, document_columns, first_columns
from tidings.services.polling.full_content import USER_TIMEOUT_S, FullContent
from tidings.services.polling.page_reader import PageReader
from tidings.services.polling.run import EntryPreparer, parse
from tidings.services.polling.store import add_arriving, left_out_columns
from tidings.services.publisher_requests import PoliteFetcher, may_move, options_after_move
from tidings.services.rule_log import log_rule_errors
from tidings.storage.entries import counters, duplicates, entries
from tidings.storage.feeds import categories, feeds, further_categories, own_bridges
from tidings.storage.polling import entry_writes

# Maximum number of categories that a feed is in.
MAX_CATEGORIES: Final = 100

_FETCH_FIELDS = (
    "user_agent",
    "cookie",
    "username",
    "password",
    "allow_self_signed_certificates",
    "proxy_url",
    "fetch_via_proxy",
    "fetch_via_flaresolverr",
)
_FILTERS = ("blocklist_rules", "keeplist_rules", "block_filter_entry_rules", "keep_filter_entry_rules")


class SubscriptionExists(InvalidInput):
    """The user already has this feed.

    feed_id: the existing subscription. Apps compare the message (docs/api.md).
    """

    code = "feed-exists"

    def __init__(self, feed_id: int) -> None:
        super().__init__(msg("This feed already exists."), field="feed_url")
        self.feed_id = feed_id


class _NewFeed(Struct, frozen=True):
    """A feed to be stored."""

    values: dict[str, Any]
    """Its columns."""
    feed: Feed
    document: ParsedFeed
    entries: dict[bytes, ParsedEntry]
    """By hash, the oldest first."""
    further: tuple[int, ...]
    """Its categories after the first."""


class Feeds:
    """Subscribes a user to feeds, and changes, deletes and marks them read.

    recent: documents that discovery fetched, which are not fetched again.
    """

    def __init__(
        self,
        database: Database,
        fetcher: PoliteFetcher,
        clock: Clock,
        *,
        recent: RecentDocuments,
        icons: Icons,
        full_content: FullContent,
        pages: PageReader,
        listeners: Listeners,
        schedule: Schedule,
        instance: InstanceSettings = DEFAULT_INSTANCE,
    ) -> None:
        self._instance = instance
        self._database = database
        self._fetcher = fetcher
        self._clock = clock
        self._recent = recent
        self._icons = icons
        self._full_content = full_content
        self._pages = pages
        self._listeners = listeners
        self._schedule = schedule

    async def create(self, user: User, fields: Mapping[str, Any]) -> int:
        """Fetch a feed, store it with its entries as unread, and return its id.

        fields: fields of the API. Raises InvalidInput for invalid fields and for a document that is not a feed, and
        FetchError if it cannot be fetched.
        """
        values, further = await asyncio.to_thread(self._checked_new, user.id, fields)
        options = {name: values[name] for name in _FETCH_FIELDS if name in values}
        request = FetchRequest(url=values["feed_url"], bridges_of=user.id, **options)
        try:
            response = self._recent.take(user.id, request)
            response = response or await self._fetcher.get(request, [user.id], requested_by=user.id)
        except EmptyBody as error:
            raise InvalidInput(error.text, field="feed_url") from error
        page = None
        if values.get("kind"):
            page = (await self._pages.read(values["kind"], values["selectors"], response, self._clock())).feed
        new = await asyncio.to_thread(self._read, user, values, further, response, page)
        articles: Mapping[bytes, Article] = {}
        if new.feed.crawler:
            articles = await self._full_content.articles(user, new.feed, new.entries, timeout_s=USER_TIMEOUT_S)
        preparer = EntryPreparer(self._instance)
        if self._listeners.wants_durations(response.body):
            urls = list(dict.fromkeys(entry.url for entry in new.entries.values()))
            preparer.durations = await self._listeners.durations(new.feed, urls, timeout_s=USER_TIMEOUT_S)
        feed_id = await asyncio.to_thread(
            repeat_if_concurrent, lambda: self._store_new(user, new, response, articles, preparer)
        )
        await self._icons.update_new(user.id, feed_id)
        return feed_id

    def validate(self, user_id: int, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a user sets, as `feed_changes.validate`. Raises InvalidInput, even for what a slice refuses."""
        values = feed_changes.validate(fields)
        self._listeners.check_feed(user_id, values)
        return values

    def update(self, user_id: int, feed_id: int, fields: Mapping[str, Any]) -> None:
        """Change a feed. Any change clears its errors. Raises NotFound and InvalidInput.

        category_ids: all categories, the first one first. category_id alone changes the first, and keeps the others.
        A URL on another host clears the cookie, the credentials and the user agent that are not among the fields: they
        were given for the host before.
        """
        with self._database.reading() as db:
            owned_feed(db, user_id, feed_id)
        values = self.validate(user_id, fields)
        with self._database.writing() as db:
            counters.lock(db, user_id, [feed_id])
            feed = owned_feed(db, user_id, feed_id)
            further = _take_further(values)
            if "category_id" in values:
                _ensure_categories(db, user_id, [values["category_id"], *(further or ())])
            _ensure_fetched(feed, values)
            _ensure_one_way(feed, values)
            values = options_after_move(feed, values)
            if values.get("feed_url", feed.feed_url) != feed.feed_url:
                _ensure_new(db, user_id, values["feed_url"])
                values |= {"moved_to": "", "moved_times": 0}
                values |= {"next_check_at": self._clock(), "publisher_hints": "", "news_gap_s": 0, "news_at": None}
            elif values.get("check_interval_minutes", feed.check_interval_minutes) != feed.check_interval_minutes:
                values["next_check_at"] = after_interval_change(
                    feed,
                    values["check_interval_minutes"],
                    self._schedule,
                    self._clock(),
                    random_fraction=random.random(),  # noqa: S311 - nothing secret about it
                )
            values |= self._page_columns(feed, values)
            if _is_fetched_differently(feed, values):
                # The validators belong to another document; without them the next check reads the document, and its
                # hubs too.
                values |= NO_VALIDATORS
            if any(values.get(name, getattr(feed, name)) != getattr(feed, name) for name in _FILTERS):
                # The next check adds entries that the document has and that are not blocked any more.
                values |= NO_VALIDATORS
            if values.get("site_url", feed.site_url) != feed.site_url:
                values["icon_checked_at"] = None
            by_url = values.get("match_entries_by_url", feed.match_entries_by_url)
            if by_url != feed.match_entries_by_url:
                values |= _identified_by(db, feed, by_url=by_url)
            if values.get("disabled", feed.disabled) != feed.disabled:
                values["disabled_reason"] = ""
            values["edited"] = feed_changes.edited_fields(feed, values)
            values |= {
                "failed_checks": 0,
                "parsing_error_count": 0,
                "parsing_error_message": "",
                "parsing_error_form": "",
            }
            feeds.change(db, user_id, feed_id, **values)
            if further is not None:
                further_categories.set_all(db, user_id, {feed_id: further})

    def _page_columns(self, feed: Feed, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return what changes with the kind or the selectors of a feed. Raises InvalidField if they do not agree."""
        kind, selectors = values.get("kind", feed.kind), values.get("selectors", feed.selectors)
        if (kind, selectors) == (feed.kind, feed.selectors):
            return {}
        feed_changes.check_page(kind, selectors)
        return {"page_items": 0, "next_check_at": self._clock()}

    def delete(self, user_id: int, feed_id: int) -> None:
        """Delete a feed and its entries. Raises NotFound."""
        with self._database.writing() as db:
            duplicates.lock_for_deletion(db, user_id, [feed_id])
            duplicates.keep_folded(db, user_id, [feed_id])
            if not feeds.remove(db, user_id, feed_id):
                raise unknown_feed(feed_id)

    def mark_read(self, user_id: int, feed_id: int) -> int:
        """Mark entries read, except those dated in the future. Returns their number. Raises NotFound."""
        now = self._clock()
        with self._database.writing() as db:
            owned_feed(db, user_id, feed_id)
            count = entries.mark_read(db, user_id, feed_id=feed_id, published_before=now, for_app=True, now=now)
            self._listeners.tell_marked_read(db, user_id, count, now)
            return count

    def _checked_new(self, user_id: int, fields: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[int, ...]]:
        """Return the columns of a new feed, and its categories after the first."""
        if not fields.get("feed_url"):
            raise InvalidField("feed_url", msg("give the address of the feed."))
        values = self.validate(user_id, fields)
        feed_changes.check_page(values.get("kind", ""), values.get("selectors", ""))
        further = _take_further(values) or ()
        with self._database.reading() as db:
            values["category_id"] = _category_or_first(db, user_id, values.get("category_id") or 0)
            _ensure_categories(db, user_id, further)
            _ensure_new(db, user_id, values["feed_url"])
            (values["own_bridge"],) = own_bridges.are_fetched(db, user_id, [values])
        return values, further

    def _read(
        self,
        user: User,
        values: dict[str, Any],
        further: tuple[int, ...],
        response: FetchResponse,
        page: ParsedFeed | None,
    ) -> _NewFeed:
        """page: the document of a feed that is made from a page."""
        now = self._clock()
        document = page or parse(response, now)
        # Only a permanent redirect replaces the URL that the user typed; a temporary one may change.
        if response.permanent_url and may_move(values, response.permanent_url):
            values = values | {"feed_url": response.permanent_url}
        values |= _from_publisher(document, response, values["feed_url"])
        if page is not None:
            values |= {"page_items": len(page.entries)}
        values |= first_columns(
            response,
            document,
            self._schedule,
            now,
            random_fraction=random.random(),  # noqa: S311 - nothing secret about it
            user_interval_minutes=values.get("check_interval_minutes", 0),
        )
        columns = {name: value for name, value in values.items() if name in Feed.__struct_fields__}
        feed = Feed(id=0, user_id=user.id, **columns)
        return _NewFeed(
            values,
            feed,
            document,
            dict(reversed(identify_entries(feed, document).hashed_entries)),
            further,
        )

    def _store_new(
        self,
        user: User,
        new: _NewFeed,
        response: FetchResponse,
        articles: Mapping[bytes, Article],
        preparer: EntryPreparer,
    ) -> int:
        now, feed = self._clock(), new.feed
        undated_at = first_date(new.entries.values(), now)
        decided = FeedUpdate(user=user, feed=feed, now=now, undated_at=undated_at, new=new.entries)
        update = preparer.prepare(decided, articles=articles)
        with self._database.writing() as db:
            _ensure_categories(db, user.id, [feed.category_id, *new.further])
            self._listeners.ensure_feeds(db, user.id, 1)
            room = self._listeners.lock_rooms(db, [user.id]).get(user.id)
            for url in {feed.feed_url, response.url}:
                _ensure_new(db, user.id, url)
            arriving = ArrivingEntries(
                user=user, feed=feed, category_id=feed.category_id, now=now, new=dict(update.new), is_news=False
            )
            columns = update.with_page_note(new.values) | dict(update.columns)
            if room is not None:
                arriving.fit_into(room)
                columns |= left_out_columns(arriving, room) if arriving.left_out else {}
            feed_id = feeds.add(db, user.id, created_at=now, **columns)
            arriving.feed = structs.replace(feed, id=feed_id)
            further_categories.add(db, user.id, [(feed_id, one) for one in new.further])
            completions = self._listeners.tell_entries_arriving(db, [arriving])
            add_arriving(db, [arriving])
            for complete in completions:
                complete(db)
        log_rule_errors(feed_id, update.rule_errors)
        self._listeners.tell_documents_checked(
            [CheckedDocument(structs.replace(feed, id=feed_id), response, new.document)]
        )
        return feed_id


def _identified_by(db: Write, feed: Feed, *, by_url: bool) -> dict[str, Any]:
    """Change how the feed identifies its entries: rename stored ones, and return the feed's columns to change.

    The caller has locked the counters of the feed. URLs of stored entries are known, their ids are not: until a
    document contains them again, entries are found by URL, because of `once_matched_by_url`. The validators are
    cleared so that the next document is read even if it is unchanged: it may be the last with both id and URL.
    """
    if not by_url:
        return {**NO_VALIDATORS, "once_matched_by_url": True}
    hashes = rehash_by_url(entry_writes.stored(db, feed.user_id, feed.id))
    entry_writes.rename(db, feed.user_id, feed.id, hashes)
    return dict(NO_VALIDATORS)


def _ensure_fetched(feed: Feed, values: Mapping[str, Any]) -> None:
    """Raise InvalidField if a feed is to be enabled that is never fetched."""
    if not (is_fetched(feed.feed_url) or values.get("disabled", True)):
        raise InvalidField("disabled", msg("this feed is never fetched, so that it cannot be switched on."))


def _ensure_one_way(feed: Feed, values: Mapping[str, Any]) -> None:
    """Raise InvalidField if a feed is to be fetched in two ways."""
    if any(name in values for name in feed_changes.WAYS):
        feed_changes.check_ways({name: values.get(name, getattr(feed, name)) for name in feed_changes.WAYS})


def _is_fetched_differently(feed: Feed, values: Mapping[str, Any]) -> bool:
    """Return whether the requests to the publisher differ after this change."""
    return fetch_key({name: values.get(name, getattr(feed, name)) for name in SHARED_OPTIONS}) != feed_fetch_key(feed)


def owned_feed(db: Read, user_id: int, feed_id: int) -> Feed:
    """Return a feed of the user. Raises NotFound."""
    feed = feeds.get(db, user_id, feed_id)
    if feed is None:
        raise unknown_feed(feed_id)
    return feed


def unknown_feed(feed_id: int) -> NotFound:
    return NotFound(msg("There is no feed {id}.", id=feed_id))


def _category_or_first(db: Read, user_id: int, category_id: int) -> int:
    if category_id:
        _ensure_categories(db, user_id, [category_id])
        return category_id
    first = categories.first(db, user_id)
    if first is None:
        raise InvalidInput(msg("You have no category for this feed: create one first."), field="category_id")
    return first.id


def _take_further(values: dict[str, Any]) -> tuple[int, ...] | None:
    """Take `category_ids` out of what is to be set: the first becomes `category_id`, if there is none.

    Returns the others, or None if they are to stay. Raises InvalidField for none and for too many.
    """
    if "category_ids" not in values:
        return None
    given = [one for one in dict.fromkeys(values.pop("category_ids")) if one]
    if not given and not values.get("category_id"):
        raise InvalidField("category_ids", msg("choose at least one category."))
    if len(given) > MAX_CATEGORIES:
        raise InvalidField("category_ids", msg("a feed may be in {max} categories at most.", max=MAX_CATEGORIES))
    first = values["category_id"] = values.get("category_id") or given[0]
    return tuple(one for one in given if one != first)


def _ensure_categories(db: Read, user_id: int, category_ids: Iterable[int]) -> None:
    for category_id in category_ids:
        if categories.get(db, user_id, category_id) is None:
            raise InvalidField("category_id", msg("there is no category {id}.", id=category_id))


def _ensure_new(db: Read, user_id: int, feed_url: str) -> None:
    known = feeds.id_by_url(db, user_id, feed_url)
    if known is not None:
        raise SubscriptionExists(known)


def _from_publisher(document: ParsedFeed, response: FetchResponse, feed_url: str) -> dict[str, Any]:
    site_url = document.site_url or feed_url
    return {
        "title": document.title or site_url,
        "site_url": site_url,
        "description": document.description,
        "icon_url": usable_icon_url(document.icon_url),
        "language": document.language,
        **document_columns(response, document),
    }
