"""Invitations: administrators make them, and who has one creates an account. And links that sign in once."""

from __future__ import annotations

import asyncio
from typing import Final

from msgspec.structs import replace

from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import msg
from tidings.base.times import HOUR
from tidings.domain.accounts.events import Method, Origin
from tidings.domain.accounts.users import User
from tidings.domain.errors import SignInThrottled
from tidings.http.binding import Form
from tidings.http.endpoints import Routes
from tidings.http.password_gate import PasswordGate
from tidings.services import Services
from tidings.services.accounts.authentication import Attempt
from tidings.sign_in.limits_form import LABELS, LimitsForm, limits_of_form, shown
from tidings.sign_in.limits_model import Limits
from tidings.sign_in.links import INVITATION_LIFETIME, NO_PASSWORDS, UNKNOWN_LINK
from tidings.sign_in.services import SignInServices
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.language import _
from tidings.web.message_translation import translated
from tidings.web.sign_in_session import begin_session

routes = Routes()

PATH: Final = "/users/invitations"


class InvitationForm(LimitsForm, frozen=True):
    """The form with which an administrator invites someone."""

    note: str = ""
    is_admin: bool | None = None


class RegistrationForm(Form, frozen=True):
    """The form with which someone who was invited creates an account."""

    username: str = ""
    password: str = ""
    repeated: str = ""


@routes.get(PATH, admin=True)
def show_invitations(services: Services, sign_in: SignInServices) -> PageResponse:
    return _page(services, sign_in, InvitationForm())


@routes.post(PATH, admin=True)
def invite(context: RequestContext, services: Services, sign_in: SignInServices, form: InvitationForm) -> PageResponse:
    """Make an invitation. Its link is shown on this page only, so there is no redirect."""
    if not services.accounts.ways.accepts_passwords:
        return _page(services, sign_in, form, problem=InvalidInput(NO_PASSWORDS))
    try:
        token = sign_in.links.invite(
            context.caller,
            context.origin,
            note=form.note,
            is_admin=bool(form.is_admin),
            limits=limits_of_form(form),
        )
    except InvalidInput as error:
        return _page(services, sign_in, form, problem=field_error(error))
    return _page(services, sign_in, InvitationForm(), link=f"{context.site.base_url}/invitation/{token}")


@routes.post(PATH + "/{link_id}/delete", admin=True)
def withdraw(caller: User, sign_in: SignInServices, origin: Origin, link_id: int) -> Redirect:
    sign_in.links.withdraw(caller, link_id, origin)
    return Redirect(PATH, notice=_("The invitation is withdrawn: its link does not work any more."))


@routes.get("/invitation/{token}", is_public=True)
def show_registration(services: Services, sign_in: SignInServices, token: str) -> PageResponse:
    try:
        _ensure_open(services, sign_in, token)
    except NotFound as error:
        return _unusable(error)
    return _registration(token, RegistrationForm())


@routes.post("/invitation/{token}", is_public=True)
async def register(
    context: RequestContext, services: Services, sign_in: SignInServices, gate: PasswordGate, token: str,
    form: RegistrationForm,
) -> PageResponse | Redirect:  # fmt: skip
    """Create the account, and sign in."""
    try:
        attempt = await asyncio.to_thread(
            services.accounts.authentication.begin_attempt, Method.LINK, user=None, origin=context.origin
        )
        await asyncio.sleep(attempt.wait_s)
        await asyncio.to_thread(_check, attempt, sign_in, token)
        return await gate.run(_register, context, sign_in, token, form)
    except NotFound as error:
        return _unusable(error)
    except SignInThrottled as error:
        return replace(
            _registration(token, form, InvalidInput(error.text)),
            status=429,
            headers={"Retry-After": str(error.retry_after_s)},
        )
    except InvalidInput as error:
        return _registration(token, form, field_error(error))


def _check(attempt: Attempt, sign_in: SignInServices, token: str) -> None:
    """End an attempt. Raises NotFound for an unknown invitation."""
    if sign_in.links.invitation(token) is None:
        attempt.failed("unknown link")
        raise NotFound(UNKNOWN_LINK)
    attempt.succeeded()


def _register(
    context: RequestContext, sign_in: SignInServices, token: str, form: RegistrationForm
) -> PageResponse | Redirect:
    _ensure_open(context.services, sign_in, token)
    if form.password != form.repeated:
        raise InvalidInput(msg("The two passwords are not the same."), field="repeated")
    origin = Origin(context.origin.address, context.origin.user_agent, Method.LINK)
    user = sign_in.links.accept(token, form.username.strip(), form.password, origin)
    return begin_session(context, user, Method.LINK)


@routes.get("/sign-in/link/{token}", is_public=True)
def show_sign_in_link(sign_in: SignInServices, token: str) -> PageResponse:
    """Ask first: programs that look at links in messages must not use it up."""
    user = sign_in.links.owner(token)
    if user is None:
        return _unusable(NotFound(UNKNOWN_LINK))
    return PageResponse(
        "sign_in/link.html", {"title": _("Sign in"), "token": token, "name": user.username}, has_secret=True
    )


@routes.post("/sign-in/link/{token}", is_public=True)
async def use_sign_in_link(
    context: RequestContext, services: Services, sign_in: SignInServices, token: str
) -> PageResponse | Redirect:
    attempt = await asyncio.to_thread(
        services.accounts.authentication.begin_attempt, Method.LINK, user=None, origin=context.origin
    )
    await asyncio.sleep(attempt.wait_s)
    try:
        user = await asyncio.to_thread(sign_in.links.use_sign_in, token)
    except NotFound as error:
        await asyncio.to_thread(attempt.failed, "unknown link")
        return _unusable(error)
    await asyncio.to_thread(attempt.succeeded)
    return await asyncio.to_thread(begin_session, context, user, Method.LINK, next_path="/settings/security")


def _ensure_open(services: Services, sign_in: SignInServices, token: str) -> None:
    """Raise NotFound for an invitation that was used, and where nobody can have a password."""
    if sign_in.links.invitation(token) is None:
        raise NotFound(UNKNOWN_LINK)
    if not services.accounts.ways.accepts_passwords:
        raise NotFound(NO_PASSWORDS)


def _unusable(error: NotFound) -> PageResponse:
    """Return the page of a link that cannot be used. It says why, which the page of an unknown address does not."""
    values = {"title": _("This link does not work"), "explanation": translated(error.text), "code": 404}
    return PageResponse("failure.html", values, status=404)


def _registration(token: str, form: RegistrationForm, problem: InvalidInput | None = None) -> PageResponse:
    values = {"title": _("Create your account"), "token": token, "username": form.username.strip()}
    return PageResponse(
        "sign_in/registration.html", values, status=400 if problem else 200, problem=problem, has_secret=True
    )


def _page(
    services: Services,
    sign_in: SignInServices,
    form: InvitationForm,
    *,
    link: str = "",
    problem: InvalidInput | None = None,
) -> PageResponse:
    values = {
        "title": _("Invitations"),
        "form": form,
        "shows_limits": any(getattr(form, name) for name in LABELS),
        "link": link,
        "accepts_passwords": services.accounts.ways.accepts_passwords,
        "open": [(one, shown(Limits.unpacked(one.limits))) for one in sign_in.links.invitations()],
        "hours": INVITATION_LIFETIME // HOUR,
        "default": sign_in.limits.default,
    }
    return PageResponse(
        "sign_in/invitations.html",
        values,
        status=400 if problem else 200,
        problem=problem,
        has_secret=bool(link),
    )
