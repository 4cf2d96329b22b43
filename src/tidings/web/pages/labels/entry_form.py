"""The form that gives labels to an entry."""

from __future__ import annotations

from tidings.base.errors import InvalidInput
from tidings.domain.accounts.users import User
from tidings.http.binding import Form, parse_id
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.web import security
from tidings.web.context import Redirect
from tidings.web.language import _
from tidings.web.message_translation import translated

routes = Routes()


class EntryLabelsForm(Form, frozen=True):
    """The form that sets the labels of an entry."""

    label: tuple[str, ...] = ()
    """Ids of the labels that the entry is to have."""
    new: str = ""
    """Name of an additional label."""
    back: str = ""
    """The page to return to."""


@routes.post("/entries/{entry_id}/labels")
def set_labels(caller: User, services: Services, entry_id: int, form: EntryLabelsForm) -> Redirect:
    """Give an entry the chosen labels and no others."""
    back = security.local_path(form.back) or f"/entries/{entry_id}"
    chosen = [parse_id("label", text) for text in form.label]
    try:
        services.entries.labels.set_of_entry(caller.id, entry_id, chosen, form.new)
    except InvalidInput as error:
        return Redirect(back, translated(error.text))
    return Redirect(back, _("Labels saved."))
