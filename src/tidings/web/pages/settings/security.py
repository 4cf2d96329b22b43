"""The password, and the browsers that are signed in."""

from __future__ import annotations

import asyncio

from tidings.base.errors import InvalidInput, Unauthorized
from tidings.base.messages import msg, verbatim
from tidings.domain.accounts.users import User
from tidings.domain.errors import SignInThrottled
from tidings.http.binding import Form
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.services.accounts.authentication import Credentials
from tidings.web import cookies, leaving
from tidings.web.browser_names import browser_name
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.language import _, ngettext
from tidings.web.sign_in_session import require_fresh

routes = Routes()

PATH = "/settings/security"


class PasswordForm(Form, frozen=True):
    """The form that changes the user's password."""

    current: str = ""
    """The password until now."""
    password: str = ""
    repeated: str = ""
    """The new password again."""


class EndForm(Form, frozen=True):
    """The form that ends sessions."""

    here: bool | None = None
    """That of this browser, too."""


@routes.get(PATH)
def show_security(context: RequestContext) -> PageResponse:
    return _page(context)


@routes.post(PATH)
async def change_password(context: RequestContext, services: Services, form: PasswordForm) -> PageResponse | Redirect:
    """Change the password, and end the sessions of all other browsers."""
    try:
        _ensure_same(form)
        if await asyncio.to_thread(services.accounts.ways.has_password, context.caller.id):
            await _verify(context, services, form.current)
        else:
            require_fresh(context)
        await asyncio.to_thread(_set, context, services, form.password)
    except InvalidInput as error:
        return await asyncio.to_thread(_page, context, field_error(error))
    return Redirect(PATH, notice=_("Password changed. All other browsers are signed out."))


@routes.post("/settings/sessions/{session_id}/end")
async def end_session(
    context: RequestContext, services: Services, caller: User, session_id: int
) -> Redirect | PageResponse:
    if session_id == _session_id(context):
        return await leaving.sign_out(context)
    await asyncio.to_thread(services.accounts.sessions.end, caller, session_id, context.origin)
    return Redirect(PATH, notice=_("That browser is signed out."))


@routes.post("/settings/sessions/end-others")
async def end_other_sessions(
    context: RequestContext, services: Services, caller: User, form: EndForm
) -> Redirect | PageResponse:
    if form.here:
        return await leaving.sign_out(context, everywhere=True)
    end_others = services.accounts.sessions.end_others
    count = await asyncio.to_thread(end_others, caller, _session_id(context), context.origin)
    notice = ngettext("%(count)d browser is signed out.", "%(count)d browsers are signed out.", count, count=count)
    return Redirect(PATH, notice=notice)


def _ensure_same(form: PasswordForm) -> None:
    if form.password != form.repeated:
        raise InvalidInput(msg("The two passwords are not the same."), field="repeated")


async def _verify(context: RequestContext, services: Services, password: str) -> None:
    """Raise InvalidInput unless the password is right. Guessing is throttled as at sign-in."""
    credentials = Credentials(
        username=context.caller.username,
        password=password,
        address=context.origin.address,
        user_agent=context.origin.user_agent,
        browser=context.cookie(cookies.KNOWN),
    )
    try:
        await asyncio.sleep(await asyncio.to_thread(services.accounts.authentication.start_attempt, credentials))
        await asyncio.to_thread(services.accounts.authentication.verify, credentials)
    except Unauthorized as error:
        wrong = _("This is not your password.") if password else _("Type your current password.")
        raise InvalidInput(verbatim(wrong), field="current") from error
    except SignInThrottled as error:
        raise InvalidInput(error.text, field="current") from error


def _set(context: RequestContext, services: Services, password: str) -> None:
    services.accounts.users.update(
        context.caller,
        context.caller.id,
        {"password": password},
        session_id=_session_id(context),
        origin=context.origin,
    )


def _session_id(context: RequestContext) -> int:
    assert context.signed_in is not None
    return context.signed_in.session.id


def _page(context: RequestContext, problem: InvalidInput | None = None) -> PageResponse:
    known = {
        "title": _("Password and sessions"),
        "sessions": [
            (session, browser_name(session.user_agent))
            for session in context.services.accounts.sessions.list_all(context.caller.id)
        ],
        "here": _session_id(context),
        "has_password": context.services.accounts.ways.has_password(context.caller.id),
        "accepts_passwords": context.services.accounts.ways.accepts_passwords,
    }
    return PageResponse("settings/security.html", known, status=400 if problem else 200, problem=problem)
