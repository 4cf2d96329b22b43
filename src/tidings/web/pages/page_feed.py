"""Making a feed from a page that has none: picking on the page, selectors with their result, and the subscription.

the address ─► the likeliest suggestion ─► picks on the outline of the page, or other selectors ─► subscribe
"""

from __future__ import annotations

from typing import Any

import msgspec
from markupsafe import Markup

from tidings.base.errors import InvalidInput, TidingsError
from tidings.base.messages import Message
from tidings.content.errors import FeedError
from tidings.content.model import PageKind
from tidings.content.pages import PARTS, Pick
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.net.errors import FetchError
from tidings.services import Services
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

    def with_selectors(self, selectors: dict[str, Any]) -> PageFeedForm:
        """Return the form with other selectors, which are texts or objects."""
        objects = {name: part if isinstance(part, dict) else {"selector": part} for name, part in selectors.items()}
        fields: dict[str, Any] = {name: objects.get(name, {}).get("selector", "") for name, _label, _help in LABELS}
        for part in ("capture", "template"):
            fields[part] = tuple(objects.get(name, {}).get(part, "") for name in _CHANGED)
        date = objects.get("date", {})
        return msgspec.structs.replace(self, **fields, format=date.get("format", ""), zone=date.get("zone", ""))


@routes.post("/feeds/from-page")
async def make_feed(caller: User, services: Services, form: PageFeedForm) -> PageResponse:
    """Show what the selectors find, or the likeliest suggestion if there are none yet. Nothing is stored."""

    async def at(url: str) -> PageResponse:
        shown = msgspec.structs.replace(form, url=url)
        problem = None
        if form.pick is not None:
            shown, problem = await _picked(caller, services, shown, form.pick)
        found = await _preview(caller, services, shown)
        if not shown.selectors and found.suggestions:
            first = found.suggestions[0]
            shown = msgspec.structs.replace(shown, kind=first.kind.value).with_selectors(first.selectors)
            found = await _preview(caller, services, shown)
        return _page(shown, found, pick_problem=problem)

    try:
        return await reach(form.url, at, has_secrets=form.has_secrets)
    except (InvalidInput, FetchError) as error:
        return _page(form, error=error)


@routes.post("/feeds/from-page/outline")
async def show_outline(caller: User, services: Services, form: SubscribeForm) -> PageResponse:
    """Show the page for picking, in a frame."""
    markup, problem = "", None
    try:
        fields = fetch_options(form) | {"url": complete_url(form.url)}
        markup = await services.feeds.page_previews.outline(caller.id, fields)
    except (InvalidInput, FetchError, FeedError) as error:
        problem = error.text
    # Written by `content.pages.outline`, tag by tag.
    values = {"title": _("The page"), "outline": Markup(markup), "told": problem}  # noqa: S704
    return PageResponse("page_outline.html", values, headers=OUTLINE_HEADERS, has_secret=form.has_secrets)


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
        return _page(form, error=error)
    return Redirect(f"/feeds/{feed_id}", notice=_("Subscribed."))


async def _picked(
    caller: User, services: Services, form: PageFeedForm, element: int
) -> tuple[PageFeedForm, Message | None]:
    """Return the form after a pick, and why nothing could be picked. The next pick is for the next part."""
    wanted = Pick(element, form.part, form.selectors)
    fields = fetch_options(form) | {"url": form.url}
    try:
        picked = await services.feeds.page_previews.pick(caller.id, fields, wanted)
    except FeedError as error:
        return form, error.text
    if picked.problem is not None:
        return form, picked.problem
    following = {"item": "title", "title": "date"}.get(form.part, form.part)
    changed = msgspec.structs.replace(form, kind=PageKind.CSS.value, part=following)
    return changed.with_selectors(picked.selectors), None


async def _preview(caller: User, services: Services, form: PageFeedForm) -> PagePreview:
    fields: dict[str, Any] = {"url": form.url, "kind": form.kind, "selectors": form.selectors}
    return await services.feeds.page_previews.preview(caller.id, fetch_options(form) | fields, wants_marks=True)


def _page(
    form: PageFeedForm,
    found: PagePreview | None = None,
    error: TidingsError | None = None,
    *,
    pick_problem: Message | None = None,
) -> PageResponse:
    problem = field_error(error, field="url", renamed={"feed_url": "url", "selectors": ""}) if error else None
    sent = fetch_options(form)
    values = {
        "title": _("Make a feed from a page"),
        "place": "add",
        "form": form,
        "found": found,
        "labels": LABELS,
        "kinds": [(value, _(label)) for value, label in KINDS],
        "sent": [(name, "1" if value is True else value) for name, value in sent.items()],
        "parts": [(name, _PART_LABELS[name]) for name in PARTS],
        "part": form.part if form.part in PARTS else PARTS[0],
        "counts": {one.name: one for one in found.fields} if found else {},
        # There is nothing to pick in JSON.
        "picks": form.kind == PageKind.CSS and (found is not None or bool(form.selectors)),
        "pick_problem": pick_problem,
    }
    return PageResponse(
        "feed_from_page.html",
        values,
        status=400 if problem else 200,
        problem=problem,
        frames_own=True,
        has_secret=form.has_secrets,
    )
