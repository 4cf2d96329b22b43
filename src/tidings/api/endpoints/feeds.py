"""Endpoints for feeds."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterable
from typing import Any, Final, TypeAlias

import msgspec
from msgspec import Struct

from tidings.api.endpoints.categories import CategoryOut, category_out
from tidings.api.feed_style import PLAIN, FeedStyle, MissingIcon
from tidings.api.fields import Fields
from tidings.api.schema_annotations import Required, Timestamp
from tidings.api.setting_members import accepts, shows
from tidings.api.struct_copy import StructCopy
from tidings.base.errors import InvalidInput, NotFound
from tidings.content.pages import FieldSelector
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.domain.feeds.feed_settings import ALL_FEED_SETTINGS, FEED_SETTINGS, NUMBERS
from tidings.domain.feeds.feeds import Feed
from tidings.engine.database import Read
from tidings.http.endpoints import Conditional, Routes
from tidings.http.json_body import Int64, sent
from tidings.net.errors import FetchError
from tidings.services import Services
from tidings.services.clock import TimeZone, time_zone
from tidings.services.feeds.categories import owned_category
from tidings.services.feeds.feeds import unknown_feed
from tidings.services.feeds.typed_urls import reach
from tidings.storage.entries import folded
from tidings.storage.feeds import feed_texts, feeds
from tidings.storage.feeds.feed_texts import FeedRecord

routes = Routes("Feeds")
# Texts and JSON of feeds that are kept encoded: some 5,000 feeds.
MAX_KEPT_BYTES: Final = 8 * 2**20


class FeedIconOut(Struct, frozen=True):
    feed_id: int
    icon_id: int
    external_icon_id: str


Selectors: TypeAlias = dict[str, str | FieldSelector]


@shows(ALL_FEED_SETTINGS, before="checked_at", types={"selectors": Selectors})
class FeedOut(Struct, frozen=True):
    """Times are in the time zone of the user. icon: null while none is known, or icon_id 0 for apps
    that fail at null. category_ids: all categories that it is in, the one in category first.

    check_interval_minutes: 0 if it follows how often the feed publishes. keep_read_days, keep_unread_days: after
    how many days its entries are deleted, -1 for never; null for the setting of all feeds. username, password, cookie,
    proxy_url, webhook_url, apprise_service_urls: empty for API keys without the scope manage. kind, selectors: of a
    feed that is made from a page or JSON; both empty for others.
    """

    id: int
    user_id: int
    feed_url: str
    site_url: str
    title: str
    description: str
    language: str
    etag_header: str
    last_modified_header: str
    parsing_error_message: str
    parsing_error_count: int
    checked_at: Timestamp
    next_check_at: Timestamp
    category: CategoryOut
    icon: FeedIconOut | None
    category_ids: list[int]


# Time zone of the user, how the client sees feeds, and text of the feed (`storage.feeds.feed_texts`).
Key = tuple[str, FeedStyle, str]


class EncodedFeeds:
    """The JSON of feeds by what it was made from, up to `limit` bytes; what was unused for longest goes first.

    The text of a feed is all that its JSON shows, as the database has it. So what is found for a text is never out of
    date, whichever process wrote last, and nothing has to be removed when a feed changes.
    """

    def __init__(self, limit: int = MAX_KEPT_BYTES) -> None:
        self._limit = limit
        self._by_key: OrderedDict[Key, bytes] = OrderedDict()
        self._lock = threading.Lock()
        self.size_bytes = 0

    def get_many(self, keys: Iterable[Key]) -> list[bytes | None]:
        """Return the JSON for each key, None where it is missing."""
        found: list[bytes | None] = []
        with self._lock:
            for key in keys:
                encoded = self._by_key.get(key)
                if encoded is not None:
                    self._by_key.move_to_end(key)
                found.append(encoded)
        return found

    def add(self, key: Key, encoded: bytes) -> None:
        with self._lock:
            if key not in self._by_key:
                self._by_key[key] = encoded
                self.size_bytes += _size(key, encoded)
            while self.size_bytes > self._limit:
                self.size_bytes -= _size(*self._by_key.popitem(last=False))


def _size(key: Key, encoded: bytes) -> int:
    return len(key[2]) + len(encoded)


_copy = StructCopy(FeedOut, "checked_at", "next_check_at", "category", "icon", "category_ids", "selectors")
# The columns from which it is built, in addition to categories and icon.
_BUILT = ("category", "icon", "category_ids")
SHOWN = (*(name for name in FeedOut.__struct_fields__ if name not in _BUILT), "icon_id")
_NO_SECRETS = {one.name: "" for one in ALL_FEED_SETTINGS if one.setting.is_secret}
_kept = EncodedFeeds()


def encoded_feeds(
    db: Read,
    user: User,
    feed_ids: Collection[int] | None = None,
    *,
    style: FeedStyle = PLAIN,
    kept: EncodedFeeds = _kept,
) -> dict[int, msgspec.Raw]:
    """Return the user's feeds of the list as JSON of FeedOut, by id; None: all, in the order of the API.

    Reads and encodes only feeds that are not kept in their present state. On PostgreSQL each statement sees the latest
    state: a feed that is deleted between the two is left out.
    """
    texts = feed_texts.texts(db, user.id, SHOWN, feed_ids)
    found = kept.get_many((user.timezone, style, text) for _, text in texts)
    by_id = {feed_id: encoded for (feed_id, _), encoded in zip(texts, found, strict=True)}
    missing = [feed_id for feed_id, encoded in by_id.items() if encoded is None]
    for record in feed_texts.records(db, user.id, SHOWN, missing) if missing else ():
        icon = _icon(record.feed, record.icon_name, style.missing_icon)
        shown = _show(record, icon, time_zone(user.timezone))
        if style.hides_secrets:
            shown = msgspec.structs.replace(shown, **_NO_SECRETS)
        fields = style.fields
        by_id[shown.id] = encoded = msgspec.json.encode(fields.of(shown) if fields.names else shown)
        kept.add((user.timezone, style, record.text), encoded)
    return {feed_id: msgspec.Raw(encoded) for feed_id, encoded in by_id.items() if encoded is not None}


def _icon(feed: Feed, icon_name: str, missing: MissingIcon) -> FeedIconOut | None:
    if feed.icon_id is not None:
        return FeedIconOut(feed.id, feed.icon_id, icon_name)
    return FeedIconOut(feed.id, 0, "") if missing is MissingIcon.OBJECT else None


def _show(record: FeedRecord, icon: FeedIconOut | None, zone: TimeZone) -> FeedOut:
    feed = record.feed
    return _copy(
        feed,
        checked_at=zone.format(feed.checked_at),
        next_check_at=zone.format(feed.next_check_at),
        category=category_out(record.category),
        icon=icon,
        category_ids=[feed.category_id, *record.further_ids],
        selectors=msgspec.json.decode(feed.selectors, type=Selectors) if feed.selectors else {},
    )


def encoded_feed(db: Read, user: User, feed_id: int, style: FeedStyle) -> msgspec.Raw:
    """Return a feed as JSON of FeedOut. Raises NotFound if the user has no such feed."""
    found = encoded_feeds(db, user, [feed_id], style=style)
    if feed_id not in found:
        raise unknown_feed(feed_id)
    return found[feed_id]


@accepts(FEED_SETTINGS, nullable=NUMBERS, types={"selectors": Selectors})
class FeedFields(Struct, frozen=True):
    """Settings of new and existing feeds.

    category_ids: all categories that the feed is in; the first of them is category_id, unless that is sent too.
    check_interval_minutes: 5 to 43,200, or 0 or null: as often as the feed publishes. keep_read_days,
    keep_unread_days: 1 to 36,500, -1 for ever, or null: as for all feeds. webhook_url, apprise_service_urls: receivers
    of its new entries instead of the integrations' own receivers; "" to use these. kind, selectors: to make a feed from
    a page or JSON that is none (docs/page-feeds.md). selectors has a selector for item and for each field, or an object
    with selector, attribute, capture, template and, for the date, format and zone; all of them are replaced together.
    """

    feed_url: str | None = None
    category_id: Int64 | None = None
    category_ids: list[Int64] | None = None


class FeedCreate(FeedFields, frozen=True):
    """category_id: missing, null or 0 for the first of category_ids, or else your first category by title."""

    feed_url: Required[str] = None


class CategoryReference(Struct, frozen=True):
    id: Int64 | None = None


class FeedUpdate(FeedFields, frozen=True):
    """category_id: alone, it replaces the first category, and the others stay.

    category: an older name of category_id; category_id takes precedence.
    """

    title: str | None = None
    site_url: str | None = None
    description: str | None = None
    category: CategoryReference | None = None


def _sent_values(body: FeedFields) -> dict[str, Any]:
    """Return the members that were sent. For intervals and retention, null is a value: the default of feeds."""
    values = sent(body)
    if "selectors" in values:
        values["selectors"] = msgspec.to_builtins(values["selectors"])
    values |= {name: empty for name, empty in NUMBERS.items() if getattr(body, name) is None}
    return values


class FeedCreated(Struct, frozen=True):
    feed_id: int


class CountersOut(Struct, frozen=True):
    """Numbers by feed id; a feed without entries is left out."""

    reads: dict[str, int]
    unreads: dict[str, int]


@routes.get("/v1/feeds", conditional=Conditional.EXCEPT_CHECKS, lists=FeedOut)
def list_feeds(caller: User, services: Services, style: FeedStyle, fields: Fields) -> list[FeedOut]:
    """List all feeds, failing ones first, then by title."""
    style = style.with_fields(fields)
    with services.reading() as db:
        return list(encoded_feeds(db, caller, style=style).values())  # type: ignore[arg-type]


@routes.get(
    "/v1/categories/{category_id}/feeds",
    conditional=Conditional.EXCEPT_CHECKS,
    lists=FeedOut,
    raises=(InvalidInput, NotFound),
)
def list_category_feeds(
    caller: User, services: Services, style: FeedStyle, fields: Fields, category_id: int
) -> list[FeedOut]:
    """List the feeds of a category and of those below it, ordered by enabled, failing and unread entries."""
    style = style.with_fields(fields)
    with services.reading() as db:
        owned_category(db, caller.id, category_id)
        feed_ids = feeds.ids_of_category(db, caller.id, category_id)
        found = encoded_feeds(db, caller, feed_ids, style=style)
        # On PostgreSQL a feed may be deleted between the two statements.
        return [found[feed_id] for feed_id in feed_ids if feed_id in found]  # type: ignore[misc]


@routes.get("/v1/feeds/counters", conditional=Conditional.EXACT)
def get_counters(caller: User, services: Services) -> CountersOut:
    """Get the number of read and unread entries of each feed."""
    with services.reading() as db:
        found = folded.counters_for_apps(db, caller)
    return CountersOut(
        reads={str(feed.feed_id): feed.read for feed in found if feed.read},
        unreads={str(feed.feed_id): feed.unread for feed in found if feed.unread},
    )


@routes.get("/v1/feeds/{feed_id}", raises=(InvalidInput, NotFound))
def get_feed(caller: User, services: Services, style: FeedStyle, feed_id: int) -> FeedOut:
    """Get a feed."""
    with services.reading() as db:
        return encoded_feed(db, caller, feed_id, style)  # type: ignore[return-value]


@routes.post("/v1/feeds", scope=KeyScope.MANAGE, status=201, raises=(InvalidInput, FetchError))
async def create_feed(caller: User, services: Services, body: FeedCreate) -> FeedCreated:
    """Subscribe to a feed. It is fetched, and its entries are stored, before the response."""
    values = _sent_values(body)

    async def create(url: str) -> FeedCreated:
        return FeedCreated(await services.feeds.subscriptions.create(caller, values | {"feed_url": url}))

    has_secrets = any(values.get(name) for name in ("username", "password", "cookie"))
    return await reach(body.feed_url or "", create, has_secrets=has_secrets, completes=False)


@routes.put("/v1/feeds/{feed_id}", scope=KeyScope.MANAGE, status=201, raises=(InvalidInput, NotFound))
def update_feed(caller: User, services: Services, style: FeedStyle, feed_id: int, body: FeedUpdate) -> FeedOut:
    """Change a feed. Members that are not sent keep their values; errors of earlier checks are cleared."""
    values = _sent_values(body)
    values.pop("category", None)
    if body.category is not None and body.category.id is not None:
        values.setdefault("category_id", body.category.id)
    services.feeds.subscriptions.update(caller.id, feed_id, values)
    with services.reading() as db:
        return encoded_feed(db, caller, feed_id, style)  # type: ignore[return-value]


@routes.delete("/v1/feeds/{feed_id}", scope=KeyScope.MANAGE, status=204, raises=(InvalidInput, NotFound))
def delete_feed(caller: User, services: Services, feed_id: int) -> None:
    """Unsubscribe from a feed. The feed and its entries are deleted."""
    services.feeds.subscriptions.delete(caller.id, feed_id)


@routes.put(
    "/v1/feeds/{feed_id}/refresh", scope=KeyScope.WRITE, status=204, raises=(InvalidInput, NotFound, FetchError)
)
async def refresh_feed(caller: User, services: Services, feed_id: int) -> None:
    """Check a feed now, regardless of its schedule, and wait for the result."""
    await services.polling.claims.refresh_now(caller.id, feed_id)


@routes.put("/v1/feeds/refresh", scope=KeyScope.WRITE, status=204)
def refresh_all(caller: User, services: Services) -> None:
    """Schedule a check of all enabled feeds."""
    services.polling.claims.refresh_all(caller.id)


@routes.put("/v1/feeds/{feed_id}/mark-all-as-read", scope=KeyScope.WRITE, status=204, raises=(InvalidInput, NotFound))
def mark_feed_read(caller: User, services: Services, feed_id: int) -> None:
    """Mark all entries of a feed as read, except those dated in the future."""
    services.feeds.subscriptions.mark_read(caller.id, feed_id)
