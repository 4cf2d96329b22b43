"""Making a feed from a page that has none: picking on the page, selectors with their result, and the subscription.

the address ─► the likeliest suggestion ─► picks on the outline of the page, or other selectors ─► subscribe
a feed      ─► its selectors            ─►                       the same                       ─► save
"""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from markupsafe import Markup
from msgspec import Struct

from tidings.base.errors import InvalidInput, TidingsError
from tidings.base.messages import Message
from tidings.content.errors import FeedError
from tidings.content.model import PageKind
from tidings.content.pages import PARTS, Pick, written_selectors
from tidings.domain.accounts.users import User
from tidings.domain.feeds.feeds import Feed
from tidings.http.endpoints import Routes
from tidings.net.errors import FetchError
from tidings.services import Services
from tidings.services.feeds.feeds import owned_feed
from tidings.services.feeds.page_previews import PagePreview
from tidings.services.feeds.typed_urls import complete_url, reach
from tidings.web.context import PageResponse, Redirect
from tidings.web.field_errors import field_error
from tidings.web.language import N_, _
from tidings.web.pages.subscribe import SubscribeForm, fetch_options
from tidings.web.security import OUTLINE_HEADERS

routes = Routes()

# Fields of the form, in order: name, label, help.
LABELS: tuple[tuple[str, str, str], ...] = (
    ("item", N_("Items"), N_("What repeats on the page, such as li.post. The other selectors begin there.")),
    ("title", N_("Title"), ""),
    ("link", N_("Link"), N_("Such as a@href: a selector, @ and an attribute.")),
    ("date", N_("Date"), N_("Without one, an entry has the time when it was first seen.")),
    ("content", N_("Content"), ""),
    ("image", N_("Picture"), ""),
    ("author", N_("Author"), ""),
    ("tags", N_("Tags"), ""),
    ("id", N_("Identifier"), N_("What tells entries apart; without one, their link.")),
)
# What a click on the page picks.
_PART_LABELS = {name: label for name, label, _help in LABELS} | {"item": N_("Item")}
KINDS: tuple[tuple[str, str], ...] = (
    (PageKind.CSS, N_("Page, by CSS selectors")),
    (PageKind.XPATH, N_("Page, by XPath")),
    (PageKind.JSON, N_("JSON, by paths")),
    (PageKind.JSON_IN_HTML, N_("JSON in a script of a page")),
)
# The fields with `capture` and `template`, in the order in which the form sends these.
_CHANGED = tuple(name for name, _label, _help in LABELS if name != "item")


class PageFeedForm(SubscribeForm, frozen=True):
    kind: str = PageKind.CSS.value
    item: str = ""
    title: str = ""
    link: str = ""
    date: str = ""
    content: str = ""
    image: str = ""
    author: str = ""
    tags: str = ""
    id: str = ""
    capture: tuple[str, ...] = ()
    """Of each field in `_CHANGED`; the same for `template`."""
    template: tuple[str, ...] = ()
    format: str = ""
    """Of the date; the same for `zone`."""
    zone: str = ""
    pick: int | None = None
    """Number of an element in the outline of the page that was just picked."""
    part: str = ""
    """What a pick is for."""
    category_id: int | None = None

    @property
    def selectors(self) -> dict[str, Any]:
        """The selectors as the API takes them."""
        written = {name: value for name, _label, _help in LABELS if (value := getattr(self, name).strip())}
        return {name: self._with_changes(name, selector) for name, selector in written.items()}

    def changes(self, name: str) -> dict[str, str]:
        """Return what becomes of the value of a field, as members of its selector."""
        sent = {part: dict(zip(_CHANGED, getattr(self, part), strict=False)) for part in ("capture", "template")}
        values = {part: of_fields.get(name, "") for part, of_fields in sent.items()}
        if name == "date":
            values |= {"format": self.format, "zone": self.zone}
        return {part: value.strip() for part, value in values.items() if value.strip()}

    def _with_changes(self, name: str, selector: str) -> str | dict[str, str]:
        changes = self.changes(name)
        return {"selector": selector, **changes} if changes else selector

    @property
    def known_kind(self) -> str:
        """The kind, or CSS if what was sent is none."""
        return self.kind if self.kind in tuple(PageKind) else PageKind.CSS.value

    def with_selectors(self, selectors: dict[str, Any]) -> PageFeedForm:
        """Return the form with other selectors, which are texts or objects."""
        objects = {name: _as_object(part) for name, part in selectors.items()}
        fields: dict[str, Any] = {name: objects.get(name, {}).get("selector", "") for name, _label, _help in LABELS}
        for part in ("capture", "template"):
            fields[part] = tuple(objects.get(name, {}).get(part, "") for name in _CHANGED)
        date = objects.get("date", {})
        return msgspec.structs.replace(self, **fields, format=date.get("format", ""), zone=date.get("zone", ""))


