"""The second step of a sign-in: a code, a passkey or a recovery code; or setting up an app where one is required."""

from __future__ import annotations

import asyncio

from starlette.responses import Response

from tidings.base.errors import InvalidInput, TidingsError
from tidings.base.messages import msg
from tidings.domain.accounts.events import Method
from tidings.domain.errors import SignInThrottled
from tidings.http.binding import Form
from tidings.http.endpoints import Routes
from tidings.http.responses import json
from tidings.services import Services
from tidings.sign_in.codes.app_form import AppForm, app_values
from tidings.sign_in.codes.second_factors import NO_CODE, SET_UP_PATH, STEP_PATH
from tidings.sign_in.passkeys.ceremonies import NO_SCRIPT, AnswerRefused
from tidings.sign_in.proofs import refusal, verified
from tidings.sign_in.services import SignInServices
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.language import _
from tidings.web.sign_in_session import SIGN_IN, FirstStep, complete_sign_in, pending_sign_in

routes = Routes()


class StepForm(Form, frozen=True):
    """One of the two is sent."""

    code: str = ""
    """Of the app, or a recovery code."""
    answer: str = ""
    """Of a passkey, as JSON; empty without a script."""
    passkey: bool | None = None
    """The form of passkeys was sent."""


@routes.get(STEP_PATH, is_public=True)
def show_second_step(context: RequestContext, sign_in: SignInServices) -> PageResponse | Redirect:
    first = pending_sign_in(context)
    return _step_page(sign_in, first) if first else _too_late()


@routes.get(STEP_PATH + "/options", is_public=True)
def get_step_options(context: RequestContext, sign_in: SignInServices) -> Response:
    """Return what one of the user's passkeys has to sign."""
    first = pending_sign_in(context)
    if first is None:
        raise InvalidInput(msg("Sign in again: the first step was too long ago."))
    options = sign_in.passkeys.step_options(first.user.id, context.csrf)
    return json(options, headers={"Cache-Control": "no-store"})


@routes.post(STEP_PATH, is_public=True)
async def take_second_step(
    context: RequestContext, services: Services, sign_in: SignInServices, form: StepForm
) -> PageResponse | Redirect:
    first = await asyncio.to_thread(pending_sign_in, context)
    if first is None:
        return _too_late()

    def check() -> Redirect:
        if form.answer:
            method = _use_passkey(context, sign_in, first, form.answer)
        else:
            method = sign_in.factors.use_code(first.user, form.code)
        return complete_sign_in(context, first, method)

    try:
        if not form.answer and not form.code.strip():
            raise InvalidInput(NO_SCRIPT) if form.passkey else InvalidInput(NO_CODE, field="code")
        return await verified(context, services, Method.PASSKEY if form.answer else Method.CODE, first.user, check)
    except (InvalidInput, SignInThrottled) as error:
        return await asyncio.to_thread(_step_page, sign_in, first, error)


@routes.get(SET_UP_PATH, is_public=True)
def show_set_up(context: RequestContext, sign_in: SignInServices) -> PageResponse | Redirect:
    first = pending_sign_in(context)
    return _set_up_page(sign_in, first, "") if first else _too_late()


@routes.post(SET_UP_PATH, is_public=True)
def set_up(context: RequestContext, sign_in: SignInServices, form: AppForm) -> PageResponse | Redirect:
    """Set up an authenticator app, sign the user in, and show the recovery codes."""
    first = pending_sign_in(context)
    if first is None:
        return _too_late()
    try:
        codes = sign_in.factors.set_first_app(first.user, form.secret, form.code, context.origin)
    except InvalidInput as error:
        return _set_up_page(sign_in, first, form.secret, error)
    onward = complete_sign_in(context, first, Method.CODE)
    values = {"title": _("Recovery codes"), "codes": codes, "onward": onward.path}
    return PageResponse("sign_in/first_codes.html", values, has_secret=True)


def _use_passkey(context: RequestContext, sign_in: SignInServices, first: FirstStep, answer: str) -> Method:
    owner = sign_in.passkeys.owner(answer)
    if owner.user.id != first.user.id:
        raise AnswerRefused("passkey of another user")
    sign_in.passkeys.use(owner, answer, browser=context.csrf, is_second_step=True)
    return Method.PASSKEY


def _step_page(sign_in: SignInServices, first: FirstStep, error: TidingsError | None = None) -> PageResponse:
    passkeys = sign_in.passkeys.list_all(first.user.id)
    values = {
        "title": _("Second step"),
        "username": first.user.username,
        "factor": sign_in.factors.state(first.user),
        "has_passkey": any(map(sign_in.passkeys.is_usable, passkeys)),
        "rp": sign_in.passkeys.rp,
    }
    return PageResponse("sign_in/second_step.html", values, **(refusal(error) if error else {}))


def _set_up_page(
    sign_in: SignInServices, first: FirstStep, secret: str, error: TidingsError | None = None
) -> PageResponse:
    values = {
        "title": _("Set up a second factor"),
        "username": first.user.username,
        **app_values(sign_in.factors, first.user, secret),
    }
    return PageResponse("sign_in/set_up.html", values, has_secret=True, **(refusal(error) if error else {}))


def _too_late() -> Redirect:
    return Redirect(SIGN_IN, notice=_("Sign in again: the first step was too long ago."))
