"""The pages people read in. How one is made stands in docs/web.md."""

from tidings.web import (
    adding,
    articles,
    categories,
    feed_edit,
    feeds,
    home,
    installing,
    list_links,
    lists,
    live,
    marks,
    opml,
    settings,
    shares,
    sign_in,
    view,
    welcome,
)

ROUTES = [
    *sign_in.routes.all,
    *home.routes.all,
    *lists.routes.all,
    *marks.routes.all,
    *live.routes.all,
    *installing.routes.all,
    *list_links.routes.all,
    *shares.routes.all,
    *articles.routes.all,
    *view.routes.all,
    *settings.ROUTES,
    *adding.routes.all,
    *feeds.routes.all,
    *feed_edit.routes.all,
    *categories.routes.all,
    *opml.routes.all,
    *welcome.routes.all,
]

__all__ = ["ROUTES"]
