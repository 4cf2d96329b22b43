"""Actions on entries: the buttons of one form, in lists and on the page of an entry.

A button names the wanted state instead of toggling: `star=5`, `unstar=5`, `read=5`, `unread=5`, `save=5`,
`show=5` (in the global lists, from which a rule had hidden it).
"""

from __future__ import annotations

from collections.abc import Sequence

from tidings.base.errors import InvalidInput
from tidings.base.times import Instant
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import EntryStatus
from tidings.http.binding import Form, parse_id
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.web import security
from tidings.web.context import Redirect
from tidings.web.language import _, ngettext
from tidings.web.list_page import mark_read_redirect, shown_again
from tidings.web.message_translation import translated

routes = Routes()


class EntryActionForm(Form, frozen=True):
    """The form that changes entries: one field for each action, with the ids of its entries."""

    star: tuple[str, ...] = ()
    unstar: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    save: tuple[str, ...] = ()
    show: tuple[str, ...] = ()
    undone: str = ""
    """Anything if this takes back an earlier change, which a notice says."""
    back: str = ""
    """The page to return to."""


class UndoForm(Form, frozen=True):
    """The form of the undo button."""

    moment: int | None = None
    """The value that came with the notice."""
    later: tuple[str, ...] = ()
    """Entries of that change that the same page has changed since, for example starred."""
    shown: tuple[str, ...] = ()
    """Entries of that change that the page shows."""
    back: str = ""


@routes.post("/entries/marks")
def mark(caller: User, services: Services, form: EntryActionForm) -> Redirect:
    back, entries = security.local_path(form.back) or "/", services.entries.changes
    notice = ""
    if form.undone:
        notice = _unread_again(len(form.unread)) if form.unread else _("Undone.")
    for sent, change in (
        (form.star, {"starred": True}),
        (form.unstar, {"starred": False}),
        (form.unread, {"status": EntryStatus.UNREAD}),
    ):
        if sent:
            entries.update(caller, _ids(sent), **change)
    for entry_id in form.save:
        notice = _save(caller, services, parse_id("entry_id", entry_id))
    if form.show:
        notice = shown_again(services.entries.hidden.show(caller.id, _ids(form.show)))
    if not form.read:
        return Redirect(back, notice)
    marked = services.entries.read_marker.mark_read(caller.id, _ids(form.read))
    # A single entry shows the change itself, next to the button that reverts it, so it needs no notice.
    return (
        mark_read_redirect(back, marked)
        if len(form.read) > 1 and not form.undone
        else Redirect(back, notice, marked.moment if marked.count else 0)
    )


@routes.post("/entries/undo")
def undo(caller: User, services: Services, form: UndoForm) -> Redirect:
    marker, shown = services.entries.read_marker, _ids(form.shown)
    count = marker.undo(caller.id, Instant(form.moment or 0), later=_ids(form.later))
    notice = _unread_again(count) if count else _("There was nothing to undo.")
    return Redirect(security.local_path(form.back) or "/", notice, entries=tuple(marker.unread_of(caller.id, shown)))


def _unread_again(count: int) -> str:
    return ngettext("%(count)d unread again", "%(count)d unread again", count, count=count)


def _ids(sent: Sequence[str]) -> list[int]:
    return [parse_id("entry_id", id_) for id_ in sent]


def _save(caller: User, services: Services, entry_id: int) -> str:
    try:
        services.entries.changes.save(caller, entry_id)
    except InvalidInput as error:
        return translated(error.text)
    return _("Saved: it is being sent.")
