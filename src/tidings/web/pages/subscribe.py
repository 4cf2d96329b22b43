"""Subscribing: discover the feeds of a URL, preview them, and add one; the only one without asking."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import msgspec
from msgspec import Struct

from tidings.base.errors import InvalidInput, NotFound, TidingsError
from tidings.content.errors import FeedError
from tidings.domain.accounts.users import User
from tidings.http.binding import Form, Query, parse_id
from tidings.http.endpoints import Routes
from tidings.net.errors import FetchError, HttpError, TlsError
from tidings.services import Services
from tidings.services.feeds.discovery import DiscoveredFeed, EntryPreview
from tidings.services.feeds.typed_urls import complete_url, reach
from tidings.services.publisher_requests import options_elsewhere
from tidings.storage.feeds import feeds
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.language import _

routes = Routes()

_URL = re.compile(r"https?://\S+", re.IGNORECASE)


class AddQuery(Query, frozen=True):
    """The query of the page that adds a feed."""

    url: str = ""
    """Initial value of the form, from a bookmark or another program."""
    text: str = ""
    """What an app on a phone shares; many put the URL in here, after some words."""

    @property
    def shared_url(self) -> str:
        found = _URL.findall(self.text)
        return (self.url.strip() or (found[-1] if found else ""))[:2000]


class SubscribeForm(Form, frozen=True):
    url: str = ""
    username: str = ""
    password: str = ""
    user_agent: str = ""
    cookie: str = ""
    proxy_url: str = ""
    fetch_via_proxy: bool | None = None
    fetch_via_flaresolverr: bool | None = None
    allow_self_signed_certificates: bool | None = None

    @property
    def has_secrets(self) -> bool:
        return bool(self.username or self.password or self.cookie)


class AddFeedForm(SubscribeForm, frozen=True):
    """The form that subscribes to a feed. Its `url` is the one that was searched."""

    feed_url: str = ""
    """URL of the chosen feed."""
    category_id: int | None = None
    also_in: tuple[str, ...] = ()
    """Ids of more categories for it."""
    crawler: bool | None = None
    hide_globally: bool | None = None


class FeedOffer(Struct, frozen=True):
    """A discovered feed."""

    url: str
    title: str
    type: str
    name: str
    newest: tuple[EntryPreview, ...]
    is_read: bool
    """Whether its document was read."""
    known_id: int | None
    """Id of the user's feed with that URL; None if there is none."""


@routes.get("/feeds/add")
def show_add(context: RequestContext, query: AddQuery) -> PageResponse:
    page = _page(SubscribeForm(url=query.shared_url))
    return msgspec.structs.replace(page, values=page.values | {"bookmarklet": _bookmarklet(context)})


@routes.post("/feeds/find")
async def find_feeds(caller: User, services: Services, form: SubscribeForm) -> PageResponse:
    """Show the feeds of a URL. Nothing is stored."""
    tried = form

    async def at(url: str) -> PageResponse:
        nonlocal tried
        tried = found = msgspec.structs.replace(form, url=url)
        try:
            return _page(found, await _offers(caller, services, found))
        except NotFound as error:
            page = _page(found, error=error)
            # Nothing was wrong with the request, and there is something to offer.
            return msgspec.structs.replace(page, status=200, values=page.values | {"has_no_feed": True})

    try:
        return await reach(form.url, at, has_secrets=form.has_secrets)
    except (InvalidInput, FetchError) as error:
        # A site without https wants a password, which is only sent there if the address says http.
        has_answered = isinstance(error, HttpError) and tried.url.startswith("http://")
        return _page(tried if has_answered else form, error=error)


@routes.post("/feeds/subscribe")
async def subscribe(
    context: RequestContext, caller: User, services: Services, form: SubscribeForm
) -> PageResponse | Redirect:
    """Subscribe to the only feed of a URL. If it has several, or none, show what `find_feeds` does."""
    page = await find_feeds(caller, services, form)
    searched, offers = page.values["form"], page.values["found"]
    if len(offers) != 1:
        return page
    known = offers[0].known_id
    if known is not None:
        return Redirect(f"/feeds/{known}", notice=_("You are already subscribed to this feed."))
    chosen = msgspec.convert({**msgspec.structs.asdict(searched), "feed_url": offers[0].url}, AddFeedForm)
    return await add_feed(context, caller, services, chosen)


