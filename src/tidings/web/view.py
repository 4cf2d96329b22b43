"""How this device shows things."""

from __future__ import annotations

from tidings.web import cookies, security
from tidings.web.calling import Form
from tidings.web.devices import CHOICES, Device
from tidings.web.language import _
from tidings.web.routes import Routes
from tidings.web.visits import Page, Redirect, Visit

routes = Routes()

# The longest that browsers keep a cookie.
_LASTS_S = 400 * 86_400


class View(Form, frozen=True):
    """As in `Device`; what is not known counts as not chosen."""

    theme: str = ""
    font: str = ""
    density: str = ""
    columns: str = ""
    measure: str = ""
    size: str = ""
    back: str = ""


@routes.get("/view")
def show_view(visit: Visit) -> Page:
    return Page("view.html", {"title": _("Appearance"), "choices": CHOICES, "chosen": visit.device})


@routes.post("/view")
def change_view(visit: Visit, form: View) -> Redirect:
    chosen = {name: value for name, known in CHOICES.items() if (value := getattr(form, name)) in known}
    visit.set_cookie(cookies.DEVICE, Device(**chosen).packed(), lasts_s=_LASTS_S)
    return Redirect(security.own_path(form.back) or "/view", notice=_("This device now shows it that way."))
