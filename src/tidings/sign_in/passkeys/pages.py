"""The passkeys of a user among the settings: added, named and removed. What changes them needs a recent sign-in."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from tidings.base.errors import InvalidInput
from tidings.domain.accounts.users import User
from tidings.http.binding import Form
from tidings.http.endpoints import Routes
from tidings.http.responses import json
from tidings.sign_in.passkeys.passkey_store import Passkey
from tidings.sign_in.services import SignInServices
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.language import _
from tidings.web.sign_in_session import require_fresh

routes = Routes()

OVERVIEW = "/settings/sign-in"
PATH = OVERVIEW + "/passkeys"
NEW = PATH + "/new"


class NewPasskeyForm(Form, frozen=True):
    """What a script sends when a passkey was made."""

    name: str = ""
    answer: str = ""
    """As JSON."""


class NameForm(Form, frozen=True):
    name: str = ""


@routes.get(NEW)
def show_new_passkey(context: RequestContext, sign_in: SignInServices) -> PageResponse:
    require_fresh(context)
    return _new_page(sign_in)


@routes.get(NEW + "/options")
def get_creation_options(context: RequestContext, sign_in: SignInServices) -> Response:
    """Return what a browser needs to make a passkey."""
    require_fresh(context)
    options = sign_in.passkeys.creation_options(context.caller, context.csrf)
    return json(options, headers={"Cache-Control": "no-store"})


@routes.post(NEW)
def add_passkey(
    context: RequestContext, caller: User, sign_in: SignInServices, form: NewPasskeyForm
) -> PageResponse | Redirect:
    require_fresh(context)
    try:
        sign_in.passkeys.add(caller, form.answer, form.name, browser=context.csrf, origin=context.origin)
    except InvalidInput as error:
        return _new_page(sign_in, form.name, field_error(error))
    return Redirect(OVERVIEW, notice=_("Passkey added."))


@routes.get(PATH + "/{passkey_id}")
def show_passkey(context: RequestContext, caller: User, sign_in: SignInServices, passkey_id: int) -> PageResponse:
    return _page(context, sign_in, sign_in.passkeys.get(caller.id, passkey_id))


@routes.post(PATH + "/{passkey_id}")
def rename_passkey(
    context: RequestContext, caller: User, sign_in: SignInServices, passkey_id: int, form: NameForm
) -> PageResponse | Redirect:
    require_fresh(context)
    try:
        sign_in.passkeys.rename(caller.id, passkey_id, form.name)
    except InvalidInput as error:
        return _page(context, sign_in, sign_in.passkeys.get(caller.id, passkey_id), field_error(error))
    return Redirect(OVERVIEW, notice=_("Saved."))


@routes.post(PATH + "/{passkey_id}/remove")
def remove_passkey(
    context: RequestContext, caller: User, sign_in: SignInServices, passkey_id: int
) -> PageResponse | Redirect:
    """Remove a passkey, unless it is the last way into the account."""
    require_fresh(context)
    try:
        removed = sign_in.passkeys.remove(caller, passkey_id, context.origin)
    except InvalidInput as error:
        return _page(context, sign_in, sign_in.passkeys.get(caller.id, passkey_id), error)
    return Redirect(
        OVERVIEW, notice=_("%(name)s removed. You may delete it from the device as well.", name=removed.name)
    )


def _new_page(sign_in: SignInServices, name: str = "", problem: InvalidInput | None = None) -> PageResponse:
    values: dict[str, Any] = {"title": _("Add passkey"), "name": name, "rp": sign_in.passkeys.rp}
    return PageResponse("sign_in/passkey_new.html", values, status=400 if problem else 200, problem=problem)


def _page(
    context: RequestContext, sign_in: SignInServices, passkey: Passkey, problem: InvalidInput | None = None
) -> PageResponse:
    factor = sign_in.factors.state(context.caller)
    values = {
        "title": passkey.name,
        "passkey": passkey,
        "rp": sign_in.passkeys.rp,
        "is_usable": sign_in.passkeys.is_usable(passkey),
        "ends_second_step": factor.passkeys == 1 and factor.takes_passkeys and not factor.has_app,
    }
    return PageResponse("sign_in/passkey_edit.html", values, status=400 if problem else 200, problem=problem)