@routes.post("/save")
async def save_page(caller: User, services: Services, form: SubscribeForm) -> PageResponse | Redirect:
    """Save the article of a page that is in no feed. If that fails, the form shows the reason and what was typed."""

    async def at(url: str) -> int:
        entry_id, _is_new = await services.entries.saved_pages.save(
            caller, url, fetch_options(form), feed_title=_("Saved pages")
        )
        return entry_id

    try:
        entry_id = await reach(form.url, at, has_secrets=form.has_secrets)
    except (InvalidInput, FetchError) as error:
        return _page(form, error=error)
    return Redirect(f"/starred/{entry_id}", notice=_("Page saved and starred."))


@routes.post("/feeds/add")
async def add_feed(
    context: RequestContext, caller: User, services: Services, form: AddFeedForm
) -> PageResponse | Redirect:
    feed_url = complete_url(form.feed_url or form.url)
    # What the user typed for the searched page is not sent to the host of a feed that the page links to.
    options = options_elsewhere(fetch_options(form), complete_url(form.url or feed_url), feed_url)
    fields = options | {"feed_url": feed_url}
    chosen = {"category_id": form.category_id, "crawler": form.crawler, "hide_globally": form.hide_globally}
    fields |= {name: value for name, value in chosen.items() if value}
    try:
        if form.category_id and form.also_in:
            also_in = (parse_id("category_ids", one) for one in form.also_in)
            fields["category_ids"] = list(dict.fromkeys((form.category_id, *also_in)))
        feed_id = await services.feeds.subscriptions.create(caller, fields)
    except (InvalidInput, FetchError, FeedError) as error:
        known = await asyncio.to_thread(_known, services, caller.id, [fields["feed_url"]])
        if known:
            return Redirect(f"/feeds/{known[fields['feed_url']]}", notice=_("You are already subscribed to this feed."))
        return await _page_after_error(context, form, error)
    return Redirect(f"/feeds/{feed_id}", notice=_("Subscribed."))


def _bookmarklet(context: RequestContext) -> str:
    """Return the address of a bookmark that opens the form with the URL of the page that the browser shows."""
    form = context.site.base_url + "/feeds/add?url="
    return f"javascript:location.href='{form}'+encodeURIComponent(location.href)"


async def _page_after_error(context: RequestContext, form: AddFeedForm, error: TidingsError) -> PageResponse:
    """Return the page with the error. The feeds are discovered again, if that still works."""
    try:
        offers = await _offers(context.caller, context.services, form) if form.url and form.feed_url else []
    except (InvalidInput, NotFound, FetchError):
        offers = []
    return _page(form, offers, error)


async def _offers(caller: User, services: Services, form: SubscribeForm) -> list[FeedOffer]:
    found = await services.feeds.discovery.find(caller.id, fetch_options(form) | {"url": complete_url(form.url)})
    known = await asyncio.to_thread(_known, services, caller.id, [feed.url for feed in found])
    return [_offer(feed, known.get(feed.url)) for feed in found]


def _offer(found: DiscoveredFeed, known_id: int | None) -> FeedOffer:
    return FeedOffer(found.url, found.title, found.type.value, found.name, found.newest, found.is_read, known_id)


def _known(services: Services, user_id: int, urls: list[str]) -> dict[str, int]:
    with services.reading() as db:
        return {url: known for url in urls if (known := feeds.id_by_url(db, user_id, url)) is not None}


def fetch_options(form: SubscribeForm) -> dict[str, Any]:
    """Return the options for fetching that are set in the form."""
    values = ((name, getattr(form, name)) for name in SubscribeForm.__struct_fields__ if name != "url")
    return {name: value for name, value in values if value}


def _may_need_options(error: TidingsError | None) -> bool:
    """Return whether an option of the form could help: the site wants a password, or its certificate is not valid."""
    return isinstance(error, TlsError) or (isinstance(error, HttpError) and error.status in {401, 403, 407})


def _page(form: SubscribeForm, found: list[FeedOffer] | None = None, error: TidingsError | None = None) -> PageResponse:
    sent = fetch_options(form)
    problem = field_error(error, field="url", renamed={"feed_url": "url"}) if error else None
    wanted = form if isinstance(form, AddFeedForm) else msgspec.convert(msgspec.structs.asdict(form), AddFeedForm)
    values = {
        "title": _("Add feed"),
        "place": "add",
        "form": form,
        "found": found or [],
        "shows_options": bool(sent) or _may_need_options(error),
        # Sent with the chosen feed, so that it is fetched as it was discovered.
        "sent": [("url", form.url), *((name, "1" if value is True else value) for name, value in sent.items())],
        "wanted": wanted,
    }
    status = 400 if problem else 200
    return PageResponse("feeds_add.html", values, status=status, problem=problem, has_secret=form.has_secrets)
