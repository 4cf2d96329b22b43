"""The categories page: add, rename, put under another one, hide, mark read and delete."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import UNSET, UnsetType

from tidings.base.errors import InvalidInput, NotFound
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import EntryFilter
from tidings.domain.feeds.categories import SEPARATOR
from tidings.http.binding import Form, parse_id
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.services.feeds.categories import feeds_only_in, owned_category, unknown_category
from tidings.storage.entries import entry_lists
from tidings.web import security
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.language import _, ngettext
from tidings.web.list_page import ShownForm, mark_read_redirect
from tidings.web.message_translation import translated

routes = Routes()


# Keeps a category where it is.
KEPT = "keep"


class CategoryForm(Form, frozen=True):
    title: str = ""
    hide_globally: bool | None = None
    parent: str = KEPT
    """Id of the category to put it under, "" for none."""
    keep_duplicates: bool | None = None
    """Only the form of one category has it."""


class CategoryMoveForm(Form, frozen=True):
    """The form that a dragged category sends."""

    parent: str = ""
    back: str = ""


class CategoryDeletionForm(Form, frozen=True):
    """The form that deletes a category."""

    move_to: int | None = None
    """The category that gets its feeds; None deletes them too."""
    below: str = ""
    """"delete" for the categories below it to go, too; otherwise they move up."""


@routes.get("/categories")
def show_categories(context: RequestContext) -> PageResponse:
    return _page(context)


@routes.post("/categories/add")
def add_category(
    context: RequestContext, caller: User, services: Services, form: CategoryForm
) -> PageResponse | Redirect:
    try:
        services.feeds.categories.create(
            caller.id, form.title, parent_id=_parent(form.parent) or None, hide_globally=bool(form.hide_globally)
        )
    except InvalidInput as error:
        return _page(context, form, problem=error)
    return Redirect("/categories", notice=_("%(title)s created.", title=form.title.strip()))


@routes.post("/categories/{category_id}/edit")
def change_category(
    context: RequestContext, caller: User, services: Services, category_id: int, form: CategoryForm
) -> PageResponse | Redirect:
    try:
        services.feeds.categories.update(
            caller.id,
            category_id,
            name=form.title,
            hide_globally=bool(form.hide_globally),
            parent_id=_parent(form.parent),
            keep_duplicates=None if form.parent == KEPT else bool(form.keep_duplicates),
        )
    except InvalidInput as error:
        if form.parent == KEPT:
            return _page(context, form, category_id, error)
        return _edit_page(context, category_id, form, error)
    return Redirect(f"/categories#c{category_id}", notice=_("Saved."))


@routes.get("/categories/{category_id}/edit")
def edit_category(context: RequestContext, category_id: int) -> PageResponse:
    return _edit_page(context, category_id)


@routes.post("/categories/{category_id}/move")
def move_category(caller: User, services: Services, category_id: int, form: CategoryMoveForm) -> Redirect:
    """Put a category under another one, where it was dragged, and return to the page."""
    back = security.local_path(form.back) or "/categories"
    try:
        moved = services.feeds.categories.update(caller.id, category_id, parent_id=_parent(form.parent))
    except InvalidInput as error:
        return Redirect(back, notice=translated(error.text))
    return Redirect(back, notice=_("%(title)s moved.", title=moved.name))


@routes.get("/categories/tree")
def show_tree_of_names(caller: User, services: Services) -> PageResponse:
    """Show what would become of names that are paths, such as "News / Europe"."""
    split = services.feeds.categories.paths_in_names(caller.id)
    return PageResponse("category_tree.html", {"title": _("A tree of names"), "place": "categories", "split": split})


@routes.post("/categories/tree")
def make_tree_of_names(caller: User, services: Services) -> Redirect:
    count = len(services.feeds.categories.make_tree(caller.id))
    notice = ngettext("%(count)d category moved.", "%(count)d categories moved.", count, count=count)
    return Redirect("/categories", notice=notice)


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
    removed = context.sidebar.tree.with_below(category_id)
    below = [context.sidebar.category(one) for one in removed[1:]]
    alone, alone_with_below = _only_in(context, [category_id]), _only_in(context, removed)
    paths = {one: context.sidebar.tree.path(one) for one in removed}
    values = {
        "line": line,
        "below": below,
        "feeds_below": len(alone_with_below.keys() - alone),
        "alone": len(alone),
        "elsewhere": line.own.feeds - len(alone),
        "uses": context.services.entries.queries.uses(context.caller.id, alone_with_below, paths),
    }
    return PageResponse("category_delete.html", {"title": _("Delete a category"), "place": "categories"} | values)


@routes.post("/categories/{category_id}/delete")
def delete_category(
    context: RequestContext, caller: User, services: Services, category_id: int, form: CategoryDeletionForm
) -> Redirect:
    line = context.sidebar.category(category_id)
    if line is None:
        raise unknown_category(category_id)
    with_below = form.below == "delete"
    if with_below and form.move_to in context.sidebar.tree.with_below(category_id):
        return Redirect(f"/categories/{category_id}/delete", notice=_("Choose a category that stays."))
    if form.move_to is not None and form.move_to != category_id:
        try:
            removed = context.sidebar.tree.with_below(category_id) if with_below else [category_id]
            here = {feed.id for feed in context.sidebar.feeds_of([category_id])[category_id]}
            moved = [feed_id for feed_id in _only_in(context, removed) if feed_id in here]
            services.feeds.bulk.move(caller.id, moved, form.move_to)
        except NotFound as error:
            return Redirect(f"/categories/{category_id}/delete", notice=translated(error.text))
    services.feeds.categories.delete(caller.id, category_id, with_below=with_below)
    return Redirect("/categories", notice=_("%(title)s deleted.", title=line.category.name))


def _only_in(context: RequestContext, category_ids: Collection[int]) -> dict[int, str]:
    """Return the titles of the feeds that are in no other category than these, by id."""
    with context.services.reading() as db:
        return feeds_only_in(db, context.caller.id, category_ids)


def _parent(text: str) -> int | UnsetType | None:
    """Return the category that a form names; UNSET keeps the one that it is under. Raises InvalidInput."""
    if text == KEPT:
        return UNSET
    return parse_id("parent", text, error=InvalidInput) if text else None


def _edit_page(
    context: RequestContext, category_id: int, form: CategoryForm | None = None, problem: InvalidInput | None = None
) -> PageResponse:
    """Return the page with the form of one category. Raises NotFound."""
    line = context.sidebar.category(category_id)
    if line is None:
        raise unknown_category(category_id)
    one = line.category
    kept = CategoryForm(one.name, one.hide_globally, str(one.parent_id or ""), one.keep_duplicates)
    values = {"title": line.path, "place": "categories", "line": line, "form": form or kept}
    return PageResponse(
        "category_edit.html", values, status=400 if problem else 200, problem=field_error(problem) if problem else None
    )


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
        "has_paths": any(SEPARATOR in line.category.name for line in context.sidebar.categories),
        "newest": newest,
    }
    return PageResponse(
        "categories.html", values, status=400 if problem else 200, problem=field_error(problem) if problem else None
    )
