"""The page of an account's limits, for administrators."""

from __future__ import annotations

from tidings.base.errors import InvalidInput
from tidings.http.endpoints import Routes
from tidings.sign_in.limits import megabytes
from tidings.sign_in.limits_form import LimitsForm, limits_of_form
from tidings.sign_in.limits_model import Limits
from tidings.sign_in.services import SignInServices
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.language import _

routes = Routes()


@routes.get("/users/{user_id}/limits", admin=True)
def show_limits(sign_in: SignInServices, user_id: int) -> PageResponse:
    _user, limits, _usage = sign_in.limits.find(user_id)
    values = {name: getattr(limits, name) for name in Limits.__struct_fields__}
    form = LimitsForm(**{name: "" if value is None else str(value) for name, value in values.items()})
    return _page(sign_in, user_id, form)


@routes.post("/users/{user_id}/limits", admin=True)
def change_limits(
    context: RequestContext, sign_in: SignInServices, user_id: int, form: LimitsForm
) -> PageResponse | Redirect:
    try:
        sign_in.limits.change(context.caller, user_id, limits_of_form(form), context.origin)
    except InvalidInput as error:
        return _page(sign_in, user_id, form, field_error(error))
    return Redirect(f"/users/{user_id}", notice=_("Saved."))


def _page(sign_in: SignInServices, user_id: int, form: LimitsForm, problem: InvalidInput | None = None) -> PageResponse:
    user, _limits, usage = sign_in.limits.find(user_id)
    values = {
        "title": _("Limits of %(name)s", name=user.username),
        "other": user,
        "form": form,
        "usage": usage,
        "used_megabytes": megabytes(usage.size_bytes),
        "default": sign_in.limits.default,
    }
    return PageResponse("sign_in/limits.html", values, status=400 if problem else 200, problem=problem)
