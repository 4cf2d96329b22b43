"""Pages of account settings: forms that are rendered from one description."""

from __future__ import annotations

from typing import Any

from tidings.base.errors import InvalidInput
from tidings.domain.accounts.user_changes import CHOSEN
from tidings.domain.accounts.users import User
from tidings.http import forms
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.web import setting_fields
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.language import _
from tidings.web.setting_forms import ACCOUNT, APPEARANCE, CUSTOM, READING, AccountForm

routes = Routes()


@routes.get("/settings")
def show_account(context: RequestContext) -> PageResponse:
    return _show(context, ACCOUNT)


@routes.get("/settings/reading")
def show_reading(context: RequestContext) -> PageResponse:
    return _show(context, READING)


@routes.get("/settings/appearance")
def show_appearance() -> Redirect:
    return Redirect("/view")


@routes.get("/settings/custom")
def show_custom(context: RequestContext) -> PageResponse:
    return _show(context, CUSTOM)


@routes.post("/settings")
def change_account(context: RequestContext, services: Services) -> PageResponse | Redirect:
    return _save(context, services, ACCOUNT)


@routes.post("/settings/reading")
def change_reading(context: RequestContext, services: Services) -> PageResponse | Redirect:
    return _save(context, services, READING)


@routes.post("/settings/appearance")
def change_appearance(context: RequestContext, services: Services) -> PageResponse | Redirect:
    return _save(context, services, APPEARANCE)


@routes.post("/settings/custom")
def change_custom(context: RequestContext, services: Services) -> PageResponse | Redirect:
    return _save(context, services, CUSTOM)


def _save(context: RequestContext, services: Services, form: AccountForm) -> PageResponse | Redirect:
    values = setting_fields.sent_values(dict(forms.fields(context.request)), form.groups)
    try:
        services.accounts.users.update(
            context.caller,
            context.caller.id,
            _chosen(context.caller, setting_fields.parse(values)),
            origin=context.origin,
        )
    except InvalidInput as error:
        return _page(form, values, field_error(error))
    return Redirect(form.path, notice=_("Saved."))


def _chosen(user: User, values: dict[str, Any]) -> dict[str, Any]:
    """Return the values except defaults that the form showed and that were not changed."""
    return {
        name: value
        for name, value in values.items()
        if name not in CHOSEN or getattr(user, CHOSEN[name]) or value != getattr(user, name)
    }


def _show(context: RequestContext, form: AccountForm) -> PageResponse:
    return _page(form, setting_fields.form_values(context.caller, form.groups))


def _page(form: AccountForm, values: dict[str, Any], problem: InvalidInput | None = None) -> PageResponse:
    known = {"title": _(form.title), "form": form, "values": values}
    return PageResponse("settings/account.html", known, status=400 if problem else 200, problem=problem)