def _as_object(part: str | dict[str, str]) -> dict[str, str]:
    """Return a part with its attribute written in the selector, as the form has it."""
    if isinstance(part, str):
        return {"selector": part}
    attribute = part.get("attribute", "")
    selector = part.get("selector", "")
    return part | {"selector": f"{'' if selector == '.' else selector}@{attribute}" if attribute else selector}


class PageSource(Struct, frozen=True):
    """The page that is looked at, and how it is fetched: as typed, or as a feed has it."""

    url: str
    options: dict[str, Any]
    """Options for fetching."""
    feed: Feed | None = None
    """The feed whose selectors are changed; None for a new one."""

    @property
    def path(self) -> str:
        return f"/feeds/{self.feed.id}/selectors" if self.feed else "/feeds/from-page"

    def fields(self, form: PageFeedForm) -> dict[str, Any]:
        """Return the page and the selectors as the API takes them."""
        return self.options | {"url": self.url, "kind": form.kind, "selectors": self.selectors(form)}

    def selectors(self, form: PageFeedForm) -> dict[str, Any]:
        """Return the selectors of the form, with parts of the feed that the form does not have."""
        if self.feed is None or not form.selectors:
            return form.selectors
        shown = {name for name, _label, _help in LABELS}
        return {name: part for name, part in _stored(self.feed).items() if name not in shown} | form.selectors


def _stored(feed: Feed) -> dict[str, Any]:
    try:
        return written_selectors(feed.selectors)
    except InvalidInput:
        # They came with an archive.
        return {}


@routes.post("/feeds/from-page")
async def make_feed(caller: User, services: Services, form: PageFeedForm) -> PageResponse:
    """Show what the selectors find, or the likeliest suggestion if there are none yet. Nothing is stored."""

    async def at(url: str) -> PageResponse:
        shown = msgspec.structs.replace(form, url=url)
        return await _look(caller, services, PageSource(url, fetch_options(form)), shown)

    try:
        return await reach(form.url, at, has_secrets=form.has_secrets)
    except (InvalidInput, FetchError) as error:
        return _page(PageSource(form.url, fetch_options(form)), form, error=error)


@routes.post("/feeds/from-page/outline")
async def show_outline(caller: User, services: Services, form: PageFeedForm) -> PageResponse:
    """Show the page for picking, in a frame."""
    return await _outline(caller, services, PageSource(complete_url(form.url), fetch_options(form)), form)


@routes.post("/feeds/{feed_id}/selectors")
async def change_selectors(caller: User, services: Services, feed_id: int, form: PageFeedForm) -> PageResponse:
    """Show what the selectors of a feed find, or those that were picked or typed instead. Nothing is stored."""
    source = await _source_of_feed(caller, services, feed_id)
    if not form.selectors and source.feed is not None:
        form = msgspec.structs.replace(form, kind=source.feed.kind or PageKind.CSS).with_selectors(_stored(source.feed))
    try:
        return await _look(caller, services, source, form)
    except (InvalidInput, FetchError) as error:
        return _page(source, form, error=error)


@routes.post("/feeds/{feed_id}/selectors/outline")
async def show_outline_of_feed(caller: User, services: Services, feed_id: int, form: PageFeedForm) -> PageResponse:
    return await _outline(caller, services, await _source_of_feed(caller, services, feed_id), form)


@routes.post("/feeds/{feed_id}/selectors/save")
async def save_selectors(caller: User, services: Services, feed_id: int, form: PageFeedForm) -> PageResponse | Redirect:
    source = await _source_of_feed(caller, services, feed_id)
    fields = {"kind": form.kind, "selectors": source.selectors(form)}
    try:
        await asyncio.to_thread(services.feeds.subscriptions.update, caller.id, feed_id, fields)
    except InvalidInput as error:
        return _page(source, form, error=error)
    return Redirect(f"/feeds/{feed_id}/edit", notice=_("Saved."))


async def _source_of_feed(caller: User, services: Services, feed_id: int) -> PageSource:
    """Return the page of a feed. Its password goes to its own address only, and is not shown."""

    def read() -> Feed:
        with services.reading() as db:
            return owned_feed(db, caller.id, feed_id)

    feed = await asyncio.to_thread(read)
    names = [name for name in SubscribeForm.__struct_fields__ if name != "url"]
    options = {name: value for name in names if (value := getattr(feed, name))}
    return PageSource(feed.feed_url, options, feed)


