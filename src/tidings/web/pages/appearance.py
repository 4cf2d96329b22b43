"""The appearance page: how this device, and all devices of the account, show lists and articles."""

from __future__ import annotations

import msgspec

from tidings.domain.accounts.users import User
from tidings.http import forms
from tidings.http.binding import Form
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.web import cookies, security, setting_fields
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.devices import CHOICES
from tidings.web.language import _
from tidings.web.setting_forms import APPEARANCE

routes = Routes()

# The longest that browsers keep a cookie.
_LASTS_S = 400 * 86_400


@routes.get("/view")
def show_view(context: RequestContext) -> PageResponse:
    known = {
        "title": _("Appearance"),
        "choices": CHOICES,
        "chosen": context.device,
        "account": APPEARANCE,
        "values": setting_fields.form_values(context.caller, APPEARANCE.groups),
    }
    return PageResponse("view.html", known)


class OrderForm(Form, frozen=True):
    """The form that sets the order of entries."""

    direction: str = ""
    """As in the account's `entry_sorting_direction`."""
    back: str = ""


@routes.post("/view/order")
def change_order(caller: User, services: Services, form: OrderForm) -> Redirect:
    """Set which entries come first, on all devices."""
    services.accounts.users.update(caller, caller.id, {"entry_sorting_direction": form.direction})
    return Redirect(security.local_path(form.back) or "/")


@routes.post("/view")
def change_view(context: RequestContext) -> Redirect:
    """Save the fields of `Device` that were sent with a known value; the others keep their value."""
    sent = dict(forms.fields(context.request))
    chosen = {name: sent[name] for name, known in CHOICES.items() if sent.get(name, "?") in known}
    device = msgspec.structs.replace(context.device, **chosen)
    context.set_cookie(cookies.DEVICE, device.packed(), lasts_s=_LASTS_S)
    return Redirect(security.local_path(sent.get("back", "")) or "/view", _("Saved for this device."))
