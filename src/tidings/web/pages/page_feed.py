"""Making a feed from a page that has none: selectors with their result beside them, and the subscription."""

from __future__ import annotations

from typing import Any

import msgspec

from tidings.base.errors import InvalidInput, TidingsError
from tidings.content.errors import FeedError
from tidings.content.model import PageKind
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
KINDS: tuple[tuple[str, str], ...] = (
    (PageKind.CSS, N_("Page, by CSS selectors")),
    (PageKind.XPATH, N_("Page, by XPath")),
    (PageKind.JSON, N_("JSON, by paths")),
    (PageKind.JSON_IN_HTML, N_("JSON in a script of a page")),
)


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
    category_id: int | None = None

    @property
    def selectors(self) -> dict[str, str]:
        return {name: value for name, _label, _help in LABELS if (value := getattr(self, name).strip())}


@routes.post("/feeds/from-page")
async def make_feed(caller: User, services: Services, form: PageFeedForm) -> PageResponse:
    """Show what the selectors find, or the likeliest suggestion if there are none yet. Nothing is stored."""

    async def at(url: str) -> PageResponse:
        shown = msgspec.structs.replace(form, url=url)
        found = await _preview(caller, services, shown)
        if not shown.selectors and found.suggestions:
            first = found.suggestions[0]
            shown = msgspec.structs.replace(shown, kind=first.kind.value, **first.selectors)
            found = await _preview(caller, services, shown)
        return _page(shown, found)

    try:
        return await reach(form.url, at, has_secrets=form.has_secrets)
    except (InvalidInput, FetchError) as error:
        return _page(form, error=error)


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


async def _preview(caller: User, services: Services, form: PageFeedForm) -> PagePreview:
    fields: dict[str, Any] = {"url": form.url, "kind": form.kind, "selectors": form.selectors}
    return await services.feeds.page_previews.preview(caller.id, fetch_options(form) | fields)


def _page(form: PageFeedForm, found: PagePreview | None = None, error: TidingsError | None = None) -> PageResponse:
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
    }
    status = 400 if problem else 200
    return PageResponse("feed_from_page.html", values, status=status, problem=problem, has_secret=form.has_secrets)