async def _look(caller: User, services: Services, source: PageSource, form: PageFeedForm) -> PageResponse:
    problem = None
    if form.pick is not None:
        form, problem = await _picked(caller, services, source, form, form.pick)
    found = await _preview(caller, services, source, form)
    if not form.selectors and found.suggestions:
        first = found.suggestions[0]
        form = msgspec.structs.replace(form, kind=first.kind.value).with_selectors(first.selectors)
        found = await _preview(caller, services, source, form)
    return _page(source, form, found, pick_problem=problem)


async def _outline(caller: User, services: Services, source: PageSource, form: PageFeedForm) -> PageResponse:
    markup, problem = "", None
    try:
        fields = source.fields(form) | {"kind": form.known_kind}
        markup = await services.feeds.page_previews.outline(caller.id, fields)
    except (InvalidInput, FetchError, FeedError) as error:
        problem = error.text
    # Written by `content.pages.outline`, tag by tag.
    values = {"title": _("The page"), "outline": Markup(markup), "told": problem}  # noqa: S704
    has_secret = form.has_secrets or source.feed is not None
    return PageResponse("page_outline.html", values, headers=OUTLINE_HEADERS, has_secret=has_secret)


@routes.post("/feeds/from-page/add")
async def add_page_feed(caller: User, services: Services, form: PageFeedForm) -> PageResponse | Redirect:
    fields = fetch_options(form) | {
        "feed_url": complete_url(form.url),
        "kind": form.kind,
        "selectors": form.selectors,
        "category_id": form.category_id or 0,
    }
    try:
        feed_id = await services.feeds.subscriptions.create(caller, fields)
    except (InvalidInput, FetchError, FeedError) as error:
        return _page(PageSource(form.url, fetch_options(form)), form, error=error)
    return Redirect(f"/feeds/{feed_id}", notice=_("Subscribed."))


async def _picked(
    caller: User, services: Services, source: PageSource, form: PageFeedForm, element: int
) -> tuple[PageFeedForm, Message | None]:
    """Return the form after a pick, and why nothing could be picked. The next pick is for the next part."""
    form = msgspec.structs.replace(form, kind=form.known_kind)
    wanted = Pick(element, form.part, form.selectors)
    try:
        picked = await services.feeds.page_previews.pick(caller.id, source.fields(form), wanted)
    except FeedError as error:
        return form, error.text
    if picked.problem is not None:
        return form, picked.problem
    # The link of a title on a page is found with it; in JSON it is elsewhere.
    after_title = "date" if picked.selectors.get("link") else "link"
    following = {"item": "title", "title": after_title, "link": "date"}.get(form.part, form.part)
    return msgspec.structs.replace(form, part=following).with_selectors(picked.selectors), None


async def _preview(caller: User, services: Services, source: PageSource, form: PageFeedForm) -> PagePreview:
    return await services.feeds.page_previews.preview(caller.id, source.fields(form), wants_marks=True)


def _page(
    source: PageSource,
    form: PageFeedForm,
    found: PagePreview | None = None,
    error: TidingsError | None = None,
    *,
    pick_problem: Message | None = None,
) -> PageResponse:
    # The form of a feed has no field for the address.
    default = "" if source.feed else "url"
    problem = field_error(error, field=default, renamed={"feed_url": default, "selectors": ""}) if error else None
    sent = {} if source.feed else source.options
    values = {
        "title": _("Choose on the page") if source.feed else _("Make a feed from a page"),
        "place": "" if source.feed else "add",
        "feed": source.feed,
        "path": source.path,
        "is_json": form.known_kind in (PageKind.JSON, PageKind.JSON_IN_HTML),
        "form": form,
        "found": found,
        "labels": LABELS,
        "kinds": [(value, _(label)) for value, label in KINDS],
        "sent": [(name, "1" if value is True else value) for name, value in sent.items()],
        "parts": [(name, _PART_LABELS[name]) for name in PARTS],
        "part": form.part if form.part in PARTS else PARTS[0],
        "counts": {one.name: one for one in found.fields} if found else {},
        "picks": found is not None or bool(form.selectors),
        "pick_problem": pick_problem,
    }
    return PageResponse(
        "feed_from_page.html",
        values,
        status=400 if problem else 200,
        problem=problem,
        frames_own=True,
        has_secret=form.has_secrets or source.feed is not None,
    )
