"""The page of API keys: create, show once, delete."""

from __future__ import annotations

from tidings.base.errors import InvalidInput
from tidings.domain.accounts.events import Origin
from tidings.domain.accounts.users import User
from tidings.http.binding import Form
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.storage.accounts import api_keys
from tidings.storage.accounts.api_keys import ApiKey
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.language import _

routes = Routes()

PATH = "/settings/api-keys"


class ApiKeyForm(Form, frozen=True):
    description: str = ""


@routes.get(PATH)
def show_api_keys(context: RequestContext) -> PageResponse:
    return _page(context)


@routes.post(PATH)
def create_api_key(context: RequestContext, services: Services, form: ApiKeyForm) -> PageResponse:
    """Create a key. It is shown on this page only, so there is no redirect."""
    try:
        created = services.accounts.api_keys.create(context.caller, form.description, context.origin)
    except InvalidInput as error:
        return _page(context, form.description, problem=field_error(error))
    return _page(context, new_key=created)


@routes.post(PATH + "/{key_id}/delete")
def delete_api_key(caller: User, services: Services, origin: Origin, key_id: int) -> Redirect:
    services.accounts.api_keys.delete(caller, key_id, origin)
    return Redirect(PATH, notice=_("Key deleted: it no longer works."))


def _page(
    context: RequestContext,
    description: str = "",
    *,
    new_key: ApiKey | None = None,
    problem: InvalidInput | None = None,
) -> PageResponse:
    with context.services.reading() as db:
        keys = api_keys.list_all(db, context.caller.id)
    known = {
        "title": _("API keys"),
        "keys": keys,
        "made": new_key,
        "description": description,
        "address": context.site.base_url,
    }
    return PageResponse(
        "settings/api_keys.html", known, status=400 if problem else 200, problem=problem, has_secret=new_key is not None
    )
