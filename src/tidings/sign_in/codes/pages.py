"""Passkeys and second factors of a user among the settings. What changes them needs a recent sign-in."""

from __future__ import annotations

from tidings.base.errors import InvalidInput
from tidings.domain.accounts.users import User
from tidings.http.binding import Form
from tidings.http.endpoints import Routes
from tidings.sign_in.codes.app_form import AppForm, app_values
from tidings.sign_in.passkeys.pages import OVERVIEW
from tidings.sign_in.services import SignInServices
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.language import _
from tidings.web.sign_in_session import require_fresh

routes = Routes()

APP = OVERVIEW + "/app"


class PasskeyStepForm(Form, frozen=True):
    asks: bool | None = None
    """Ask for a passkey after the password."""


@routes.get(OVERVIEW)
def show_sign_in_settings(context: RequestContext, sign_in: SignInServices) -> PageResponse:
    return _page(context, sign_in)


@routes.get(APP)
def show_app(context: RequestContext, caller: User, sign_in: SignInServices) -> PageResponse:
    """Show a new key for an authenticator app, which takes effect when a code confirms it."""
    require_fresh(context)
    return _app_page(caller, sign_in, "")


@routes.post(APP)
def set_app(context: RequestContext, caller: User, sign_in: SignInServices, form: AppForm) -> PageResponse | Redirect:
    require_fresh(context)
    try:
        codes = sign_in.factors.set_app(caller, form.secret, form.code, context.origin)
    except InvalidInput as error:
        return _app_page(caller, sign_in, form.secret, error)
    return _codes_page(codes) or Redirect(OVERVIEW, notice=_("The authenticator app is switched on."))


@routes.post(APP + "/remove")
def remove_app(context: RequestContext, caller: User, sign_in: SignInServices) -> PageResponse | Redirect:
    require_fresh(context)
    try:
        sign_in.factors.remove_app(caller, context.origin)
    except InvalidInput as error:
        return _page(context, sign_in, error)
    return Redirect(OVERVIEW, notice=_("The authenticator app is switched off. Its codes are not asked for any more."))


@routes.post(OVERVIEW + "/passkey-step")
def set_passkey_step(
    context: RequestContext, caller: User, sign_in: SignInServices, form: PasskeyStepForm
) -> PageResponse | Redirect:
    require_fresh(context)
    try:
        codes = sign_in.factors.set_asks_for_passkey(caller, bool(form.asks), context.origin)
    except InvalidInput as error:
        return _page(context, sign_in, error)
    return _codes_page(codes) or Redirect(OVERVIEW, notice=_("Saved."))


@routes.post(OVERVIEW + "/recovery-codes")
def make_recovery_codes(context: RequestContext, caller: User, sign_in: SignInServices) -> PageResponse:
    """Replace the recovery codes. They are shown on this page only, so there is no redirect."""
    require_fresh(context)
    try:
        codes = sign_in.factors.new_codes(caller, context.origin)
    except InvalidInput as error:
        return _page(context, sign_in, error)
    return _codes_page(codes) or _page(context, sign_in)


def _page(context: RequestContext, sign_in: SignInServices, problem: InvalidInput | None = None) -> PageResponse:
    owned = sign_in.passkeys.list_all(context.caller.id)
    values = {
        "title": _("Passkeys and second factor"),
        "rp": sign_in.passkeys.rp,
        "passkeys": [(one, sign_in.passkeys.is_usable(one)) for one in owned],
        "factor": sign_in.factors.state(context.caller),
    }
    return PageResponse("sign_in/settings.html", values, status=400 if problem else 200, problem=problem)


def _app_page(caller: User, sign_in: SignInServices, secret: str, problem: InvalidInput | None = None) -> PageResponse:
    values = {
        "title": _("Authenticator app"),
        "factor": sign_in.factors.state(caller),
        **app_values(sign_in.factors, caller, secret),
    }
    status = 400 if problem else 200
    return PageResponse("sign_in/app.html", values, status=status, problem=problem, has_secret=True)


def _codes_page(codes: list[str]) -> PageResponse | None:
    """Return the page that shows new recovery codes, once; None if there are none."""
    if not codes:
        return None
    return PageResponse("sign_in/codes.html", {"title": _("Recovery codes"), "codes": codes}, has_secret=True)
