"""The feeds of the sidebar that a page does not list, and what a device remembers of its sidebar."""

from __future__ import annotations

from tidings.base.errors import NotFound
from tidings.base.messages import verbatim
from tidings.http.binding import Form, Query
from tidings.http.endpoints import Routes
from tidings.web import cookies, security
from tidings.web.context import PageResponse, Redirect, RequestContext
from tidings.web.language import _

routes = Routes()

# With more matches than these, the rest is counted.
MAX_FOUND = 100


class SidebarQuery(Query, frozen=True):
    """The query for a part of the sidebar."""

    category: int | None = None
    """List all feeds of this category."""
    name: str = ""
    """List the feeds with these words in their titles."""
    feed: int | None = None
    """The current feed."""


class SidebarForm(Form, frozen=True):
    """The form that changes what the sidebar shows."""

    open: int | None = None
    """Id of the category to open."""
    close: int | None = None
    """Id of the category to close."""
    unread: str = ""
    """"1" to list only feeds with unread entries, "0" to list all."""
    back: str = ""


@routes.get("/sidebar")
def show_feeds(context: RequestContext, query: SidebarQuery) -> PageResponse:
    """Show feeds with their unread counts: what is in one category, or those that match a name."""
    if query.category is None:
        found, title = context.sidebar.find(query.name[:500]), _("Feeds")
        shown, groups = found[:MAX_FOUND], []
    else:
        line = context.sidebar.category(query.category)
        if line is None:
            raise NotFound(verbatim(f"There is no category {query.category}."))
        only_unread = context.sidebar_state.only_unread
        shown = found = [
            feed
            for feed in context.sidebar.feeds_of([query.category])[query.category]
            if feed.unread or feed.id == query.feed or not only_unread
        ]
        title = line.path
        groups = context.sidebar.groups(context.sidebar_state, query.feed, None, below=query.category)
    values = {"title": title, "groups": groups, "feeds": shown, "more": len(found) - len(shown), "query": query}
    return PageResponse("sidebar.html", values)


@routes.post("/sidebar")
def change_sidebar(context: RequestContext, form: SidebarForm) -> Redirect:
    """Remember on this device which groups are open, and whether feeds without unread entries are listed."""
    state = context.sidebar_state
    if form.open is not None:
        state = state.with_group(form.open, is_open=True)
    if form.close is not None:
        state = state.with_group(form.close, is_open=False)
    if form.unread:
        state = state.with_only_unread(form.unread == "1")
    context.set_cookie(cookies.SIDEBAR, state.packed(), lasts_s=cookies.KNOWN_LASTS_S)
    return Redirect(security.local_path(form.back) or "/")
