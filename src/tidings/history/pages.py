"""The page that shows what a publisher has changed in an entry."""

from __future__ import annotations

from markupsafe import Markup

from tidings.history.versions import compare_version, versions_of
from tidings.http.endpoints import Routes
from tidings.services.entries.entries import owned_entry
from tidings.storage.feeds import feeds
from tidings.web.articles.content import article_html
from tidings.web.context import PageResponse, RequestContext
from tidings.web.language import _

routes = Routes()


@routes.get("/entries/{entry_id}/versions/{version}")
def show_version(context: RequestContext, entry_id: int, version: int) -> PageResponse:
    """Show what has changed since an earlier version."""
    user = context.caller
    with context.services.reading() as db:
        entry = owned_entry(db, user.id, entry_id)
        found = compare_version(db, user.id, entry_id, version)
        versions = versions_of(db, user.id, entry_id)
        feed = feeds.get(db, user.id, entry.feed_id)
    return PageResponse(
        "history/version.html",
        {
            "title": _("What changed"),
            "entry": entry,
            "feed": feed,
            "version": found,
            "versions": versions,
            # The words are escaped, and the only tags are <del> and <ins>.
            "heading": Markup(found.title_differences),  # noqa: S704
            "content": article_html(context, found.content_differences, has_players=False),
        },
    )
