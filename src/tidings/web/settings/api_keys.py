"""API keys: made for an app or a script, shown once, taken back."""

from __future__ import annotations

from tidings.domain.errors import InvalidInput
from tidings.domain.users import User
from tidings.services import Services
from tidings.storage import api_keys
from tidings.storage.api_keys import ApiKey
from tidings.web.calling import Form
from tidings.web.language import _
from tidings.web.routes import Routes
from tidings.web.settings.fields import beside
from tidings.web.visits import Page, Redirect, Visit

routes = Routes()

PATH = "/settings/api-keys"


class NewKey(Form, frozen=True):
    description: str = ""


@routes.get(PATH)
def show_api_keys(visit: Visit) -> Page:
    return _page(visit)


@routes.post(PATH)
def create_api_key(visit: Visit, services: Services, form: NewKey) -> Page:
    """The answer is the page itself: it is the only one on which the key stands."""
    try:
        made = services.api_keys.create(visit.caller.id, form.description)
    except InvalidInput as error:
        return _page(visit, form.description, problem=beside(error))
    return _page(visit, made=made)


@routes.post(PATH + "/{key_id}/delete")
def delete_api_key(caller: User, services: Services, key_id: int) -> Redirect:
    services.api_keys.delete(caller.id, key_id)
    return Redirect(PATH, notice=_("The key is deleted: who has it cannot use it any more."))


def _page(
    visit: Visit, description: str = "", *, made: ApiKey | None = None, problem: InvalidInput | None = None
) -> Page:
    with visit.services.reading() as db:
        keys = api_keys.listed(db, visit.caller.id)
    known = {
        "title": _("API keys"),
        "keys": keys,
        "made": made,
        "description": description,
        "address": visit.home.base_url,
    }
    return Page("settings/api_keys.html", known, status=400 if problem else 200, problem=problem)
