"""Public links to entries, and fetching the full content of an entry."""

from __future__ import annotations

from tidings.base.errors import TidingsError
from tidings.domain.accounts.users import User
from tidings.http.binding import Form
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.web import security
from tidings.web.articles.content import article_html
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.language import _
from tidings.web.message_translation import translated

routes = Routes()

# Search engines must not index it.
_NOT_INDEXED = {"X-Robots-Tag": "noindex, nofollow"}


class ReturnForm(Form, frozen=True):
    back: str = ""

    def path(self, otherwise: str) -> str:
        return security.local_path(self.back) or otherwise


@routes.get("/share/{code}", is_public=True)
def show_shared(context: RequestContext, services: Services, code: str) -> PageResponse:
    shared = services.entries.public_links.find(code)
    content = article_html(context, shared.content, has_players=not shared.no_media_player)
    values = {"title": shared.entry.title, "shared": shared, "entry": shared.entry, "content": content}
    return PageResponse("shared.html", values, headers=_NOT_INDEXED)


@routes.post("/entries/{entry_id}/share")
def share(context: RequestContext, caller: User, services: Services, entry_id: int, form: ReturnForm) -> Redirect:
    code = services.entries.public_links.create(caller.id, entry_id)
    notice = _("Anyone can read it at %(address)s", address=f"{context.site.base_url}/share/{code}")
    return Redirect(form.path(f"/entries/{entry_id}"), notice)


@routes.post("/entries/{entry_id}/unshare")
def stop_sharing(caller: User, services: Services, entry_id: int, form: ReturnForm) -> Redirect:
    services.entries.public_links.revoke(caller.id, entry_id)
    return Redirect(form.path(f"/entries/{entry_id}"), _("The link no longer works."))


@routes.post("/entries/{entry_id}/full")
async def fetch_whole(caller: User, services: Services, entry_id: int, form: ReturnForm) -> Redirect:
    """Fetch and store the full content. On an error the entry stays as it was, and the notice says why."""
    back = form.path(f"/entries/{entry_id}")
    try:
        fetched = await services.entries.articles.fetch(caller, entry_id, store=True)
    except TidingsError as error:
        return Redirect(back, translated(error.text))
    if not fetched.is_found:
        return Redirect(
            back,
            _(
                "The page has no article, or far less text than the feed: it may ask for a log-in or consent, or"
                " show an error. The text stays as it is."
            ),
        )
    return Redirect(back, _("This is the full article, as far as it was found."))


@routes.post("/entries/{entry_id}/switch")
def switch_content(caller: User, services: Services, entry_id: int, form: ReturnForm) -> Redirect:
    """Show the content of the feed instead of the whole article, or the other way round."""
    services.entries.changes.switch_content(caller, entry_id)
    return Redirect(form.path(f"/entries/{entry_id}"))
