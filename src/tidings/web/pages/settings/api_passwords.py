"""API passwords: one for each app that uses the Google Reader API or the Fever API, shown once."""

from __future__ import annotations

from tidings.base.errors import InvalidInput
from tidings.domain.accounts.events import Origin
from tidings.domain.accounts.users import User
from tidings.http.binding import Form
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.services.accounts.api_passwords import NewApiPassword
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.language import _

routes = Routes()

PATH = "/settings/api-passwords"


class ApiPasswordForm(Form, frozen=True):
    name: str = ""


@routes.get(PATH)
def show_api_passwords(context: RequestContext) -> PageResponse:
    return _page(context)


@routes.post(PATH)
def create_api_password(context: RequestContext, services: Services, form: ApiPasswordForm) -> PageResponse:
    """Create an API password. It is shown on this page only, so there is no redirect."""
    try:
        created = services.accounts.api_passwords.create(context.caller, form.name, context.origin)
    except InvalidInput as error:
        return _page(context, form.name, problem=field_error(error))
    return _page(context, new_password=created)


@routes.post(PATH + "/{password_id}/delete")
def delete_api_password(caller: User, services: Services, origin: Origin, password_id: int) -> Redirect:
    services.accounts.api_passwords.delete(caller, password_id, origin)
    return Redirect(PATH, notice=_("Password deleted: the app that used it is signed out."))


def _page(
    context: RequestContext,
    name: str = "",
    *,
    new_password: NewApiPassword | None = None,
    problem: InvalidInput | None = None,
) -> PageResponse:
    known = {
        "title": _("API passwords"),
        "passwords": context.services.accounts.api_passwords.list_all(context.caller.id),
        "made": new_password,
        "name": name,
        "address": context.site.base_url,
    }
    return PageResponse(
        "settings/api_passwords.html",
        known,
        status=400 if problem else 200,
        problem=problem,
        has_secret=new_password is not None,
    )
