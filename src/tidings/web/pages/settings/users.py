"""The users pages for administrators."""

from __future__ import annotations

from typing import Any

from tidings.base.errors import InvalidInput
from tidings.domain.accounts.events import Origin
from tidings.domain.accounts.users import User
from tidings.http.binding import Form
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.services.accounts.users import by_id
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.language import _

routes = Routes()

PATH = "/users"


class UserForm(Form, frozen=True):
    """The form that creates or changes a user."""

    username: str = ""
    password: str = ""
    """Empty to keep the password."""
    is_admin: bool | None = None


@routes.get(PATH, admin=True)
def show_users(services: Services) -> PageResponse:
    return PageResponse("settings/users.html", {"title": _("Users"), "users": services.accounts.users.list_all()})


@routes.get(PATH + "/new", admin=True)
def show_new_user(services: Services) -> PageResponse:
    return _form(services, None, UserForm())


@routes.post(PATH + "/new", admin=True)
def create_user(context: RequestContext, services: Services, form: UserForm) -> PageResponse | Redirect:
    try:
        created = services.accounts.users.create(
            form.username.strip(),
            form.password if services.accounts.ways.accepts_passwords else None,
            caller=context.caller,
            origin=context.origin,
            is_admin=form.is_admin is True,
        )
    except InvalidInput as error:
        return _form(services, None, form, field_error(error))
    return Redirect(PATH, notice=_("Account created for %(name)s.", name=created.username))


@routes.get(PATH + "/{user_id}", admin=True)
def show_user(services: Services, user_id: int) -> PageResponse:
    user = _user(services, user_id)
    return _form(services, user, UserForm(username=user.username, is_admin=user.is_admin))


@routes.post(PATH + "/{user_id}", admin=True)
def change_user(context: RequestContext, services: Services, user_id: int, form: UserForm) -> PageResponse | Redirect:
    """Change a user. A new password ends all their sessions, except this browser's when it is the caller's own."""
    user = _user(services, user_id)
    fields: dict[str, Any] = {"username": form.username.strip(), "is_admin": form.is_admin is True}
    if form.password:
        fields["password"] = form.password
    assert context.signed_in is not None
    own = context.signed_in.session.id if user_id == context.caller.id else None
    try:
        changed = services.accounts.users.update(context.caller, user_id, fields, session_id=own, origin=context.origin)
    except InvalidInput as error:
        return _form(services, user, form, field_error(error))
    # A caller who gave up the administrator role may not open the users page.
    is_still_admin = user_id != context.caller.id or changed.is_admin
    return Redirect(PATH if is_still_admin else "/settings", notice=_("Saved."))


@routes.post(PATH + "/{user_id}/delete", admin=True)
def delete_user(caller: User, services: Services, origin: Origin, user_id: int) -> PageResponse | Redirect:
    user = _user(services, user_id)
    try:
        services.accounts.users.delete(caller, user_id, origin)
    except InvalidInput as error:
        form = UserForm(username=user.username, is_admin=user.is_admin)
        return _form(services, user, form, InvalidInput(error.text))
    return Redirect(PATH, notice=_("%(name)s deleted, with all of their data.", name=user.username))


def _user(services: Services, user_id: int) -> User:
    with services.reading() as db:
        return by_id(db, user_id)


def _form(services: Services, user: User | None, form: UserForm, problem: InvalidInput | None = None) -> PageResponse:
    """Return the page with the form of a user. user: None for a new user."""
    known = {
        "title": user.username if user else _("New user"),
        "other": user,
        "form": form,
        "accepts_passwords": services.accounts.ways.accepts_passwords,
    }
    return PageResponse("settings/user.html", known, status=400 if problem else 200, problem=problem)
