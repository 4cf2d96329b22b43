"""Entries shown to everybody who has the link, and articles fetched whole."""

from __future__ import annotations

from markupsafe import Markup

from tidings.domain.errors import TidingsError
from tidings.domain.users import User
from tidings.services import Services
from tidings.web import embeds, security
from tidings.web.calling import Form
from tidings.web.language import _
from tidings.web.routes import Routes
from tidings.web.visits import Page, Redirect, Visit
from tidings.web.wording import translated

routes = Routes()

# It is for whoever was given the link, and for no search engine.
_NOT_INDEXED = (("X-Robots-Tag", "noindex, nofollow"),)


class Back(Form, frozen=True):
    back: str = ""

    def path(self, otherwise: str) -> str:
        return security.own_path(self.back) or otherwise


@routes.get("/share/{code}", is_open=True)
def show_shared(services: Services, code: str) -> Page:
    shared = services.shares.shown(code)
    # Cleaned when it was stored.
    content = Markup(embeds.behind_a_click(shared.content))  # noqa: S704
    values = {"title": shared.entry.title, "shared": shared, "entry": shared.entry, "content": content}
    return Page("shared.html", values, headers=_NOT_INDEXED)


@routes.post("/entries/{entry_id}/share")
def share(visit: Visit, caller: User, services: Services, entry_id: int, form: Back) -> Redirect:
    code = services.shares.share(caller.id, entry_id)
    told = _("Everybody may read it at %(address)s", address=f"{visit.home.base_url}/share/{code}")
    return Redirect(form.path(f"/entries/{entry_id}"), told)


@routes.post("/entries/{entry_id}/unshare")
def stop_sharing(caller: User, services: Services, entry_id: int, form: Back) -> Redirect:
    services.shares.stop(caller.id, entry_id)
    return Redirect(form.path(f"/entries/{entry_id}"), _("The link leads nowhere any more."))


@routes.post("/entries/{entry_id}/full")
async def fetch_whole(caller: User, services: Services, entry_id: int, form: Back) -> Redirect:
    """Kept from now on. What goes wrong with somebody's page is told on the page of the entry, which stays."""
    back = form.path(f"/entries/{entry_id}")
    try:
        await services.articles.fetch(caller, entry_id, store=True)
    except TidingsError as error:
        return Redirect(back, translated(error.message))
    return Redirect(back, _("This is the whole article, as far as it was found."))
