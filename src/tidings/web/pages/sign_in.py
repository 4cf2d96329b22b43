"""Signing in and out."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from tidings.base.errors import Forbidden, InvalidInput, Unauthorized
from tidings.base.messages import msg, verbatim
from tidings.domain.accounts.events import Method
from tidings.domain.errors import SignInThrottled
from tidings.http.binding import Form, Query
from tidings.http.endpoints import Routes
from tidings.http.password_gate import PasswordGate
from tidings.services import Services
from tidings.services.accounts.authentication import Credentials
from tidings.web import cookies, leaving, security
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.language import _
from tidings.web.sign_in_session import begin_session

routes = Routes()


class SignInQuery(Query, frozen=True):
    """The query of the sign-in page."""

    next: str = ""
    """The path to open after signing in."""
    confirm: bool | None = None
    """A signed-in user proves again who they are."""


class SignInForm(Form, frozen=True):
    """The form with which a user signs in."""

    username: str = ""
    password: str = ""
    next: str = ""
    shared: bool | None = None
    """Other people use this browser too."""


@routes.get("/sign-in", is_public=True)
def show_sign_in(context: RequestContext, query: SignInQuery) -> PageResponse | Redirect:
    if context.signed_in and not query.confirm:
        return Redirect(security.local_path(query.next) or "/")
    return _page(context, SignInForm(next=query.next))


@routes.post("/sign-in", is_public=True)
async def sign_in(
    context: RequestContext, services: Services, gate: PasswordGate, form: SignInForm
) -> PageResponse | Redirect:
    if not services.accounts.ways.accepts_passwords:
        raise Forbidden(msg("Nobody signs in with a password here: use one of the ways on the sign-in page."))
    if context.signed_in:
        # Proves again who they are, and nobody else.
        form = replace(form, username=context.caller.username, shared=bool(context.cookie(cookies.SHARED)))
    username = form.username.strip()
    if not username or not form.password:
        field = "password" if username else "username"
        message = _("Type your password.") if username else _("Type your username.")
        return await asyncio.to_thread(_page, context, form, InvalidInput(verbatim(message), field=field))
    credentials = Credentials(
        username=username,
        password=form.password,
        address=context.origin.address,
        user_agent=context.origin.user_agent,
        browser=context.cookie(cookies.KNOWN),
    )
    try:
        await asyncio.sleep(await asyncio.to_thread(services.accounts.authentication.start_attempt, credentials))
        return await gate.run(_begin_session, context, services, credentials, form)
    except Unauthorized as error:
        return await asyncio.to_thread(_page, context, form, InvalidInput(error.text, field="password"))
    except SignInThrottled as error:
        page = await asyncio.to_thread(_page, context, form, InvalidInput(error.text, field="password"))
        return replace(page, status=429, headers={"Retry-After": str(error.retry_after_s)})


def _begin_session(context: RequestContext, services: Services, credentials: Credentials, form: SignInForm) -> Redirect:
    """Verify the password and start a session. Raises Unauthorized."""
    user = services.accounts.authentication.verify(credentials)
    return begin_session(context, user, Method.PASSWORD, next_path=form.next, is_shared=bool(form.shared))


@routes.post("/sign-out")
async def end_session(context: RequestContext) -> Redirect | PageResponse:
    return await leaving.sign_out(context)


def _page(context: RequestContext, form: SignInForm, problem: InvalidInput | None = None) -> PageResponse:
    """Return the page. A signed-in user confirms who they are on it, in the ways that they have."""
    ways = context.services.accounts.ways
    is_known = context.signed_in is not None
    values = {
        "title": _("Confirm that it is you") if is_known else _("Sign in"),
        "next": security.local_path(form.next),
        "username": context.caller.username if is_known else form.username.strip(),
        "shared": bool(form.shared),
        "is_known": is_known,
        "has_password": ways.has_password(context.caller.id) if is_known else ways.accepts_passwords,
        "ways": ways.offered,
    }
    return PageResponse("sign_in.html", values, status=400 if problem else 200, problem=problem)
