"""The page of labels, which adds, changes, orders and deletes them, and the form that gives labels to an entry."""

from __future__ import annotations

from tidings.base.errors import InvalidInput
from tidings.domain.accounts.users import User
from tidings.domain.entries.labels import Label, LabelCounts, suggested_color
from tidings.http.binding import Form, Query, parse_id
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.services.entries.entries import owned_entry
from tidings.services.entries.labels import owned_label
from tidings.storage.entries import labels
from tidings.web import security
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.label_colors import COLOR_NAMES
from tidings.web.language import _
from tidings.web.message_translation import translated

routes = Routes()


class LabelForm(Form, frozen=True):
    name: str = ""
    color: str = ""


class LabelMoveForm(Form, frozen=True):
    """The new place of a label, counted from 1, from the button that moves it up or the one that moves it down."""

    up: int | None = None
    down: int | None = None


class LabelsQuery(Query, frozen=True):
    """Which label has just been moved, and with which button: that gets the focus again."""

    up: int | None = None
    down: int | None = None


@routes.get("/labels")
def show_labels(context: RequestContext, query: LabelsQuery) -> PageResponse:
    return _page(context, moved=query)


@routes.post("/labels/add")
def add_label(context: RequestContext, form: LabelForm) -> PageResponse | Redirect:
    try:
        label = context.services.entries.labels.create(context.caller.id, form.name, form.color)
    except InvalidInput as error:
        return _page(context, form, problem=error)
    return Redirect(f"/labels#l{label.id}", notice=_("%(title)s created.", title=label.name))


@routes.post("/labels/{label_id}/edit")
def change_label(context: RequestContext, label_id: int, form: LabelForm) -> PageResponse | Redirect:
    try:
        context.services.entries.labels.update(context.caller.id, label_id, name=form.name, color=form.color)
    except InvalidInput as error:
        return _page(context, form, label_id, error)
    return Redirect(f"/labels#l{label_id}", notice=_("Saved."))


@routes.post("/labels/{label_id}/move")
def move_label(caller: User, services: Services, label_id: int, form: LabelMoveForm) -> Redirect:
    """Move a label up or down."""
    services.entries.labels.update(caller.id, label_id, position=form.up if form.down is None else form.down)
    return Redirect(f"/labels?{'up' if form.down is None else 'down'}={label_id}")


@routes.get("/labels/{label_id}/delete")
def confirm_deletion(context: RequestContext, label_id: int) -> PageResponse:
    """Ask first, with the number of entries that have the label, and what uses it."""
    with context.services.reading() as db:
        label = owned_label(db, context.caller.id, label_id)
        count = labels.counts(db, context.caller.id, [label_id]).get(label_id, LabelCounts()).entries
        uses = context.services.entries.labels.uses(db, label)
    values = {"title": _("Delete a label"), "place": "labels", "label": label, "count": count, "uses": uses}
    return PageResponse("label_delete.html", values)


@routes.post("/labels/{label_id}/delete")
def delete_label(caller: User, services: Services, label_id: int) -> Redirect:
    with services.reading() as db:
        label = owned_label(db, caller.id, label_id)
    services.entries.labels.delete(caller.id, label_id)
    return Redirect("/labels", notice=_("%(title)s deleted.", title=label.name))


class EntryLabelsForm(Form, frozen=True):
    """The form that sets the labels of an entry."""

    label: tuple[str, ...] = ()
    """Ids of the labels that the entry is to have."""
    new: str = ""
    """Name of an additional label."""
    color: str = ""
    """Its colour, if there is no such label yet."""
    back: str = ""
    """The page to return to."""
    add: int | None = None
    """Id of a label to give besides those that the entry has: what the entry was dragged onto."""


@routes.get("/entries/{entry_id}/labels")
def show_entry_labels(context: RequestContext, entry_id: int) -> PageResponse:
    """Show the labels of an entry that is not open: what a long touch on its row asks for."""
    with context.services.reading() as db:
        entry = owned_entry(db, context.caller.id, entry_id)
        given = labels.of_entries(db, context.caller.id, [entry_id]).get(entry_id, [])
    return PageResponse("entry_labels.html", {"title": _("Labels"), "entry": entry, "labels": given})


@routes.post("/entries/{entry_id}/labels")
def set_labels(caller: User, services: Services, entry_id: int, form: EntryLabelsForm) -> Redirect:
    """Give an entry the chosen labels and no others, or one more."""
    back = security.local_path(form.back) or f"/entries/{entry_id}"
    if form.add is not None:
        with services.reading() as db:
            label = owned_label(db, caller.id, form.add)
        services.entries.labels.change(caller.id, [entry_id], add=[label.name])
        return Redirect(back, _("Label %(name)s added.", name=label.name))
    chosen = [parse_id("label", text) for text in form.label]
    try:
        services.entries.labels.set_of_entry(caller.id, entry_id, chosen, form.new, form.color)
    except InvalidInput as error:
        return Redirect(back, translated(error.text))
    return Redirect(back, _("Labels saved."))


def _page(
    context: RequestContext,
    form: LabelForm | None = None,
    changing: int | None = None,
    problem: InvalidInput | None = None,
    moved: LabelsQuery | None = None,
) -> PageResponse:
    """Return the page of labels. changing: id of the label that the form changes; None for a new one."""
    with context.services.reading() as db:
        listed: list[Label] = labels.list_all(db, context.caller.id)
        counts = labels.counts(db, context.caller.id, [label.id for label in listed])
    values = {
        "title": _("Labels"),
        "place": "labels",
        "form": form or LabelForm(color=suggested_color(listed)),
        "changing": changing,
        "moved": moved or LabelsQuery(),
        "colors": COLOR_NAMES,
        "labels": [(label, counts.get(label.id, LabelCounts())) for label in listed],
    }
    return PageResponse(
        "labels.html", values, status=400 if problem else 200, problem=field_error(problem) if problem else None
    )
