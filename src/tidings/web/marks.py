"""What a reader does to entries: buttons of one form, in lists as on the page of an entry.

A button says what is to be, not "the other way round": `star=5`, `unstar=5`, `read=5`, `unread=5`, `save=5`.
"""

from __future__ import annotations

from tidings.domain.entries import Status
from tidings.domain.errors import InvalidInput
from tidings.domain.users import User
from tidings.http.routes import path_id
from tidings.services import Services
from tidings.web import security
from tidings.web.calling import Form
from tidings.web.language import _
from tidings.web.routes import Routes
from tidings.web.visits import Redirect

routes = Routes()


class Marks(Form, frozen=True):
    """back: the page to return to; a star or a mark is seen there, at the entry."""

    star: tuple[str, ...] = ()
    unstar: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    save: tuple[str, ...] = ()
    back: str = ""


@routes.post("/entries/marks")
def mark(caller: User, services: Services, form: Marks) -> Redirect:
    entries, told = services.entries, ""
    for ids, change in (
        (form.star, {"starred": True}),
        (form.unstar, {"starred": False}),
        (form.read, {"status": Status.READ}),
        (form.unread, {"status": Status.UNREAD}),
    ):
        if ids:
            entries.update(caller.id, [path_id("entry_id", one) for one in ids], **change)
    for one in form.save:
        told = _saved(caller, services, path_id("entry_id", one))
    return Redirect(security.own_path(form.back) or "/", notice=told)


def _saved(caller: User, services: Services, entry_id: int) -> str:
    try:
        services.entries.save(caller, entry_id)
    except InvalidInput as error:
        return error.message
    return _("Saved: it is on its way.")
