"""How every way of signing in ends: with a session, or with the page that asks for a second step.

a way ─► begin_session ─┬─► session, cookies ─► the wanted page
                        └─► pending sign-in ─► page of the second step ─► complete_sign_in ─► session …
a page that needs a recent proof ─► require_fresh ─► sign-in page ─► a way ─► begin_session ─► back to the page
"""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlencode

from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.times import SECOND
from tidings.domain.accounts.events import Method
from tidings.domain.accounts.sessions import PENDING_LIFETIME, SESSION_LIFETIME, PendingSignIn, is_fresh
from tidings.domain.accounts.users import User
from tidings.http import forms
from tidings.web import cookies, security
from tidings.web.context import Redirect, RequestContext, SignInRequired
from tidings.web.language import setting_of

SIGN_IN = "/sign-in"


class FirstStep(Struct, frozen=True):
    """A user who has passed the first step of a sign-in."""

    user: User
    pending: PendingSignIn


def begin_session(
    context: RequestContext, user: User, method: Method, *, next_path: str = "", is_shared: bool = False, note: str = ""
) -> Redirect:
    """Sign a user in who has proved who they are, unless a second step is missing. Returns where to go.

    A user who is signed in here already has the same session, with another token and a recent proof.
    next_path: the page that was wanted; anything but a path of ours counts as none. is_shared: see `cookies.SHARED`.
    note: what the way of signing in keeps with the session (`AccountEvent.note`).
    Reads and writes the database: not for the event loop.
    """
    next_path = security.local_path(next_path)
    with context.services.reading() as db:
        second = context.services.accounts.ways.second_step(db, user, method)
    if second is not None:
        token = context.services.accounts.pending.begin(
            user.id, method, next_path=next_path, is_shared=is_shared, note=note
        )
        context.set_cookie(cookies.PENDING, token, lasts_s=PENDING_LIFETIME // SECOND)
        return Redirect(second)
    return _begin(context, user, method, None, next_path, is_shared=is_shared, note=note)


def pending_sign_in(context: RequestContext) -> FirstStep | None:
    """Return who has passed the first step in this browser; None if nobody has, or not any more."""
    found = context.services.accounts.pending.find(context.cookie(cookies.PENDING))
    return FirstStep(*found) if found else None


def complete_sign_in(context: RequestContext, first: FirstStep, method: Method) -> Redirect:
    """Sign a user in who has passed the second step, once. Returns where to go."""
    context.set_cookie(cookies.PENDING, "", lasts_s=0)
    if not context.services.accounts.pending.use(first.pending):
        return Redirect(sign_in_path(first.pending.next))
    pending = first.pending
    return _begin(
        context,
        first.user,
        Method(pending.method),
        method,
        pending.next,
        is_shared=pending.is_shared,
        note=pending.note,
    )


def require_fresh(context: RequestContext) -> None:
    """Lead to the sign-in page, and then back, unless the user has proved who they are in the last minutes.

    For what could take over an account: passkeys, codes, linked accounts. Raises SignInRequired.
    """
    assert context.signed_in is not None
    if not is_fresh(context.signed_in.session, context.now):
        raise SignInRequired(Redirect(sign_in_path(page_of(context), confirm="1")))


def sign_in_path(next_path: str, **more: str) -> str:
    """Return the path of the sign-in page that leads to a page of ours afterwards, or to the first page."""
    path = security.local_path(next_path)
    query = urlencode(more | ({"next": path} if path else {}), safe="/")
    return f"{SIGN_IN}?{query}" if query else SIGN_IN


def page_of(context: RequestContext) -> str:
    """Return the path of this page, or of the page that contains the form that was sent; "" for the first page."""
    path = form_field(context, "back") if context.request.method == "POST" else context.path
    return "" if path == "/" else path


def form_field(context: RequestContext, name: str) -> str:
    """Return a field of the form that was sent, "" without one."""
    try:
        return dict(forms.fields(context.request)).get(name, "")
    except InvalidInput:
        return ""


def _begin(
    context: RequestContext,
    user: User,
    method: Method,
    second: Method | None,
    next_path: str,
    *,
    is_shared: bool,
    note: str,
) -> Redirect:
    zone = form_field(context, "timezone") if context.request.method == "POST" else ""
    language = setting_of(context.accepted_language)
    context.services.accounts.users.begin_as_browser(user, language=language, timezone=zone)
    origin = replace(context.origin, method=method)
    token = context.services.accounts.sessions.begin(user, origin, second=second, note=note, before=context.signed_in)
    browser = context.services.accounts.authentication.remember_browser(user.id, context.cookie(cookies.KNOWN))
    context.set_cookie(cookies.SESSION, token, lasts_s=None if is_shared else SESSION_LIFETIME // SECOND)
    context.set_cookie(cookies.SHARED, "1" if is_shared else "", lasts_s=None if is_shared else 0)
    context.set_cookie(cookies.KNOWN, browser, lasts_s=cookies.KNOWN_LASTS_S)
    context.forget_visitor()
    return Redirect(next_path or "/")
