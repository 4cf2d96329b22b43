"""The pages of the reader. docs/web.md explains how a page is added."""

from tidings.web.pages import (
    appearance,
    categories,
    entry,
    entry_actions,
    entry_lists,
    feed_edit,
    feed_links,
    feeds,
    home,
    json_endpoints,
    media,
    opml,
    public_links,
    pwa,
    settings,
    sidebar,
    sign_in,
    subscribe,
    welcome,
)

ROUTES = [
    *sign_in.routes.all,
    *home.routes.all,
    *entry_lists.routes.all,
    *entry_actions.routes.all,
    *json_endpoints.routes.all,
    *pwa.routes.all,
    *feed_links.routes.all,
    *public_links.routes.all,
    *media.routes.all,
    *entry.routes.all,
    *appearance.routes.all,
    *sidebar.routes.all,
    *settings.ROUTES,
    *subscribe.routes.all,
    *feeds.routes.all,
    *feed_edit.routes.all,
    *categories.routes.all,
    *opml.routes.all,
    *welcome.routes.all,
]

__all__ = ["ROUTES"]
