"""The pages of saved views: the list of each, and adding, changing, ordering and deleting them.

/views   /views/new?query=rain   /views/3/edit   /views/3/delete   /views/try       settings
/views/3   /views/3/entries/5                                          a list, and an entry of it
"""

from __future__ import annotations

from starlette.responses import Response

from tidings.base.errors import InvalidInput
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Direction, EntryFilter, Order
from tidings.domain.entries.list_settings import ListSetting
from tidings.domain.entries.saved_views import DENSITIES, ICONS, ORDERS, SavedView
from tidings.http.binding import Form, Query, parse_id
from tidings.http.endpoints import Routes
from tidings.views.services import ViewServices
from tidings.web import devices
from tidings.web.article_page import entry_page, open_entry
from tidings.web.conditions import QUERIES, Built, Matches, QueryRows, edited, query_matches, read, shown, stored
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.entry_list_pages import ListPage, ListQuery, show_as
from tidings.web.field_errors import field_error
from tidings.web.language import N_, _
from tidings.web.list_page import DisplayForm, MarkReadForm, mark_list_read, show, show_list_again

routes = Routes()

_ORDER_NAMES = {
    Order.PUBLISHED_AT: N_("When they were published"),
    Order.CREATED_AT: N_("When they were found"),
    Order.CHANGED_AT: N_("When they were last changed"),
}
_DIRECTIONS = {Direction.DESC.value: N_("Newest first"), Direction.ASC.value: N_("Oldest first")}
_DENSITY_NAMES = {"": N_("Same as this device"), **devices.CHOICES["density"]}
_ICON_NAMES = {
    "filter": N_("Filter"),
    "search": N_("Search"),
    "star": N_("Star"),
    "tag": N_("Label"),
    "folder": N_("Folder"),
    "feeds": N_("Feeds"),
    "article": N_("Article"),
    "play": N_("Play"),
    "comments": N_("Comments"),
    "save": N_("Save"),
    "history": N_("History"),
    "person": N_("Person"),
}


class ViewForm(QueryRows, frozen=True):
    """The form of a view."""

    name: str = ""
    query: str = ""
    order: str = ORDERS[0].value
    direction: str = Direction.DESC.value
    density: str = ""
    icon: str = ICONS[0]
    in_apps: bool | None = None
    is_home: bool | None = None
    view: int | None = None
    """The view that is changed, where the form is not sent to it."""


class ViewsForm(Form, frozen=True):
    """The form of the list of views: which one to move, by its id."""

    up: str = ""
    down: str = ""


class NewViewQuery(Query, frozen=True):
    """The query that a new view begins with."""

    query: str = ""


@routes.get("/views")
def show_views() -> PageResponse:
    return PageResponse("views/views.html", {"title": _("Saved views"), "place": "views"})


@routes.post("/views")
def move_view(caller: User, views: ViewServices, form: ViewsForm) -> Redirect:
    view_id = parse_id("view_id", form.up or form.down)
    position = views.views.get(caller.id, view_id).position + (-1 if form.up else 1)
    views.views.update(caller.id, view_id, {"position": max(1, position)})
    return Redirect(f"/views#v{view_id}")


@routes.get("/views/new")
def show_new_view(context: RequestContext, query: NewViewQuery) -> PageResponse:
    return _form_page(context, ViewForm(query=query.query.strip()))


@routes.post("/views/new")
def add_view(context: RequestContext, views: ViewServices, form: ViewForm) -> PageResponse | Redirect:
    built = read(QUERIES, "query", form, form.query, is_final=True)
    if built.is_wrong:
        return _form_page(context, form, built=built, is_refused=True)
    try:
        view = views.views.create(context.caller.id, _values(form, built))
    except InvalidInput as error:
        return _form_page(context, form, problem=error, built=built)
    return Redirect(view.path, notice=_("%(title)s created.", title=view.name))


@routes.post("/views/try")
def try_view(context: RequestContext, views: ViewServices, form: ViewForm) -> PageResponse:
    """Show the form after a change of its rows, with what its query finds now. Nothing is stored."""
    view = views.views.get(context.caller.id, form.view) if form.view else None
    built = edited(read(QUERIES, "query", form, form.query), form.edit)
    try:
        matches = query_matches(context, built)
    except InvalidInput as error:
        return _form_page(context, form, view, error, built)
    return _form_page(context, form, view, built=built, matches=matches)


@routes.get("/views/{view_id}")
def show_view(context: RequestContext, views: ViewServices, view_id: int, query: ListQuery) -> PageResponse | Response:
    """Show the entries of a view, or its form if its query cannot be answered."""
    view = views.views.get(context.caller.id, view_id)
    try:
        return show(context, _listing(context, view), query)
    except InvalidInput as error:
        if error.field != "query":
            raise
        return _form_page(context, _form(view), view, error)


@routes.post("/views/{view_id}/mark-read")
def mark_view_read(context: RequestContext, views: ViewServices, view_id: int, form: MarkReadForm) -> Redirect:
    return mark_list_read(context, _listing(context, views.views.get(context.caller.id, view_id)), form)


