"""Signing in with a passkey, without a name and a password."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.responses import Response

from tidings.base.errors import InvalidInput, TidingsError
from tidings.domain.accounts.events import Method
from tidings.domain.errors import SignInThrottled
from tidings.http.binding import Form, Query
from tidings.http.endpoints import Routes
from tidings.http.responses import json
from tidings.services import Services
from tidings.sign_in.passkeys.ceremonies import NO_SCRIPT, AnswerRefused
from tidings.sign_in.passkeys.passkeys import PasskeyOwner
from tidings.sign_in.proofs import refusal, verified
from tidings.sign_in.services import SignInServices
from tidings.web import security
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.language import _
from tidings.web.sign_in_session import begin_session

routes = Routes()

PATH = "/sign-in/passkey"


class NextQuery(Query, frozen=True):
    next: str = ""
    """The path to open after signing in."""


class PasskeyForm(Form, frozen=True):
    """What a script sends when a passkey was used."""

    answer: str = ""
    """As JSON."""
    next: str = ""
    shared: bool | None = None


@routes.get(PATH, is_public=True)
def show_passkey_sign_in(sign_in: SignInServices, query: NextQuery) -> PageResponse:
    """Show the button alone, to try again."""
    return _page(sign_in, query.next)


@routes.get(PATH + "/options", is_public=True)
def get_sign_in_options(context: RequestContext, sign_in: SignInServices) -> Response:
    """Return what a passkey has to sign. Nothing is stored."""
    return json(sign_in.passkeys.request_options(context.csrf), headers={"Cache-Control": "no-store"})


@routes.post(PATH, is_public=True)
async def sign_in_with_passkey(
    context: RequestContext, services: Services, sign_in: SignInServices, form: PasskeyForm
) -> PageResponse | Redirect:
    if not form.answer:
        return _page(sign_in, form.next, InvalidInput(NO_SCRIPT))
    owner = await asyncio.to_thread(_owner, sign_in, form.answer)

    def check() -> Redirect:
        if isinstance(owner, AnswerRefused):
            raise owner
        sign_in.passkeys.use(owner, form.answer, browser=context.csrf, is_second_step=False)
        return begin_session(context, owner.user, Method.PASSKEY, next_path=form.next, is_shared=bool(form.shared))

    user = None if isinstance(owner, AnswerRefused) else owner.user
    try:
        return await verified(context, services, Method.PASSKEY, user, check)
    except (AnswerRefused, SignInThrottled) as error:
        return _page(sign_in, form.next, error)


def _owner(sign_in: SignInServices, answer: str) -> PasskeyOwner | AnswerRefused:
    try:
        return sign_in.passkeys.owner(answer)
    except AnswerRefused as error:
        return error


def _page(sign_in: SignInServices, next_path: str, error: TidingsError | None = None) -> PageResponse:
    values: dict[str, Any] = {
        "title": _("Sign in with a passkey"),
        "next": security.local_path(next_path),
        "rp": sign_in.passkeys.rp,
    }
    return PageResponse("sign_in/passkey.html", values, **(refusal(error) if error else {}))
