"""Signing in and out."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from tidings.domain.errors import InvalidInput, Unauthorized
from tidings.domain.sessions import LASTS
from tidings.domain.times import SECOND
from tidings.http.queries import Query
from tidings.services import Services
from tidings.services.authentication import Credentials
from tidings.web import cookies, security
from tidings.web.calling import Form
from tidings.web.language import _
from tidings.web.routes import Routes
from tidings.web.visits import Page, Redirect, Visit
from tidings.web.wording import translated

routes = Routes()

# Argon2 is slow on purpose: guessing may keep this many threads busy and no more.
_threads = ThreadPoolExecutor(2, thread_name_prefix="passwords")


class Next(Query, frozen=True):
    """next: where to go afterwards."""

    next: str = ""


class SignIn(Form, frozen=True):
    username: str = ""
    password: str = ""
    next: str = ""


@routes.get("/sign-in", is_open=True)
def show_sign_in(visit: Visit, query: Next) -> Page | Redirect:
    if visit.signed_in:
        return Redirect(security.own_path(query.next) or "/")
    return _page(query.next)


@routes.post("/sign-in", is_open=True)
async def sign_in(visit: Visit, services: Services, form: SignIn) -> Page | Redirect:
    username = form.username.strip()
    if not username or not form.password:
        field = "password" if username else "username"
        message = _("Type your password.") if username else _("Type your username.")
        return _page(form.next, username, InvalidInput(message, field=field))
    given = Credentials(username=username, password=form.password, address=visit.address)
    try:
        await asyncio.sleep(services.authentication.turn(given))
        token = await asyncio.get_running_loop().run_in_executor(_threads, _begin, visit, services, given)
    except Unauthorized as error:
        return _page(form.next, username, InvalidInput(translated(error.message), field="password"))
    visit.set_cookie(cookies.SESSION, token, lasts_s=LASTS // SECOND)
    visit.set_cookie(cookies.VISITOR, "", lasts_s=0)
    return Redirect(security.own_path(form.next) or "/")


def _begin(visit: Visit, services: Services, given: Credentials) -> str:
    user = services.authentication.verify(given)
    agent = visit.request.headers.get("user-agent", "")
    return services.sessions.begin(user.id, user_agent=agent, address=visit.address)


@routes.post("/sign-out")
def sign_out(visit: Visit, services: Services) -> Redirect:
    assert visit.signed_in is not None
    services.sessions.end(visit.caller.id, visit.signed_in.session.id)
    visit.set_cookie(cookies.SESSION, "", lasts_s=0)
    return Redirect("/sign-in", notice=_("You are signed out."))


def _page(next_path: str, username: str = "", problem: InvalidInput | None = None) -> Page:
    values = {"title": _("Sign in"), "next": security.own_path(next_path), "username": username}
    return Page("sign_in.html", values, status=400 if problem else 200, problem=problem)
