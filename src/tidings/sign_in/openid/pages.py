"""The pages of signing in at the provider, and of the identities that are linked with an account.

GET  /oauth2/…/redirect           to the provider
GET  /oauth2/…/callback           back from the provider ─► session │ link │ page that says what is wrong
     /settings/identities         link, unlink

A form does not redirect to the provider: browsers apply the policy for forms to the whole chain of redirects.
"""

from __future__ import annotations

import asyncio

import structlog
from starlette.responses import Response

from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import msg
from tidings.base.times import SECOND
from tidings.domain.accounts.events import Method, Origin
from tidings.domain.accounts.users import User
from tidings.http.binding import Query
from tidings.http.endpoints import Routes
from tidings.http.responses import empty
from tidings.services import Services
from tidings.sign_in.openid.accounts import NameTaken, note_of
from tidings.sign_in.openid.claims import Profile
from tidings.sign_in.openid.errors import (
    BrokenToken,
    CodeRefused,
    Denied,
    NotAdmitted,
    OpenIdError,
    ProviderUnavailable,
)
from tidings.sign_in.openid.sign_in import OpenIdSignIn, ProviderResponse
from tidings.sign_in.openid.transaction import LIFETIME, Transaction
from tidings.sign_in.services import SignInServices
from tidings.web import cookies, security
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.language import _
from tidings.web.leaving import leaving
from tidings.web.message_translation import translated
from tidings.web.sign_in_session import begin_session, require_fresh, sign_in_path

log = structlog.get_logger()
routes = Routes()

PATH = "/settings/identities"
# Refusals that may be attempts of strangers; the others happen to everybody.
_SUSPICIOUS = (BrokenToken, CodeRefused, NotAdmitted)


class StartQuery(Query, frozen=True):
    next: str = ""
    """The path to open after signing in."""


class CallbackQuery(Query, frozen=True):
    """What the provider adds to the address (RFC 6749, section 4.1.2; RFC 9207)."""

    state: str = ""
    code: str = ""
    iss: str = ""
    error: str = ""
    error_description: str = ""


@routes.get("/oauth2/{provider}/redirect", is_public=True)
async def start(
    context: RequestContext, sign_in: SignInServices, provider: str, query: StartQuery
) -> Response | PageResponse:
    openid = _configured(sign_in, provider)
    try:
        url = await _start(context, openid, security.local_path(query.next))
    except OpenIdError as error:
        return _failed(context, openid, error)
    return empty(303, {"Location": url, "Cache-Control": "no-store"})


@routes.get("/oauth2/{provider}/callback", is_public=True)
async def finish(
    context: RequestContext, sign_in: SignInServices, services: Services, provider: str, query: CallbackQuery
) -> Redirect | PageResponse:
    openid = _configured(sign_in, provider)
    cookie = context.cookie(cookies.PROVIDER)
    context.set_cookie(cookies.PROVIDER, "", lasts_s=0)
    response = ProviderResponse(query.state, query.code, query.iss, query.error, query.error_description)
    profile = None
    try:
        profile, transaction = await openid.finish(response, cookie, context.signed_in)
        return await asyncio.to_thread(_admit, context, openid, profile, transaction)
    except OpenIdError as error:
        await asyncio.to_thread(_record, services, context.origin, error, profile)
        return _failed(context, openid, error)


@routes.get(PATH)
def show_identities(sign_in: SignInServices, caller: User) -> PageResponse:
    return _identities(sign_in, caller)


@routes.post(PATH)
async def link(context: RequestContext, sign_in: SignInServices) -> PageResponse:
    """Lead to the provider, to link the identity that it signs in. Only right after a sign-in."""
    require_fresh(context)
    openid = _configured(sign_in)
    try:
        url = await _start(context, openid, "", is_link=True)
    except OpenIdError as error:
        return _failed(context, openid, error)
    return leaving(_("Continue at %(provider)s", provider=openid.config.name), url)


@routes.post(PATH + "/{identity_id}/unlink")
def unlink(
    context: RequestContext, sign_in: SignInServices, caller: User, origin: Origin, identity_id: int
) -> PageResponse | Redirect:
    """Unlink an identity, unless it is the last way into the account."""
    require_fresh(context)
    try:
        _configured(sign_in).accounts.unlink(caller, identity_id, origin)
    except InvalidInput as error:
        return _identities(sign_in, caller, error)
    return Redirect(PATH, notice=_("The sign-in is not linked any more."))


def _identities(sign_in: SignInServices, caller: User, problem: InvalidInput | None = None) -> PageResponse:
    openid = _configured(sign_in)
    values = {
        "title": _("Linked sign-ins"),
        "provider": openid.config.name,
        "identities": openid.accounts.list_all(caller.id),
    }
    return PageResponse("sign_in/identities.html", values, status=400 if problem else 200, problem=problem)


def _configured(sign_in: SignInServices, provider: str = "") -> OpenIdSignIn:
    """Return the way to sign in. Raises NotFound if it is not configured, or has another name in our paths."""
    openid = sign_in.openid
    if openid is None or provider not in ("", openid.config.provider):
        raise NotFound(msg("Signing in with OpenID Connect is not set up here."))
    return openid


async def _start(context: RequestContext, openid: OpenIdSignIn, next_path: str, *, is_link: bool = False) -> str:
    url, cookie = await openid.start(next_path=next_path, signed_in=context.signed_in, is_link=is_link)
    context.set_cookie(cookies.PROVIDER, cookie, lasts_s=LIFETIME // SECOND)
    return url


def _admit(context: RequestContext, openid: OpenIdSignIn, profile: Profile, transaction: Transaction) -> Redirect:
    """Sign in whom the provider has signed in, or link the identity. Raises NotAdmitted."""
    if transaction.is_link:
        openid.accounts.link(profile, context.caller, context.origin)
        return Redirect(PATH, notice=_("The sign-in is linked with your account."))
    if transaction.user_id:
        user = openid.accounts.confirm(profile, context.caller)
    else:
        user = openid.accounts.sign_in(profile, context.origin)
    return begin_session(context, user, Method.OPENID, next_path=transaction.next, note=note_of(profile))


def _record(services: Services, origin: Origin, error: OpenIdError, profile: Profile | None) -> None:
    """Write the reason to the log; what may be an attempt of a stranger, as a refused sign-in."""
    if isinstance(error, _SUSPICIOUS):
        username = profile.shown_name if profile else ""
        services.accounts.authentication.refuse(error.reason, method=Method.OPENID, origin=origin, username=username)
    else:
        log.warning("sign-in at the provider failed", reason=error.reason, address=origin.address)


def _failed(context: RequestContext, openid: OpenIdSignIn, error: OpenIdError) -> PageResponse:
    """Return the page that says what to do. It leads nowhere by itself, so that there is no loop."""
    if isinstance(error, ProviderUnavailable):
        log.warning("OpenID Connect provider unavailable", reason=error.reason)
    title = _("Sign-in cancelled") if isinstance(error, Denied) else _("You could not be signed in")
    can_link = isinstance(error, NameTaken) and context.services.accounts.ways.accepts_passwords
    values = {
        "title": title,
        "explanation": translated(error.text),
        "must_ask": isinstance(error, NameTaken) and not can_link,
        "provider": openid.config.name,
        "again": "" if isinstance(error, NotAdmitted) else openid.start_path,
        "to_link": sign_in_path(PATH) if can_link and context.signed_in is None else "",
        "is_signed_in": context.signed_in is not None,
    }
    return PageResponse("sign_in/openid_failed.html", values, status=error.status)
