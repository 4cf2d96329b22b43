"""The page on which a user sets up their own bridges."""

from __future__ import annotations

from msgspec.structs import asdict

from tidings.base.errors import InvalidInput
from tidings.bridges.own_bridges import MAX_ADDRESS
from tidings.bridges.services import BridgeServices
from tidings.http.binding import Form
from tidings.http.endpoints import Routes
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.field_errors import field_error
from tidings.web.language import _

routes = Routes()

PATH = "/settings/bridges"


class BridgesForm(Form, frozen=True):
    """The form with the addresses of a user's bridges; "" for the server's."""

    rssbridge_url: str = ""
    rsshub_url: str = ""
    flaresolverr_url: str = ""


@routes.get(PATH)
def show_bridges(context: RequestContext, bridges: BridgeServices) -> PageResponse:
    return _page(bridges, BridgesForm(**asdict(bridges.own.get(context.caller.id))))


@routes.post(PATH)
def change_bridges(context: RequestContext, bridges: BridgeServices, form: BridgesForm) -> PageResponse | Redirect:
    try:
        bridges.own.update(context.caller.id, asdict(form))
    except InvalidInput as error:
        return _page(bridges, form, field_error(error))
    return Redirect(PATH, notice=_("Saved."))


def _page(bridges: BridgeServices, form: BridgesForm, problem: InvalidInput | None = None) -> PageResponse:
    values = {
        "title": _("Bridges"),
        "place": "bridges",
        "form": form,
        "of_server": bridges.of_server,
        "max_address": MAX_ADDRESS,
    }
    return PageResponse(
        "bridges/bridges.html", values, status=400 if problem else 200, problem=problem, has_secret=True
    )
