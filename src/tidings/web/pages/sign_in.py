"""Signing in and out."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from tidings.base.errors import InvalidInput, Unauthorized
from tidings.base.messages import verbatim
from tidings.base.times import SECOND
from tidings.domain.accounts.sessions import SESSION_LIFETIME
from tidings.domain.errors import SignInThrottled
from tidings.http.binding import Form, Query
from tidings.http.endpoints import Routes
from tidings.http.password_gate import PasswordGate
from tidings.services import Services
from tidings.services.accounts.authentication import Credentials
from tidings.web import cookies, security
from tidings.web.context import PageResponse, Redirect, RequestContext, signed_out
from tidings.web.language import _

routes = Routes()


class NextQuery(Query, frozen=True):
    """The query of the sign-in page."""

    next: str = ""
    """The path to open after signing in."""


class SignInForm(Form, frozen=True):
    """The form with which a user signs in."""

    username: str = ""
    password: str = ""
    next: str = ""
    shared: bool | None = None
    """Other people use this browser too."""


@routes.get("/sign-in", is_public=True)
def show_sign_in(context: RequestContext, query: NextQuery) -> PageResponse | Redirect:
    if context.signed_in:
        return Redirect(security.local_path(query.next) or "/")
    return _page(SignInForm(next=query.next))


@routes.post("/sign-in", is_public=True)
async def sign_in(
    context: RequestContext, services: Services, gate: PasswordGate, form: SignInForm
) -> PageResponse | Redirect:
    username = form.username.strip()
    if not username or not form.password:
        field = "password" if username else "username"
        message = _("Type your password.") if username else _("Type your username.")
        return _page(form, InvalidInput(verbatim(message), field=field))
    browser = context.cookie(cookies.KNOWN)
    credentials = Credentials(username=username, password=form.password, address=context.address, browser=browser)
    try:
        await asyncio.sleep(await asyncio.to_thread(services.accounts.authentication.start_attempt, credentials))
        token, browser = await gate.run(_start_session, context, services, credentials)
    except Unauthorized as error:
        return _page(form, InvalidInput(error.text, field="password"))
    except SignInThrottled as error:
        page = _page(form, InvalidInput(error.text, field="password"))
        return replace(page, status=429, headers={"Retry-After": str(error.retry_after_s)})
    context.set_cookie(cookies.SESSION, token, lasts_s=None if form.shared else SESSION_LIFETIME // SECOND)
    context.set_cookie(cookies.SHARED, "1" if form.shared else "", lasts_s=None if form.shared else 0)
    context.set_cookie(cookies.KNOWN, browser, lasts_s=cookies.KNOWN_LASTS_S)
    context.set_cookie(cookies.VISITOR, "", lasts_s=0)
    return Redirect(security.local_path(form.next) or "/")


def _start_session(context: RequestContext, services: Services, credentials: Credentials) -> tuple[str, str]:
    """Verify the password and start a session. Returns its token and the token of the known browser."""
    user = services.accounts.authentication.verify(credentials)
    agent = context.request.headers.get("user-agent", "")
    token = services.accounts.sessions.begin(user.id, user_agent=agent, address=context.address)
    return token, services.accounts.authentication.remember_browser(credentials)


@routes.post("/sign-out")
def sign_out(context: RequestContext, services: Services) -> Redirect:
    assert context.signed_in is not None
    services.accounts.sessions.end(context.caller.id, context.signed_in.session.id)
    return signed_out(context)


def _page(form: SignInForm, problem: InvalidInput | None = None) -> PageResponse:
    values = {
        "title": _("Sign in"),
        "next": security.local_path(form.next),
        "username": form.username.strip(),
        "shared": bool(form.shared),
    }
    return PageResponse("sign_in.html", values, status=400 if problem else 200, problem=problem)