@routes.post("/views/{view_id}/display")
def change_display(caller: User, views: ViewServices, view_id: int, form: DisplayForm) -> Redirect:
    """Change order or layout of a view in the menu of its list."""
    view = views.views.update(caller.id, view_id, form.values)
    return Redirect(form.first_page or view.path)


@routes.post("/views/{view_id}/show-hidden")
def show_again(context: RequestContext, views: ViewServices, view_id: int) -> Redirect:
    """Show the entries of a view in Unread again that a rule has hidden from it."""
    return show_list_again(context, _listing(context, views.views.get(context.caller.id, view_id)))


@routes.get("/views/{view_id}/entries/{entry_id}")
def read_in_view(context: RequestContext, views: ViewServices, view_id: int, entry_id: int) -> PageResponse:
    """Show an entry in the list of a view, even after it has left the view here."""
    view = views.views.get(context.caller.id, view_id)
    entry = open_entry(context, entry_id)
    return entry_page(context, _listing(context, view), entry)


@routes.get("/views/{view_id}/edit")
def show_form(context: RequestContext, views: ViewServices, view_id: int) -> PageResponse:
    view = views.views.get(context.caller.id, view_id)
    return _form_page(context, _form(view), view)


@routes.post("/views/{view_id}/edit")
def change_view(context: RequestContext, views: ViewServices, view_id: int, form: ViewForm) -> PageResponse | Redirect:
    view = views.views.get(context.caller.id, view_id)
    built = read(QUERIES, "query", form, form.query, is_final=True)
    if built.is_wrong:
        return _form_page(context, form, view, built=built, is_refused=True)
    try:
        views.views.update(context.caller.id, view_id, _values(form, built))
    except InvalidInput as error:
        return _form_page(context, form, view, error, built)
    return Redirect(view.path, notice=_("Saved."))


@routes.get("/views/{view_id}/delete")
def confirm_deletion(context: RequestContext, views: ViewServices, view_id: int) -> PageResponse:
    """Ask first; or say what refers to the view, so that it cannot be deleted."""
    view = views.views.get(context.caller.id, view_id)
    values = {"title": _("Delete a view"), "place": "views", "view": view}
    return PageResponse("views/view_delete.html", values | {"uses": views.views.uses(context.caller.id, view_id)})


@routes.post("/views/{view_id}/delete")
def delete_view(caller: User, views: ViewServices, view_id: int) -> Redirect:
    view = views.views.get(caller.id, view_id)
    views.views.delete(caller.id, view_id)
    return Redirect("/views", notice=_("%(title)s deleted.", title=view.name))


def _listing(context: RequestContext, view: SavedView) -> ListPage:
    """Return the list of a view, and have it shown as the view says. Raises InvalidInput, with query as its field."""
    usual_density = show_as(context, view.density)
    # Counted with the sidebar, which neither a form nor a part of a page has.
    is_page = context.request.method == "GET" and not context.is_part
    counts = {one.id: unread for one, unread in context.sidebar.views.views} if is_page else {}
    unread = counts.get(view.id)
    return ListPage(
        "view",
        view.name,
        view.path,
        EntryFilter(query=context.services.entries.queries.of_view(context.caller, view)),
        Order(view.order),
        Direction(view.direction),
        total=unread.number if unread else None,
        is_total_exact=unread is None or unread.is_exact,
        view_id=view.id,
        mark_path=f"{view.path}/mark-read",
        own=ListSetting(view.key, view.direction, view.density),
        usual_density=usual_density,
    )


_SETTINGS = ("name", "query", "order", "direction", "density", "icon", "in_apps", "is_home")


def _form(view: SavedView) -> ViewForm:
    return ViewForm(**{name: getattr(view, name) for name in _SETTINGS})


def _values(form: ViewForm, built: Built) -> dict[str, object]:
    sent = {name: getattr(form, name) for name in _SETTINGS}
    return sent | {"query": built.text, "in_apps": bool(form.in_apps), "is_home": bool(form.is_home)}


def _form_page(
    context: RequestContext,
    form: ViewForm,
    view: SavedView | None = None,
    problem: InvalidInput | None = None,
    built: Built | None = None,
    *,
    is_refused: bool = False,
    matches: Matches | None = None,
) -> PageResponse:
    """Return the page with the form. view: None for a new one. built: the query of the form; None for a stored one."""
    built = built or stored(QUERIES, "query", form.query)
    values = {
        "title": _("Edit view") if view else _("New view"),
        "place": "views",
        "form": form,
        "view": view,
        "query": shown(context, built, problem, matches),
        "orders": [(value.value, _(name)) for value, name in _ORDER_NAMES.items()],
        "directions": _DIRECTIONS,
        "densities": [(value, _(_DENSITY_NAMES[value])) for value in DENSITIES],
        "icons": [(value, _(_ICON_NAMES[value])) for value in ICONS],
    }
    told = field_error(problem, field="name") if problem else None
    # A change of rows is answered, whatever is wrong in them.
    status = 400 if (problem or is_refused) and not form.edit else 200
    return PageResponse("views/view.html", values, status=status, problem=told)
