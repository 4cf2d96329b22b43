"""The categories page: add, rename, hide, mark read and delete."""

from __future__ import annotations

from tidings.base.errors import InvalidInput, NotFound
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import EntryFilter
from tidings.http.binding import Form
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.services.feeds.categories import owned_category, unknown_category
from tidings.storage.entries import entry_lists
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.language import _
from tidings.web.list_page import ShownForm, mark_read_redirect
from tidings.web.message_translation import translated

routes = Routes()


class CategoryForm(Form, frozen=True):
    title: str = ""
    hide_globally: bool | None = None


class CategoryDeletionForm(Form, frozen=True):
    """The form that deletes a category."""

    move_to: int | None = None
    """The category that gets its feeds; None deletes them too."""


@routes.get("/categories")
def show_categories(context: RequestContext) -> PageResponse:
    return _page(context)


@routes.post("/categories/add")
def add_category(
    context: RequestContext, caller: User, services: Services, form: CategoryForm
) -> PageResponse | Redirect:
    try:
        services.feeds.categories.create(caller.id, form.title, hide_globally=bool(form.hide_globally))
    except InvalidInput as error:
        return _page(context, form, problem=error)
    return Redirect("/categories", notice=_("%(title)s created.", title=form.title.strip()))


@routes.post("/categories/{category_id}/edit")
def change_category(
    context: RequestContext, caller: User, services: Services, category_id: int, form: CategoryForm
) -> PageResponse | Redirect:
    try:
        services.feeds.categories.update(
            caller.id, category_id, title=form.title, hide_globally=bool(form.hide_globally)
        )
    except InvalidInput as error:
        return _page(context, form, category_id, error)
    return Redirect(f"/categories#c{category_id}", notice=_("Saved."))


@routes.post("/categories/{category_id}/read")
def mark_category_read(caller: User, services: Services, category_id: int, form: ShownForm) -> Redirect:
    """Mark the category read and return to this page."""
    with services.reading() as db:
        owned_category(db, caller.id, category_id)
    marked = services.entries.read_marker.mark_list_read(
        caller.id, EntryFilter(category_id=category_id), shown=form.shown()
    )
    return mark_read_redirect("/categories", marked)


@routes.get("/categories/{category_id}/delete")
def confirm_deletion(context: RequestContext, category_id: int) -> PageResponse:
    """Show what would be deleted with the category, and where its feeds could move instead."""
    line = context.sidebar.category(category_id)
    if line is None:
        raise unknown_category(category_id)
    return PageResponse("category_delete.html", {"title": _("Delete a category"), "place": "categories", "line": line})


@routes.post("/categories/{category_id}/delete")
def delete_category(
    context: RequestContext, caller: User, services: Services, category_id: int, form: CategoryDeletionForm
) -> Redirect:
    line = context.sidebar.category(category_id)
    if line is None:
        raise unknown_category(category_id)
    if form.move_to is not None and form.move_to != category_id:
        try:
            services.feeds.bulk.move(
                caller.id, [feed.id for feed in context.sidebar.feeds_of([category_id])[category_id]], form.move_to
            )
        except NotFound as error:
            return Redirect(f"/categories/{category_id}/delete", notice=translated(error.text))
    services.feeds.categories.delete(caller.id, category_id)
    return Redirect("/categories", notice=_("%(title)s deleted.", title=line.category.title))


def _page(
    context: RequestContext,
    form: CategoryForm | None = None,
    changing: int | None = None,
    problem: InvalidInput | None = None,
) -> PageResponse:
    """Return the page of categories. changing: id of the category that the form changes; None for a new one."""
    with context.services.reading() as db:
        newest = entry_lists.newest_id(db, context.caller.id)
    values = {
        "title": _("Categories"),
        "place": "categories",
        "form": form or CategoryForm(),
        "changing": changing,
        "newest": newest,
    }
    return PageResponse(
        "categories.html", values, status=400 if problem else 200, problem=field_error(problem) if problem else None
    )
