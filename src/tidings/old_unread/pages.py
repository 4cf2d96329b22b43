"""The page on which a user says when old unread entries become read."""

from __future__ import annotations

from tidings.base.errors import InvalidField, InvalidInput
from tidings.base.messages import msg
from tidings.domain.feeds.categories import CategoryTree
from tidings.http.binding import Form, parse_id
from tidings.http.endpoints import Routes
from tidings.old_unread.services import OldUnreadServices
from tidings.storage.feeds import categories, feeds
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.language import _

routes = Routes()

PATH = "/settings/old-entries"
# Feeds to choose from; those of larger accounts are set with the API.
MAX_FEEDS = 300


class OldEntriesForm(Form, frozen=True):
    """The form with the days of all feeds, and those of one feed or category."""

    days: str = ""
    place: str = ""
    """A feed (f7) or a category (c3); "" for neither."""
    place_days: str = ""
    """0: never. Empty: as for all feeds."""


@routes.get(PATH)
def show_old_entries(context: RequestContext, old: OldUnreadServices) -> PageResponse:
    settings = old.old_unread.settings(context.caller.id)
    days = next((one.days for one in settings if one.category_id is None and one.feed_id is None), 0)
    return _page(context, old, OldEntriesForm(days=str(days or "")))


@routes.post(PATH)
def change_old_entries(
    context: RequestContext, old: OldUnreadServices, form: OldEntriesForm
) -> PageResponse | Redirect:
    try:
        given = _days(form.place_days, "place_days") if form.place_days.strip() else None
        kind, number = form.place[:1], parse_id("place", form.place[1:]) if form.place else 0
        old.old_unread.update(
            context.caller.id,
            days=_days(form.days, "days") if form.days.strip() else 0,
            category_days={number: given} if kind == "c" else {},
            feed_days={number: given} if kind == "f" else {},
        )
    except InvalidInput as error:
        return _page(context, old, form, error)
    return Redirect(PATH, notice=_("Saved."))


def _days(typed: str, field: str) -> int:
    text = typed.strip()
    if not (text.isascii() and text.isdigit() and len(text) < 6):
        raise InvalidField(field, msg("send a whole number."))
    return int(text)


def _page(
    context: RequestContext, old: OldUnreadServices, form: OldEntriesForm, problem: InvalidInput | None = None
) -> PageResponse:
    user_id = context.caller.id
    with context.services.reading() as db:
        tree = CategoryTree(categories.list_all(db, user_id))
        titles = {f"c{one.id}": tree.path(one.id) for one, _depth in tree.walk()}
        titles |= {f"f{one.id}": one.title for one in feeds.list_all(db, user_id)}
    own = [one for one in old.old_unread.settings(user_id) if one.category_id is not None or one.feed_id is not None]
    keys = [f"f{one.feed_id}" if one.feed_id is not None else f"c{one.category_id}" for one in own]
    chosen = [key for key in titles if key[0] == "c"] + [key for key in titles if key[0] == "f"][:MAX_FEEDS]
    values = {
        "title": _("Old unread entries"),
        "place": "old-entries",
        "form": form,
        "own": [(titles.get(key, ""), one.days) for key, one in zip(keys, own, strict=True)],
        "places": {"": _("None")} | {key: titles[key] for key in dict.fromkeys([*chosen, *keys]) if key in titles},
    }
    shown = field_error(problem, field="days") if problem else None
    return PageResponse("old_unread/old_unread.html", values, status=400 if problem else 200, problem=shown)
