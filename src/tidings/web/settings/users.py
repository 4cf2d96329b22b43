"""Everybody who has an account, for administrators."""

from __future__ import annotations

from typing import Any

from tidings.domain.errors import InvalidInput
from tidings.domain.users import User
from tidings.services import Services
from tidings.services.users import owned
from tidings.web.calling import Form
from tidings.web.language import _
from tidings.web.routes import Routes
from tidings.web.settings.fields import beside
from tidings.web.visits import Page, Redirect, Visit
from tidings.web.wording import translated

routes = Routes()

PATH = "/users"


class Account(Form, frozen=True):
    """password: "" to leave it as it is."""

    username: str = ""
    password: str = ""
    is_admin: bool | None = None


@routes.get(PATH, admin=True)
def show_users(services: Services) -> Page:
    return Page("settings/users.html", {"title": _("Users"), "users": services.users.listed()})


@routes.get(PATH + "/new", admin=True)
def show_new_user() -> Page:
    return _form(None, Account())


@routes.post(PATH + "/new", admin=True)
def create_user(services: Services, form: Account) -> Page | Redirect:
    try:
        made = services.users.create(form.username.strip(), form.password, is_admin=form.is_admin is True)
    except InvalidInput as error:
        return _form(None, form, beside(error))
    return Redirect(PATH, notice=_("There is an account for %(name)s now.", name=made.username))


@routes.get(PATH + "/{user_id}", admin=True)
def show_user(services: Services, user_id: int) -> Page:
    user = _user(services, user_id)
    return _form(user, Account(username=user.username, is_admin=user.is_admin))


@routes.post(PATH + "/{user_id}", admin=True)
def change_user(visit: Visit, services: Services, user_id: int, form: Account) -> Page | Redirect:
    """A new password signs them out everywhere; one's own leaves this browser signed in."""
    user = _user(services, user_id)
    given: dict[str, Any] = {"username": form.username.strip(), "is_admin": form.is_admin is True}
    if form.password:
        given["password"] = form.password
    assert visit.signed_in is not None
    own = visit.signed_in.session.id if user_id == visit.caller.id else None
    try:
        changed = services.users.update(visit.caller, user_id, given, session_id=own)
    except InvalidInput as error:
        return _form(user, form, beside(error))
    # Who has just given it up may not see this page any more.
    is_still_admin = user_id != visit.caller.id or changed.is_admin
    return Redirect(PATH if is_still_admin else "/settings", notice=_("Saved."))


@routes.post(PATH + "/{user_id}/delete", admin=True)
def delete_user(caller: User, services: Services, user_id: int) -> Page | Redirect:
    user = _user(services, user_id)
    try:
        services.users.delete(caller, user_id)
    except InvalidInput as error:
        form = Account(username=user.username, is_admin=user.is_admin)
        return _form(user, form, InvalidInput(translated(error.message)))
    return Redirect(PATH, notice=_("%(name)s is deleted, with everything that was theirs.", name=user.username))


def _user(services: Services, user_id: int) -> User:
    with services.reading() as db:
        return owned(db, user_id)


def _form(user: User | None, form: Account, problem: InvalidInput | None = None) -> Page:
    """user: None for one that is still to be made."""
    known = {"title": user.username if user else _("New user"), "other": user, "form": form}
    return Page("settings/user.html", known, status=400 if problem else 200, problem=problem)
